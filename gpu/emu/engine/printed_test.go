package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestPrintfInOrder: blocks print in the order of their numbers, not in the order in
// which they end.
func TestPrintfInOrder(t *testing.T) {
	l := &Launch{grid: gpu.Dim{X: 3, Y: 1, Z: 1}}
	for _, n := range []int{2, 0, 1} {
		b := &block{launch: l, at: gpu.Dim{X: n}}
		b.print(fmt.Sprintln("block", n))
		l.printed.keep(b)
	}
	var out bytes.Buffer
	if l.printed.flush(&out); out.String() != "block 0\nblock 1\nblock 2\n" {
		t.Errorf("%q, expected the order of the blocks", out.String())
	}
}

// TestPrintfIsBounded: calls beyond the bound are counted.
func TestPrintfIsBounded(t *testing.T) {
	var p printed
	l := &Launch{}
	b := &block{launch: l}
	long := strings.Repeat("x", mostPrinted/2)
	for range 4 {
		b.print(long)
	}
	l.printed.keep(b)
	var out bytes.Buffer
	l.printed.flush(&out)
	if !strings.HasSuffix(out.String(), "x(2 more calls of printf, beyond 1048576 bytes of a launch)\n") || out.Len() > mostPrinted+100 {
		t.Errorf("%d bytes, that end in %q", out.Len(), out.String()[out.Len()-80:])
	}
	out.Reset()
	if p.flush(&out); out.Len() > 0 {
		t.Errorf("%q of a launch that prints nothing", out.String())
	}
}
