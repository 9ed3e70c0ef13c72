package emu

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestRejected: an instruction that only a GPU executes is rejected by its name before
// the launch, with the line and the advice to use a GPU. An unknown instruction is
// malformed.
func TestRejected(t *testing.T) {
	for text, says := range map[string]string{
		"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0,%r1,%r2,%r3}, %d0, %d1, %a0;":                                        "wgmma",
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%q0], [%r2], 16;":                                                       "cp.reduce.async.bulk",
		"cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r2], [%q0, {%r2, %r2, %r2}], [%r2], {%r2};": "im2col::w",
		"tcgen05.wait::ld.sync.aligned;": "opcode tcgen05",
		"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%r2,%r3,%r4,%r5};": "mma.sync.aligned.m16n8k64",
		"vadd.u32.u32.u32 %r2, %r3.b0, %r4.h1;":             "opcode vadd",
		"vabsdiff4.u32.u32.u32 %r2, %r3.b7531, %r4, %r2;":   "operand 2 selects parts of a register, .b7531",
		"vabsdiff4.u32.u32.u32.add %r2.b10, %r3, %r4, %r2;": "operand 1 selects parts of a register, .b10",
	} {
		d, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load("new.ptx", strings.Replace(kernel("", text), "sm_80", "sm_90a", 1))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_, err = m.Entry("op")
		if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "new.ptx:21") ||
			!strings.HasSuffix(err.Error(), "on the emulator: run this entry on a GPU") {
			t.Errorf("%s: %v, expected it refused by name", text, err)
		}
	}
	for text, says := range map[string]string{
		"stt.global.u32 [%p1], %t;":      "no opcode stt, expected one such as set, st, ",
		"ld.parm.u32 %r2, [%q0];":        "ld has no modifier .parm, expected one such as .param, ",
		"add.global.u32 %r2, %r2, %r2;":  "add has no modifier .global, expected one such as ",
		"mma.sync.alinged.m16n8k16 %r2;": "mma has no modifier .alinged, expected one such as .aligned, ",
		"ret.param %r2;":                 "1 operands, expected 0",
		"ret.param;":                     "ret has no modifier .param, expected one such as .uni",
		"ret.pred;":                      "ret has no modifier .pred, expected one such as .uni",
		"exit.pred;":                     "exit has no modifier .pred",
		"@%a0 bra.sync past; past:":      "bra has no modifier .sync, expected one such as .uni",
		"setp.eq.u23 %a0, %r2, %r3;":     "setp has no modifier .u23, expected one such as ",
	} {
		d, _ := Open("")
		m, err := d.Load("wrong.ptx", kernel("", text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := m.Entry("op"); !errors.Is(err, gpu.ErrMalformed) || !strings.Contains(err.Error(), "wrong.ptx:21: malformed PTX: "+says) {
			t.Errorf("%s: %v, expected %s", text, err, says)
		}
	}
}

// TestMostLocal: an entry with more local memory than a thread of a GPU can have is malformed.
func TestMostLocal(t *testing.T) {
	for bytes, refused := range map[int]bool{512 << 10: false, 512<<10 + 4: true} {
		d, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load("local.ptx", kernel(fmt.Sprintf(".local .align 4 .b8 a[%d];", bytes), "st.local.u32 [a], 1;"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Entry("op"); errors.Is(err, gpu.ErrMalformed) != refused || refused && !strings.Contains(err.Error(), "524292 bytes of local memory per thread, expected at most 524288") {
			t.Errorf("%d bytes: %v, expected it refused: %v", bytes, err, refused)
		}
	}
}

// TestBlocksAreClusters: an entry whose launches count clusters is rejected by the name
// of its directive. Counted in blocks, its result would be wrong.
func TestBlocksAreClusters(t *testing.T) {
	for _, directives := range []string{".blocksareclusters", ".reqntid 32\n.reqnctapercluster 2\n.blocksareclusters"} {
		d, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load("cluster.ptx", strings.Replace(kernel("", ""), "n)\n{", "n)\n"+directives+"\n{", 1))
		if err != nil {
			t.Fatal(err)
		}
		const says = "emu: entry op at cluster.ptx:4: unsupported: .blocksareclusters on the emulator"
		if _, err := m.Entry("op"); !errors.Is(err, gpu.ErrUnsupported) || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v\nwant %s", err, says)
		}
	}
}

// TestExplicitClusters: an entry whose launch must give the clusters is rejected without
// them.
func TestExplicitClusters(t *testing.T) {
	d, e := loadEntry(t, strings.Replace(kernel("", ""), "n)\n{", "n)\n.explicitcluster\n{", 1), "op")
	x, err := d.Alloc(gpu.Uint32, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32}, Args: []any{x, x, uint32(1)}}
	const says = "emu: launch op: invalid launch shape: no cluster, which .explicitcluster needs"
	if err := d.Launch(l); !errors.Is(err, gpu.ErrShape) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, expected %q", err, says)
	}
	l.Cluster = gpu.Dim{X: 2}
	if err := d.Launch(l); err != nil {
		t.Error(err)
	}
}

// TestTarget: an instruction that the module's .target does not support is rejected, as
// by an assembler.
func TestTarget(t *testing.T) {
	f16 := "mma.sync.aligned.m16n8k%d.row.col.f32.f16.f16.f32 {%%f0,%%f1,%%f2,%%f3}, {%s}, {%s}, {%%f0,%%f1,%%f2,%%f3};"
	for _, c := range []struct {
		text        string
		has, hasNot string
	}{
		{"cp.async.wait_all;", "sm_80", "sm_75"},
		{"redux.sync.add.u32 %r2, %r3, -1;", "sm_80", "sm_75"},
		{"elect.sync %r2|%a0, -1;", "sm_90", "sm_80"},
		{fmt.Sprintf(f16, 8, "%r2,%r3", "%r4"), "sm_75", "sm_70"},
		{fmt.Sprintf(f16, 16, "%r2,%r3,%r4,%r5", "%r6,%r7"), "sm_80", "sm_75"},
		{strings.ReplaceAll(fmt.Sprintf(f16, 8, "%r2,%r3", "%r4"), "f16", "bf16"), "sm_80", "sm_75"},
		{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r2,%r3}, {%r4}, {%r5}, {%r2,%r3};", "sm_75", "sm_72"},
		{"wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r2,%r3,%r4,%r5}, [%q0];", "sm_80", "sm_75"},
	} {
		for _, target := range []string{c.has, c.hasNot} {
			d, err := Open("")
			if err != nil {
				t.Fatal(err)
			}
			m, err := d.Load("target.ptx", strings.Replace(kernel("", c.text), "sm_80", target, 1))
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Entry("op")
			if target == c.has && err != nil {
				t.Error(err)
			}
			if target == c.hasNot && (!errors.Is(err, gpu.ErrMalformed) || !strings.Contains(err.Error(), "expected "+c.has)) {
				t.Errorf("%s with %s: %v, expected it refused for %s", c.text, target, err, c.has)
			}
		}
	}
}
