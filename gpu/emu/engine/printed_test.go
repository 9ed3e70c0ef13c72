package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestPrintfInOrder: blocks print in the order of their numbers, not in the order in
// which they end.
func TestPrintfInOrder(t *testing.T) {
	var p printed
	for _, n := range []int{2, 0, 1} {
		p.keep(n, p.add(nil, fmt.Sprintln("block", n)))
	}
	var out bytes.Buffer
	if p.flush(&out); out.String() != "block 0\nblock 1\nblock 2\n" {
		t.Errorf("%q, expected the order of the blocks", out.String())
	}
}

// TestPrintfIsBounded: calls beyond the bound are counted.
func TestPrintfIsBounded(t *testing.T) {
	var p, none printed
	var text []byte
	long := strings.Repeat("x", mostPrinted/2)
	for range 4 {
		text = p.add(text, long)
	}
	p.keep(0, text)
	var out bytes.Buffer
	p.flush(&out)
	if !strings.HasSuffix(out.String(), "x(2 more calls of printf, beyond 1048576 bytes of a launch)\n") || out.Len() > mostPrinted+100 {
		t.Errorf("%d bytes, that end in %q", out.Len(), out.String()[out.Len()-80:])
	}
	out.Reset()
	if none.flush(&out); out.Len() > 0 {
		t.Errorf("%q of a launch that prints nothing", out.String())
	}
}
