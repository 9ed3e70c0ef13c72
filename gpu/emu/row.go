package emu

import (
	"slices"
	"strings"

	"warpbook/gpu/ptx"
)

// row is an instruction that computes its result from its operands, lane by
// lane. Adding an instruction is adding a row.
type row struct {
	name    string // without options: "add.f32"
	kinds   string // width letter of each operand, the destination first
	options string // of options, those that it may have
	lane    laneFunc
	fast    execFunc // the same as a loop, without options; nil if not worth it
}

// options are modifiers that change how a float instruction rounds.
var options = []string{"rn", "rz", "rm", "rp", "ftz", "sat"}

const (
	rounds = "rn rz rm rp"
	round1 = rounds + " ftz sat" // f32
)

// rows are all rows by name.
var rows = indexRows(
	integerRows[uint16]("u16", "h", mulHigh16U), integerRows[int16]("s16", "h", mulHigh16S),
	integerRows[uint32]("u32", "w", mulHigh32U), integerRows[int32]("s32", "w", mulHigh32S),
	integerRows[uint64]("u64", "d", mulHigh64U), integerRows[int64]("s64", "d", mulHigh64S),
	wideRows, signedRows[int16]("s16", "h"), signedRows[int32]("s32", "w"), signedRows[int64]("s64", "d"),
	logicRows[uint16]("b16", "h"), logicRows[uint32]("b32", "w"), logicRows[uint64]("b64", "d"),
	pairRows[uint16]("u16x2"), pairRows[int16]("s16x2"), predicateRows, bitRows, float32Rows, float64Rows, halfRows("f16"), halfRows("bf16"),
)

func indexRows(tables ...[]row) map[string]*row {
	index := map[string]*row{}
	for _, t := range tables {
		for i := range t {
			index[t[i].name] = &t[i]
		}
	}
	return index
}

// rowForm lowers an instruction by its row.
func rowForm(lo *lowering) error {
	src, in := lo.op.in.src, &lo.op.in
	if slices.Contains(src.Modifiers, "cc") {
		return carryForm(lo)
	}
	var name, used []string
	float := len(src.Modifiers) > 0 && isFloat(ptx.Type(src.Modifiers[len(src.Modifiers)-1]))
	for _, m := range src.Modifiers {
		if float && slices.Contains(options, m) {
			used = append(used, m)
		} else {
			name = append(name, m)
		}
	}
	r := rows[strings.Join(append([]string{src.Opcode}, name...), ".")]
	if r == nil {
		return lo.unsupported("no such form of %s", src.Opcode)
	}
	plain := true
	for _, o := range used {
		if !slices.Contains(strings.Fields(r.options), o) {
			return lo.unsupported("modifier .%s", o)
		}
		in.option(o)
		plain = plain && o == "rn"
	}
	in.lane, in.kinds, in.exec = r.lane, r.kinds, runLanes
	if r.fast != nil && plain {
		in.exec = r.fast
	}
	if plain {
		in.vector.op = vectorRows[r.name]
	}
	return lo.bindKinds(r.kinds, ptx.Type(name[len(name)-1]))
}

// option sets what a modifier says.
func (in *instr) option(o string) {
	switch o {
	case "ftz":
		in.ftz = true
	case "sat":
		in.sat = true
	default:
		in.mode = roundings[o]
	}
}

// bindKinds binds operands by their width letters; those of the instruction's
// own width have its type, others are plain bits.
func (lo *lowering) bindKinds(kinds string, t ptx.Type) error {
	if err := lo.operands(len(kinds), len(kinds)); err != nil {
		return err
	}
	in := &lo.op.in
	if err := lo.def(&in.d, 0, width(kinds[0])); err != nil {
		return err
	}
	for i, field := range []*uint32{&in.a, &in.b, &in.c}[:len(kinds)-1] {
		of := t
		if w := width(kinds[i+1]); w != widthOf(t) {
			of = map[width]ptx.Type{predicate: "pred", half: "b16", word: "b32", double: "b64"}[w]
		}
		if err := lo.use(field, i+1, of); err != nil {
			return err
		}
	}
	return nil
}
