package engine

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

// vectorCases are an instruction for each use of a vector operation, by name. Its
// operands are a, b and c in vectorWarp.
func vectorCases() map[string]instr {
	cases := map[string]instr{}
	for name, op := range vectorRows {
		r := arith.Rows[name]
		in := instr{exec: runLanes, lane: r.Lane, kinds: r.Kinds, vector: vectorForm{op: op}}
		if r.Loop != nil {
			in.exec = loopOf(r)
		} else if f := predicateLoops[name]; f != nil {
			in.exec = f
		}
		cases[name] = in
	}
	for c, op := range vectorConversions {
		fast := fastConversions[c]
		cases[fmt.Sprint("cvt ", c)] = instr{exec: fast.exec, kinds: fast.kinds, vector: vectorForm{op: op}}
	}
	for w := range vectorMoves {
		in := instr{kinds: string([]byte{byte(w), byte(w)})}
		in.move(w)
		cases["mov "+w.String()+in.kinds] = in
	}
	for _, flip := range []uint32{0, all} {
		x := &extra{p: 3, pflip: flip}
		cases[fmt.Sprint("selp.b32 ", flip)] = instr{exec: select32, kinds: "www", x: x, vector: vectorForm{op: simd.Select32}}
		cases[fmt.Sprint("selp.b64 ", flip)] = instr{exec: select64, kinds: "ddd", x: x, vector: vectorForm{op: simd.Select64}}
	}
	for name, mode := range shuffleModes {
		cases["shfl."+name] = instr{exec: shuffle, sub: mode, kinds: "wwww", x: &extra{hasD: true}, vector: vectorForm{op: simd.StepDown + simd.Op(mode)}}
	}
	maps.Copy(cases, comparisonCases())
	return cases
}

func comparisonCases() map[string]instr {
	cases := map[string]instr{}
	for _, t := range []ptx.Type{"u32", "s32", "b32", "u64", "s64", "b64", "f32"} {
		for op := equal; op <= isNaN; op++ {
			for _, not := range []bool{false, true} {
				form := comparisonForm(t, op, not)
				if form.op == 0 {
					continue
				}
				kind := string(rune(widthOf(t)))
				cases[fmt.Sprintf("setp %d %v.%s", op, not, t)] = instr{kinds: "p" + kind + kind, vector: form,
					exec: func(w *warp, in *instr, m uint32) {
						r := compareTypes[t](w, op, in.a, in.b)
						if not {
							r = ^r
						}
						w.preds[in.d] = w.preds[in.d]&^m | r&m
					}}
			}
		}
	}
	return cases
}

// TestVectorOperations compares every vector operation with the portable one: corner and
// random values, every shape of mask, guards, and destinations that are a source.
func TestVectorOperations(t *testing.T) {
	if simd.Best == simd.NoVectors {
		t.Skip("no vector instructions, or they are switched off")
	}
	const seed = 5
	random := rand.New(rand.NewPCG(seed, 0))
	cases := vectorCases()
	var seen [simd.Ops]bool
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		in := cases[name]
		seen[in.vector.op] = true
		for round := range 400 {
			m := vectorMasks[round%len(vectorMasks)]
			if m == 1 {
				m = random.Uint32()
			}
			assign(&in, round, random)
			if d := differs(&in, m, vectorWarp(random)); d != "" {
				t.Errorf("%s: %s (seed %d, round %d, lanes %#08x, guard %d)", name, d, seed, round, m, in.guard)
				break
			}
		}
	}
	for op := simd.Guarded + 1; op < simd.Ops; op++ {
		if elsewhere := op >= simd.Branch && op <= simd.AccessSharedWide; !elsewhere && !seen[op] {
			t.Errorf("vector operation %d is not tested", op)
		}
	}
}

// vectorMasks are the lanes that run; 1 stands for random ones.
var vectorMasks = []uint32{all, all, 1, 1, 0xffff, 0xffff0000, 0x80000000, 0x55555555, 0}

// The warp of the test has four slots of 256 bytes and eight predicates.
const (
	testSlots = 4 * 256
	testPreds = 8
)

// assign puts the operands into slots: usually one each, sometimes shared.
func assign(in *instr, round int, random *rand.Rand) {
	at := func(i int) uint32 {
		switch {
		case i >= len(in.kinds):
			return 0
		case round%5 == 0 && in.kinds[i] == in.kinds[0]:
			i = 0 // a source is the destination
		}
		if width(in.kinds[i]) == predicate {
			return uint32(4 + i)
		}
		return uint32(256 * i)
	}
	in.d, in.a, in.b, in.c = at(0), at(1), at(2), at(3)
	in.guard, in.flip = always, 0
	if round%3 == 0 {
		in.guard, in.flip = 1+random.Uint32N(2), all*random.Uint32N(2)
	}
}

