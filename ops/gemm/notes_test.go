package gemm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// family are the operators of this folder.
var family = []*ladder.Operator{Operator, TF32, BF16, FP16, Batched, BiasReLU}

func TestExpected(t *testing.T) {
	e, err := Operator.Expected("gemm_tile_2d", "gemm_stream_k")
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Rows) != 2 || e.Rows[0].Got != "12.7 (0.8x)" || !strings.HasPrefix(e.Rows[0].Because, "missed: 147 registers") ||
		e.Rows[1].Expected != "1 / 0.97 of gemm_wide" {
		t.Errorf("%+v", e.Rows)
	}
	for _, o := range family {
		all, err := o.Expected()
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Rows) != len(o.Variants) {
			t.Errorf("notes.md: %s: expectations of %d variants of %d", o.Name, len(all.Rows), len(o.Variants))
		}
		for _, row := range all.Rows {
			if row.Got == "" || row.Because == "" {
				t.Errorf("%s: %+v has no result or no reason", o.Name, row)
			}
		}
	}
	silent := *Operator
	silent.Variants = append(slices.Clone(silent.Variants), ladder.Variant{Name: "gemm_unheard_of"})
	if _, err := silent.Expected("gemm_unheard_of"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("a variant without a row: %v", err)
	}
}

func TestGemmNote(t *testing.T) {
	note, err := Operator.Note("Small loops.")
	if err != nil || !strings.HasPrefix(note.Text, "Small loops. The same thread of 8 x 16") || strings.Contains(note.Text, "\n\n") {
		t.Errorf("%q, %v", note.Text, err)
	}
	if data, _ := note.MIMEBundle(); !strings.HasPrefix(fmt.Sprint(data["text/markdown"]), "> Small loops.") {
		t.Errorf("%q is no quotation", data["text/markdown"])
	}
	if note, err = Operator.Note("Energy"); err != nil || !strings.Contains(note.Text, "each with MHz:\n\n| TF32 | 8192 rested |") || !strings.HasSuffix(note.Text, " |") {
		t.Errorf("%q, %v: expected the paragraph with its table", note.Text, err)
	}
	if _, err := Operator.Note("Large loops."); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("a paragraph that is not there: %v", err)
	}
}

// The notes' registers and loops are those of the machine code.
func TestNotesHaveTheMachineCode(t *testing.T) {
	text, err := os.ReadFile("notes.md")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := Operator.Machine()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range machine.Rows {
		l := row.Loop
		_, rest, found := strings.Cut(string(text), fmt.Sprintf("\n| %s | %d | ", row.Name, row.Registers))
		if !found {
			if _, err := Operator.Expected(row.Name); err == nil {
				t.Errorf("notes.md has %s without its %d registers", row.Name, row.Registers)
			}
			continue
		}
		compared++
		cell, _, _ := strings.Cut(rest, " |")
		share := fmt.Sprintf("%.0f %%", 100*l.Share())
		if cell != "-" && cell != share && cell != fmt.Sprintf("%d, %d (%s), %d", l.Instructions, l.FMA, share, l.BankWaits) &&
			cell != fmt.Sprintf("%d, %d, %d", l.Instructions, l.FMA, l.BankWaits) {
			t.Errorf("notes.md has %q for the loop of %s, which is %+v", cell, row.Name, l)
		}
	}
	if compared < 15 {
		t.Errorf("%d rungs compared", compared)
	}
}

// An expectation is called a prediction only where its commit has it without the result.
func TestPredictedByCommit(t *testing.T) {
	if err := exec.Command("git", "cat-file", "-e", "9ea3869").Run(); err != nil {
		t.Skip("no history of commits here: needs a whole clone")
	}
	predicted := 0
	for _, o := range family {
		all, err := o.Expected()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range all.Rows {
			if row.Predicted == "" {
				continue
			}
			predicted++
			page, err := exec.Command("git", "show", row.Predicted+":ops/gemm_notes.md").Output()
			if err != nil {
				t.Errorf("%s: predicted in %s: %v", row.Name, row.Predicted, err)
				continue
			}
			for line := range strings.Lines(string(page)) {
				if strings.HasPrefix(line, "| "+row.Name+" |") && (!strings.Contains(line, row.Expected) || strings.Contains(line, row.Got)) {
					t.Errorf("%s: %s has %q, expected the prediction without its result", row.Name, row.Predicted, line)
				}
			}
		}
	}
	if predicted != 2 {
		t.Errorf("%d predictions, expected 2", predicted)
	}
}
