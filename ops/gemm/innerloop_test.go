package gemm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// The machine code of rungs that notes.md refers to.
func TestMachineOfGemm(t *testing.T) {
	table, err := Operator.Machine("gemm_float4", "gemm_cp_async", "gemm_serpentine", "gemm_wide", "gemm_split_k")
	if err != nil {
		t.Fatal(err)
	}
	columns, rows := table.Table()
	want := [][]string{
		{"gemm_float4", "102", "0", "572 of 622", "512", "90 %", "79", "79 %"},
		{"gemm_cp_async", "128", "0", "1140 of 1150", "1024", "90 %", "736", "55 %"},
		{"gemm_serpentine", "127", "0", "1135 of 1145", "1024", "90 %", "171", "78 %"},
		{"gemm_wide", "237", "0", "543 of 584", "512", "94 %", "29", "90 %"},
		{"gemm_split_k", "128", "0", "1144 of 1154", "1024", "90 %", "209", "76 %"},
	}
	if fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("%v\n%v, expected\n%v", columns, rows, want)
	}
	all, err := Operator.Machine()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Rows {
		if r.SpillBytes != 0 {
			t.Errorf("%s spills %d bytes, notes.md says that no rung does", r.Name, r.SpillBytes)
		}
	}
	if _, err := Operator.Machine("cpu_triple_loop"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("a variant of the CPU: %v", err)
	}
}

// The loops of tensor cores are counted by their own opcodes, without a share of the roof
// of float32.
func TestMachineOfTensorCores(t *testing.T) {
	table, err := BF16.Machine("gemm_bf16_mma", "gemm_bf16_wgmma")
	if err != nil {
		t.Fatal(err)
	}
	columns, rows := table.Table()
	want := []string{"gemm_bf16_mma: 64 HMMA - -", "gemm_bf16_wgmma: 8 HGMMA - -"}
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprintf("%s: %s %s %s", row[0], row[4], row[6], row[7]))
	}
	if !slices.Equal(got, want) || columns[4] != "work" {
		t.Errorf("%v %q, expected %q", columns, got, want)
	}
	l, err := BF16.InnerLoop("gemm_bf16_mma")
	if err != nil {
		t.Fatal(err)
	}
	data, _ := l.MIMEBundle()
	for _, want := range []string{"64 of 108 instructions are HMMA", "instructions are mma,", "\nHMMA.16816"} {
		if text := fmt.Sprint(data["text/markdown"]); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestInnerLoop(t *testing.T) {
	l, err := Operator.InnerLoop("gemm_wide")
	if err != nil {
		t.Fatal(err)
	}
	if l.PTX.FMA != 512 || l.PTX.Instructions < 512 || l.PTX.Instructions > 600 {
		t.Errorf("PTX: %d of %d multiply", l.PTX.FMA, l.PTX.Instructions)
	}
	data, _ := l.MIMEBundle()
	text := fmt.Sprint(data["text/markdown"])
	for _, want := range []string{"512 of 543 instructions are FFMA, 94 %", "\nfma.rn.f32 %f", "\nFFMA R", "ld.shared.v4.f32"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := Operator.InnerLoop("gemm_auto"); err == nil {
		t.Error("gemm_auto has no loop of its own")
	}
}