// cornerWords are values of 32 bits at which operations on float32 differ.
var cornerWords = []uint32{0, 1 << 31, 1, 0x80000001, 0x7fffff, 0x800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x7f7fffff, 0xff7fffff,
	0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff, 0x3f000000, 0x3fc00000, 0x40200000, 0x4b800000, 0x4f000000, 0xcf000000, 0x33800000}

// vectorWarp is a warp with corner and random values.
func vectorWarp(random *rand.Rand) *warp {
	p := &Program{code: make([]instr, 1), steps: make([]simd.Step, 1)}
	w := &warp{block: &block{prog: p, patterns: &patternTable{}, vectors: simd.Best}, slots: unsafe.Pointer(&mem.Carve[byte](&mem.Pages{}, testSlots)[0]), preds: make([]uint32, testPreds)}
	values := unsafe.Slice((*uint32)(w.slots), testSlots/4)
	small := random.Uint32N(3) == 0 // division has a path of its own for these
	for i := range values {
		if small {
			values[i] = 1 + random.Uint32N(1<<random.Uint32N(24))
			continue
		}
		switch random.Uint32N(4) {
		case 0:
			values[i] = cornerWords[random.IntN(len(cornerWords))]
		case 1:
			values[i] = random.Uint32N(70)
		default:
			values[i] = random.Uint32()
		}
	}
	for i := range w.preds {
		w.preds[i] = random.Uint32()
	}
	w.preds[always] = all
	w.vector = simd.Run{Slots: w.slots, Preds: &w.preds[0]}
	return w
}

// differs runs an instruction both ways on copies of a warp, and describes a difference.
func differs(in *instr, m uint32, w *warp) string {
	v := &warp{block: w.block, slots: unsafe.Pointer(&mem.Carve[byte](&mem.Pages{}, testSlots)[0]), preds: slices.Clone(w.preds)}
	got, want := unsafe.Slice((*byte)(v.slots), testSlots), unsafe.Slice((*byte)(w.slots), testSlots)
	copy(got, want)
	v.vector = simd.Run{Slots: v.slots, Preds: &v.preds[0]}
	if active := m & (w.preds[in.guard] ^ in.flip); active != 0 {
		in.exec(w, in, active)
	}
	w.block.prog.code[0], w.block.prog.steps[0] = *in, in.step()
	v.runVector(0, 1, m)
	for i := range w.preds {
		if v.preds[i] != w.preds[i] {
			return fmt.Sprintf("predicate %d is %#08x, expected %#08x", i, v.preds[i], w.preds[i])
		}
	}
	for i := 0; i < testSlots; i += 4 {
		if !bytes.Equal(got[i:i+4], want[i:i+4]) {
			return fmt.Sprintf("slot %d, word %d is %x, expected %x", i/256, i%256/4, got[i:i+4], want[i:i+4])
		}
	}
	return ""
}

// TestRowsOfProducts compares rows of products with the same first source with one
// product after the other, whole and cut off by the end of a run.
func TestRowsOfProducts(t *testing.T) {
	if simd.Best == simd.NoVectors {
		t.Skip("no vector instructions, or they are switched off")
	}
	const seed = 6
	random := rand.New(rand.NewPCG(seed, 0))
	r := arith.Rows["fma.f32"]
	exec := runLanes
	if r.Loop != nil {
		exec = loopOf(r)
	}
	rows := 0
	for round := range 400 {
		w := vectorWarp(random)
		v := &warp{slots: unsafe.Pointer(&mem.Carve[byte](&mem.Pages{}, testSlots)[0]), preds: slices.Clone(w.preds)}
		p := &Program{code: make([]instr, 6)}
		for i := range p.code {
			slot := func() uint32 { return 128 * random.Uint32N(testSlots/128) }
			in := instr{exec: exec, lane: r.Lane, kinds: r.Kinds, vector: vectorForm{op: simd.FmaF32}, d: slot(), b: slot(), c: slot()}
			if i == 0 || random.Uint32N(8) == 0 {
				in.a = slot()
			} else {
				in.a = p.code[i-1].a
			}
			p.code[i] = in
		}
		p.vectorise()
		for _, s := range p.steps {
			rows += int(s.X)
		}
		w.block.prog, v.block = p, w.block
		got, want := unsafe.Slice((*byte)(v.slots), testSlots), unsafe.Slice((*byte)(w.slots), testSlots)
		copy(got, want)
		v.vector = simd.Run{Slots: v.slots, Preds: &v.preds[0]}
		n, m := 1+random.IntN(len(p.code)), vectorMasks[round%2*4]
		for i := range n {
			p.code[i].exec(w, &p.code[i], m)
		}
		v.runVector(0, int32(n), m)
		if !bytes.Equal(got, want) {
			t.Fatalf("%d of the products %+v in lanes %#08x give other values (seed %d, round %d)", n, p.steps, m, seed, round)
		}
	}
	if rows == 0 {
		t.Error("no row was tested")
	}
}
