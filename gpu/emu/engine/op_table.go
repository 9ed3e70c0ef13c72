package engine

import (
	"slices"
	"strings"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// rowForm lowers an instruction by its row.
func rowForm(lo *lowering) error {
	src, in := lo.op.in.src, &lo.op.in
	if slices.Contains(src.Modifiers, "cc") {
		return carryForm(lo)
	}
	var name, used []string
	float := len(src.Modifiers) > 0 && arith.IsFloat(ptx.Type(src.Modifiers[len(src.Modifiers)-1]))
	for _, m := range src.Modifiers {
		if float && slices.Contains(arith.FloatOptions, m) {
			used = append(used, m)
		} else {
			name = append(name, m)
		}
	}
	r := arith.Rows[strings.Join(append([]string{src.Opcode}, name...), ".")]
	if r == nil {
		return lo.unsupported("no such form of %s", src.Opcode)
	}
	plain := true
	for _, o := range used {
		if !slices.Contains(strings.Fields(r.Options), o) {
			return lo.unsupported("modifier .%s", o)
		}
		in.option(o)
		plain = plain && o == "rn"
	}
	in.lane, in.kinds, in.exec = r.Lane, r.Kinds, runLanes
	if plain && r.Loop != nil {
		in.exec = loopOf(r)
	} else if plain && predicateLoops[r.Name] != nil {
		in.exec = predicateLoops[r.Name]
	}
	if plain {
		in.vector.op = vectorRows[r.Name]
	}
	return lo.bindKinds(r.Kinds, ptx.Type(name[len(name)-1]))
}

// option applies a modifier.
func (in *instr) option(o string) {
	switch o {
	case "ftz":
		in.operation.FTZ = true
	case "sat":
		in.operation.Sat = true
	default:
		in.operation.Mode = arith.Roundings[o]
	}
}

// bindKinds binds operands by their width letters; those of the instruction's own width
// have its type, others are untyped bits.
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
