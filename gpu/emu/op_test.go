package emu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// TestOps runs every instruction on corner and random values, in whole warps and in
// warps with idle lanes.
func TestOps(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	for _, op := range opTests {
		types := strings.Fields(op.types)
		in := make([][]uint64, 3)
		for i := range in {
			if in[i] = make([]uint64, 2048); i+1 < len(types) {
				fillOperands(in[i], ptx.Type(types[i+1]), i, random)
			}
		}
		for _, odd := range []bool{false, true} {
			got := runOp(t, op.text, types, in, odd)
			for i, v := range got {
				want := op.want(in[0][i], in[1][i], in[2][i])
				if odd && i%2 != 0 {
					want = untouched(types[0])
				}
				if v != want {
					t.Errorf("%s (%#x, %#x, %#x) = %#x, expected %#x (seed %d, idle lanes %v)",
						op.text, in[0][i], in[1][i], in[2][i], v, want, seed, odd)
					break
				}
			}
		}
	}
}

// untouched is the destination's value in idle lanes.
func untouched(typ string) uint64 { return cut(0x0123456789abcdef, ptx.Type(typ)) }

// cut keeps the bits of a type.
func cut(v uint64, t ptx.Type) uint64 { return v & (math.MaxUint64 >> (64 - 8*t.Bytes())) }

// corners are values at which instructions differ.
var corners = []uint64{0, 1, 2, 31, 32, 33, 63, 64, 127, 128, 255, 1<<15 - 1, 1 << 15, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}

var corners32 = []uint64{0, 1 << 31, 1, 0x80000001, 0x7fffff, 0x800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x7f7fffff, 0xff7fffff,
	0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff, 0x3f000000, 0x3fc00000, 0x40200000, 0x4b800000, 0x4f000000, 0xcf000000, 0x33800000}

var corners64 = []uint64{0, 1 << 63, 1, 0xfffffffffffff, 1 << 52, 0x3ff0000000000000, 0xbff0000000000001, 0x7fefffffffffffff,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xffffffffffffffff, 0x3fe0000000000000, 0x41e0000000000000,
	0x36a0000000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x3690000000000000, 0x3690000000000001}

// fillOperands fills the values of one operand: every pair of corners occurs.
func fillOperands(v []uint64, t ptx.Type, operand int, random *rand.Rand) {
	from, spread := corners, uint(4) // integers of every size
	switch t {
	case "f32":
		from, spread = corners32, 1
	case "f64":
		from, spread = corners64, 1
	}
	for i := range v {
		switch {
		case i < 1024 && operand == 0:
			v[i] = from[i/len(from)%len(from)]
		case i < 1024:
			v[i] = from[(i+operand*i/7)%len(from)]
		default:
			v[i] = random.Uint64() >> (8 * random.UintN(spread))
		}
		v[i] = cut(v[i], t)
	}
}

// runOp runs an instruction on each element, in one thread each. If odd, only even
// threads run it.
func runOp(t *testing.T, text string, types []string, in [][]uint64, odd bool) []uint64 {
	t.Helper()
	return launchOp(t, opText(text, types, odd), in[:len(types)-1])
}

// opText is a module whose entry op applies an instruction to arrays.
func opText(text string, types []string, odd bool) string {
	var b strings.Builder
	b.WriteString(".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry op(")
	for i := range types {
		fmt.Fprintf(&b, "%s.param .u64 p%d", strings.Repeat(", ", min(i, 1)), i)
	}
	b.WriteString(") {\n.reg .pred %idle;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n")
	b.WriteString("mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2; mul.wide.u32 %rd0, %r0, 8;\n")
	for i, typ := range types {
		fmt.Fprintf(&b, ".reg .%s %%%c;\n", typ, "dabc"[i])
		if i > 0 {
			fmt.Fprintf(&b, "ld.param.u64 %%rd1, [p%d]; add.s64 %%rd1, %%rd1, %%rd0; ld.global.%s %%%c, [%%rd1];\n", i, typ, "dabc"[i])
		}
	}
	bitsType := fmt.Sprint("b", 8*ptx.Type(types[0]).Bytes())
	fmt.Fprintf(&b, "mov.%s %%d, %#x;\n", bitsType, untouched(types[0]))
	if odd {
		b.WriteString("and.b32 %r1, %r0, 1; setp.ne.u32 %idle, %r1, 0; @%idle bra past;\n")
	}
	fmt.Fprintf(&b, "%s\npast: ld.param.u64 %%rd1, [p0]; add.s64 %%rd1, %%rd1, %%rd0; st.global.%s [%%rd1], %%d;\nret;\n}\n", text, bitsType)
	return b.String()
}

// launchOp runs the entry op of a module with arrays of 64-bit elements: the
// first is the result.
func launchOp(t *testing.T, text string, in [][]uint64) []uint64 {
	t.Helper()
	d, e := loadEntry(t, text, "op")
	n := len(in[0])
	out, err := d.Alloc(gpu.Uint64, n)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Zero(out); err != nil {
		t.Fatal(err)
	}
	args := []any{out}
	for _, v := range in {
		x, err := d.Alloc(gpu.Uint64, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Upload(v); err != nil {
			t.Fatal(err)
		}
		args = append(args, x)
	}
	if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: n / 64}, Block: gpu.Dim{X: 64}, Args: args}); err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, n)
	if err := out.Download(got); err != nil {
		t.Fatal(err)
	}
	return got
}

// loadEntry loads a module on a fresh device.
func loadEntry(t testing.TB, text, name string) (*Device, gpu.Entry) {
	t.Helper()
	return loadEntryFor(t, 132, text, name)
}

// loadEntryFor is loadEntry for an H200 that has some multiprocessors only: a launch that
// fills a whole one takes long.
func loadEntryFor(t testing.TB, sms int, text, name string) (*Device, gpu.Entry) {
	t.Helper()
	info, err := lookup("")
	if err != nil {
		t.Fatal(err)
	}
	info.SMs = sms
	d, err := OpenAs(info)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load("test.ptx", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	e, err := m.Entry(name)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return d.(*Device), e
}

// only is PTX without the lines of other entries: parsing a corpus for each of its kernels
// takes longer than they do. Lines keep their numbers.
func only(text string, names ...string) string {
	lines, other := strings.Split(text, "\n"), false
	for i, line := range lines {
		if entry, ok := strings.CutPrefix(line, ".visible .entry "); ok {
			name, _, _ := strings.Cut(entry, "(")
			other = !slices.Contains(names, name)
		}
		if other {
			lines[i] = ""
		}
		other = other && line != "}"
	}
	return strings.Join(lines, "\n")
}
