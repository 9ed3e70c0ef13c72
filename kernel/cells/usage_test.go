package main

import (
	"testing"

	"warpbook/kernel/cellproto"
)

// TestUsage: the cells program measures itself, also while a cell runs.
func TestUsage(t *testing.T) {
	c := start(t)
	ask := func() *cellproto.Usage {
		t.Helper()
		e := c.wait(c.send(cellproto.Request{Type: cellproto.AskUsage}))
		if e.Error != nil || e.Usage == nil || e.Usage.PID <= 0 || e.Usage.Goroutines < 1 {
			t.Fatalf("the answer is %+v, %v", e.Usage, e.Error)
		}
		return e.Usage
	}
	before := ask()
	if before.Memory < 10<<20 || before.Memory > 4<<30 || before.CPU != 0 {
		t.Errorf("%+v, expected tens of megabytes, and no processor time the first time", before)
	}
	c.value("big := make([]byte, 64<<20)\nfor i := 0; i < len(big); i += 64 { big[i] = 1 };")
	after := ask()
	if after.Memory < before.Memory+50<<20 {
		t.Errorf("%d bytes after 64 MB more were written, %d before", after.Memory, before.Memory)
	}
	if after.CPU <= 0 || after.CPU > 100000 {
		t.Errorf("%v %% of a core for a loop of a million turns", after.CPU)
	}
	running := c.startCell("for { }")
	ask()
	c.interrupt(running)
}
