package gemm

import (
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu/device"
	"warpbook/ops/bench"
)

// A pair shows the changed lines in one row, the machine code of both and their counters.
func TestPair(t *testing.T) {
	d, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := bench.Must(d, Operator, 1, 128, 128, 128)
	defer b.Close()
	p, err := b.Pair("gemm_float4", "gemm_conflict_free")
	if err != nil {
		t.Fatal(err)
	}
	data, _ := p.MIMEBundle()
	text, page := fmt.Sprint(data["text/plain"]), fmt.Sprint(data["text/html"])
	m, err := Operator.Machine("gemm_float4", "gemm_conflict_free")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"gemm_float4", "gemm_conflict_free"} {
		c := b.Counted(name)
		if got := p.Counts.Counts.Rows[i].Total; got != *c {
			t.Errorf("%s: %+v, expected the counters of Counted", name, got)
		}
		excerpt := m.Rows[i].Loop.Excerpt
		if len(excerpt) == 0 || !strings.Contains(text, excerpt[0]) || !strings.Contains(page, excerpt[0]) {
			t.Errorf("%s: no %q of its loop in\n%s", name, excerpt, text)
		}
	}
	for _, want := range []string{"bank conflicts", "registers", "LDS.128", "instructions of the loop", "machine code: ptxas"} {
		if !strings.Contains(text, want) || !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	minus, plus := false, false
	for _, l := range p.Source {
		minus, plus = minus || strings.HasPrefix(l.Left, "- "), plus || strings.HasPrefix(l.Right, "+ ")
	}
	if !minus || !plus || strings.Count(page, "<pre>") != 4 {
		t.Errorf("%d blocks of code, expected 4 with marked lines on both sides:\n%s", strings.Count(page, "<pre>"), text)
	}
	for line := range strings.Lines(text) {
		if left, _, ok := strings.Cut(line, " | "); ok && len(strings.TrimSpace(left)) > 60 {
			t.Errorf("%q is too long for half a page", left)
		}
	}
	if _, err := b.Pair("gemm_float4", "gemm_v99"); err == nil {
		t.Error("no error for an unknown variant")
	}
}
