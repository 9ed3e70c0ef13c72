package main

import (
	"fmt"
	"strings"
	"testing"
)

// Watches, conditions and log points that panic are errors with a reason, and a condition
// that does not end is given up; the cell goes on to its value.
func TestDebugPanickingExpressions(t *testing.T) {
	d := attach(t)
	d.value("import \"errors\"\nfunc boom() int { panic(errors.New(\"broken\")) }")
	const code = "ps := []int{1, 2}\nzero := 0\nzero += 0\nps[0] + zero"
	d.breaks(code, line(3))
	s, done := d.next(code)
	id := d.frames(s)[0].ID
	for expression, reason := range map[string]string{
		"boom()": "broken", "ps[9]": "index 9: the length is 2", "1 / zero": "divi", "(*int)(nil)": "", "*(*int)(nil)": "nil pointer",
		"func() int { panic(7) }()": "7", "make([]int, -1+zero)": "", "goto x": "expression", "}": "",
	} {
		r := d.ask("evaluate", fmt.Sprintf(`{"expression":%s,"frameId":%d,"context":"watch"}`, quoted(expression), id))
		if expression == "(*int)(nil)" {
			if !r.Success {
				t.Errorf("%s: %s", expression, r.Message)
			}
		} else if r.Success || !strings.Contains(r.Message, reason) {
			t.Errorf("%s: %+v, want an error with %q", expression, r, reason)
		}
	}
	for condition, reason := range map[string]string{"ps[9] > 1": "index 9: the length is 2", "boom() == 1": "broken", "<-make(chan bool)": "does not end"} {
		d.breaks(code, fmt.Sprintf(`{"line":4,"condition":%s}`, quoted(condition)))
		d.goOn(s)
		s = d.stopped()
		if !strings.Contains(s.Text, reason) {
			t.Errorf("condition %s: %q, want %q", condition, s.Text, reason)
		}
		d.breaks(code, line(3))
		if e := d.ends(s, done); e.Error != nil || e.Data["text/plain"] != "1" {
			t.Fatalf("after %s: %v %v", condition, e.Data, e.Error)
		}
		s, done = d.next(code)
	}
	d.breaks(code, `{"line":4,"logMessage":"a {ps[9]} b"}`)
	d.goOn(s)
	out := decode[struct{ Output string }](t, d.event("output"))
	if !strings.HasPrefix(out.Output, "a (") || !strings.Contains(out.Output, "index 9: the length is 2") || !strings.HasSuffix(out.Output, ") b\n") {
		t.Errorf("a log point that panics: %q", out.Output)
	}
	if e := d.wait(done); e.Error != nil {
		t.Error(e.Error)
	}
}

// A breakpoint belongs to the code that it was set in: changed code does not stop at it,
// and the old code still does.
func TestDebugChangedCode(t *testing.T) {
	d := attach(t)
	const before, after = "sum := 1\nsum++\nsum", "sum := 2\nsum++\nsum"
	d.breaks(before, line(2))
	d.expect("changed code", d.value(after), "3")
	s, done := d.next(before)
	d.expect("the old code", d.where(s), "breakpoint cell 2:2")
	d.breaks(before)
	d.ends(s, done)
	const kernel = scale
	d.breaks(kernel, line(20))
	d.value(strings.Replace(kernel, "add.f32 %f2, %f1, %f1;", "add.f32 %f2, %f1, 0f3F800000;", 1))
	d.value(launchScale)
	d.value("launch()") // of the changed kernel: it does not stop
	d.value(kernel)
	s, done = d.next("launch()")
	d.expect("the old kernel", strings.Fields(d.where(s))[1], "scale:20")
	d.breaks(kernel)
	d.ends(s, done)
}
