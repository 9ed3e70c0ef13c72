package engine_test

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/emu/engine"
)

// marked is a kernel in which each thread reads a word and adds it to one word.
const marked = `.version 7.8
.target sm_80
.address_size 64
.visible .entry marked(.param .u64 words, .param .u64 sum)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r0, %r0, %r1, %r2;
	ld.param.u64 %d0, [words];
	ld.param.u64 %d1, [sum];
	mul.wide.u32 %d2, %r0, 4;
	add.u64 %d0, %d0, %d2;
	ld.global.u32 %r3, [%d0];
	red.global.add.u32 [%d1], %r3;
	ret;
}
`

// TestMarksAreBounded: a search without memory for more marks continues without them and
// reports it. A word that others touch by parts of rows takes 16 bytes, whole rows take less
// than a byte a word.
func TestMarksAreBounded(t *testing.T) {
	const blocks, threads = 64, 256
	const count = blocks * threads
	d, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, err := d.Load("marked.ptx", marked)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("marked")
	if err != nil {
		t.Fatal(err)
	}
	words, err := d.Alloc(gpu.Uint32, count+1)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := words.View(1, count) // no warp reads whole rows
	if err != nil {
		t.Fatal(err)
	}
	sum, err := d.Alloc(gpu.Uint32, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.LimitMarks(engine.LimitMarks(1 << 30))
	const others = 96 << 10 // pages of the sum, of rows, and what each warp does
	for _, c := range []struct {
		words gpu.Buffer
		bytes int64
		fits  bool
	}{{parts, 17*count + others, true}, {parts, 13 * count, false}, {words, count + others, true}, {words, 8 << 10, false}} {
		engine.LimitMarks(c.bytes)
		var warnings []*gpu.Fault
		if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads}, Args: []any{c.words, sum}, Zero: []gpu.Buffer{words, sum},
			Checks: gpu.CheckDefault | gpu.CheckBlockRaces, Warnings: &warnings}); err != nil {
			t.Fatal(err)
		}
		if c.fits != (len(warnings) == 0) || !c.fits && (!errors.Is(warnings[0], gpu.ErrMemory) || !strings.Contains(warnings[0].Error(), "not at the rest")) {
			t.Errorf("%d bytes for marks of %d words: warnings %v, expected one that names the unchecked accesses: %v", c.bytes, c.words.Len(), warnings, !c.fits)
		}
	}
}
