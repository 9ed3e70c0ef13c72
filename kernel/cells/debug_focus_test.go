package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/kernel/cellproto"
)

type thread struct {
	ID   int
	Name string
}

func (d *debugged) threads() []thread {
	d.t.Helper()
	return decode[struct{ Threads []thread }](d.t, d.must("threads", `{}`)).Threads
}

// The threads of a stop in a kernel are the warps of its block, each with its frames; a
// step of another warp stops that one. The focus moves to a block that has run.
func TestDebugFocus(t *testing.T) {
	d := attachCUDA(t)
	d.breaks(blockSum, `{"line":15,"condition":"blockIdx.x == 1 && k == 32 && tid == 3"}`)
	s, done := d.next("launch()")
	d.expect("stop", d.where(s), "breakpoint block_sum:15"+launched)
	list := d.threads()
	if len(list) != 2 || list[0].Name != "block (1,0,0) warp 0" || list[1].Name != "block (1,0,0) warp 1, waits at the barrier" {
		t.Fatalf("threads %+v", list)
	}
	other := s
	other.ThreadID = list[1].ID
	d.expect("warp 1", strings.Fields(d.where(other))[1], "block_sum:16")
	d.expect("its tid", d.evaluate(other, "tid"), "32")
	d.must("next", fmt.Sprintf(`{"threadId":%d}`, other.ThreadID))
	s = d.stopped()
	d.expect("a step of warp 1", d.where(s)+" "+d.evaluate(s, "warp"), "step block_sum:17"+launched+" 1")

	d.expect("no such block", contains(d.evaluate(s, "%debug focus block 2"), "has not run here"), "has not run here")
	d.expect("no block", contains(d.evaluate(s, "%debug focus block"), "expected block X Y Z"), "expected block X Y Z")
	d.evaluate(s, "%debug focus block 0")
	s = d.stopped()
	first, second, third := d.frames(s)[0].ID, d.frames(s)[0].ID, d.frames(s)[0].ID
	if first == second || second != third {
		t.Errorf("ids %d, %d and %d of the frames after a command of the console, want two that differ, then the same", first, second, third)
	}
	d.expect("block 0", d.where(s)+" "+d.evaluate(s, "blockIdx.x")+d.evaluate(s, "k"), "step block_sum:17"+launched+" 01")
	d.must("continue", fmt.Sprintf(`{"threadId":%d}`, s.ThreadID))
	s = d.stopped() // the present
	d.expect("the present", d.evaluate(s, "blockIdx.x"), "1")
	d.breaks(blockSum)
	d.ends(s, done)
}

// The console sets data breakpoints by itself, and ends them; a client's own list leaves
// them alone.
func TestDebugWatchesOfTheConsole(t *testing.T) {
	d := attachCUDA(t)
	d.breaks(blockSum, line(7))
	s, done := d.next("launch()")
	d.breaks(blockSum)
	d.expect("no place", d.evaluate(s, "%debug watch n + 1"), "n + 1 has no place in memory")
	d.expect("set", contains(d.evaluate(s, "%debug watch s[17]"), "stops at s[17]; block (0,0,0)"), "stops at s[17]; block (0,0,0)")
	d.must("setDataBreakpoints", `{"breakpoints":[]}`)
	d.goOn(s)
	s = d.stopped()
	d.expect("first write", s.Text+" "+strings.Fields(d.where(s))[2], "block (0,0,0) thread (17,0,0) writes s[17] block_sum:12")
	d.expect("its lane", d.evaluate(s, "lane")+" "+d.evaluate(s, "tid"), "17 17")
	d.evaluate(s, "%debug watch-access s[17]")
	d.goOn(s)
	s = d.stopped()
	d.expect("a read", s.Text, "block (0,0,0) thread (17,0,0) reads s[17]")
	d.expect("ended", d.evaluate(s, "%debug unwatch"), "2 watches ended")
	if e := d.ends(s, done); e.Error != nil {
		t.Error(e.Error)
	}
	if e := d.run("%debug watch s[1]"); e.Error == nil || !strings.Contains(e.Error.Value, "for the console of the debugger") && !strings.Contains(e.Error.Value, "no launch is kept") {
		t.Errorf("in a cell: %v", e.Error)
	}
}

// Completion knows the commands of %debug, what focus takes, and the variables of the place.
func TestDebugCompletion(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	d := &debugged{client: start(t)}
	startWrong(d)
	for _, code := range []string{"%debug on", "launch()", "%debug goto 8"} {
		d.run(code)
	}
	for _, c := range []struct{ code, want, not string }{
		{"%debug fi", "first-nan", "focus"}, {"%debug last-w", "last-write", "lanes"}, {"%debug ", "picture", "threadIdx"},
		{"%debug focus bl", "block", "back"}, {"%debug print th", "threadIdx", "tid"}, {"%debug lanes ti", "tid", "threadIdx"}, {"x := 1\n%debug ba", "back", "goto"},
	} {
		var got []string
		for _, m := range d.wait(d.send(cellproto.Request{Type: cellproto.Complete, Code: c.code, Cursor: len(c.code)})).Matches {
			got = append(got, m.Text)
		}
		if !slices.Contains(got, c.want) || slices.Contains(got, c.not) {
			t.Errorf("%q completes to %v, want %s and not %s", c.code, got, c.want, c.not)
		}
	}
	text, _ := d.wait(d.send(cellproto.Request{Type: cellproto.Inspect, Code: "%debug goto", Cursor: 9})).Data["text/plain"].(string)
	d.expect("help", contains(text, "goto LINE [if COND]"), "goto LINE [if COND]")
}
