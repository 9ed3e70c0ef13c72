package ops

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
)

func TestExpected(t *testing.T) {
	e, err := Gemm.Expected("gemm_tile_2d", "gemm_stream_k")
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Rows) != 2 || e.Rows[0].Got != "12.7 (0.8x)" || !strings.HasPrefix(e.Rows[0].Because, "missed: 147 registers") ||
		e.Rows[1].Expected != "1 / 0.97 of gemm_wide" {
		t.Errorf("%+v", e.Rows)
	}
	for _, o := range Operators() {
		if o.Name != "gemm" && !strings.HasPrefix(o.Name, "gemm_") {
			continue
		}
		all, err := o.Expected()
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Rows) != len(o.Variants) {
			t.Errorf("gemm_notes.md: %s: expectations of %d variants of %d", o.Name, len(all.Rows), len(o.Variants))
		}
		for _, row := range all.Rows {
			if row.Got == "" || row.Because == "" {
				t.Errorf("%s: %+v has no result or no reason", o.Name, row)
			}
		}
	}
	if _, err := Reduce.Expected("reduce_serial"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("a variant of which nothing was predicted: %v", err)
	}
}

func TestGemmNote(t *testing.T) {
	note, err := GemmNote("Small loops.")
	if err != nil || !strings.HasPrefix(note.Text, "Small loops. The same thread of 8 x 16") || strings.Contains(note.Text, "\n\n") {
		t.Errorf("%q, %v", note.Text, err)
	}
	if data, _ := note.MIMEBundle(); !strings.HasPrefix(fmt.Sprint(data["text/markdown"]), "> Small loops.") {
		t.Errorf("%q is no quotation", data["text/markdown"])
	}
	if note, err = GemmNote("Energy"); err != nil || !strings.Contains(note.Text, "each with MHz:\n\n| TF32 | 8192 rested |") || !strings.HasSuffix(note.Text, " |") {
		t.Errorf("%q, %v: expected the paragraph with its table", note.Text, err)
	}
	if _, err := GemmNote("Large loops."); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("a paragraph that is not there: %v", err)
	}
}

// The notes' registers and loops are those of the machine code.
func TestNotesHaveTheMachineCode(t *testing.T) {
	text, err := os.ReadFile("gemm_notes.md")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := Gemm.Machine()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range machine.Rows {
		l := row.Loop
		_, rest, found := strings.Cut(string(text), fmt.Sprintf("\n| %s | %d | ", row.Name, row.Registers))
		if !found {
			if _, err := Gemm.Expected(row.Name); err == nil {
				t.Errorf("gemm_notes.md has %s without its %d registers", row.Name, row.Registers)
			}
			continue
		}
		compared++
		cell, _, _ := strings.Cut(rest, " |")
		share := percent(l.Share())
		if cell != "-" && cell != share && cell != fmt.Sprintf("%d, %d (%s), %d", l.Instructions, l.FMA, share, l.BankWaits) &&
			cell != fmt.Sprintf("%d, %d, %d", l.Instructions, l.FMA, l.BankWaits) {
			t.Errorf("gemm_notes.md has %q for the loop of %s, which is %+v", cell, row.Name, l)
		}
	}
	if compared < 15 {
		t.Errorf("%d rungs compared", compared)
	}
}
