package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// controls is a running display.Interact, as its client sees it.
type controls struct {
	*client
	ids    map[string]string // of the comms, by the description; "": the box
	states map[string]map[string]any
	result string // id of the result's display
}

// interact runs a cell that calls display.Interact and returns what it opens.
func (c *client) interact(code, place string) *controls {
	c.t.Helper()
	c.cell++
	done := c.wait(c.send(cellproto.Request{Type: cellproto.Execute, Code: code, Cell: c.cell, Pipes: true, Place: place}))
	if done.Error != nil {
		c.t.Fatalf("%s\n%v", code, done.Error.Traceback)
	}
	x := &controls{client: c, ids: map[string]string{}, states: map[string]map[string]any{}}
	for x.result == "" {
		e := <-c.shown
		for _, m := range e.Comms {
			if m.Type != "comm_open" {
				continue
			}
			var data struct{ State map[string]any }
			if err := json.Unmarshal(m.Data, &data); err != nil || m.Target != "jupyter.widget" || len(m.Metadata) == 0 {
				c.t.Fatalf("opening %+v: %v", m, err)
			}
			name, _ := data.State["description"].(string)
			x.ids[name], x.states[name] = m.ID, data.State
		}
		x.result = e.Display
	}
	return x
}

// says sends a message to a control and returns the answers and whether to follow.
func (x *controls) says(control, data string) ([]cellproto.Comm, bool) {
	x.t.Helper()
	done := x.wait(x.send(cellproto.Request{Type: cellproto.CommMessage, Comm: &cellproto.Comm{Type: "comm_msg", ID: x.ids[control], Data: json.RawMessage(data)}}))
	return done.Comms, done.Follow
}

// follows sends a message to a control and the request that calls the function.
func (x *controls) follows(control, data string) chan cellproto.Event {
	x.t.Helper()
	if _, follow := x.says(control, data); !follow {
		x.t.Fatalf("%s %s does not call the function", control, data)
	}
	return x.follow()
}

func (x *controls) follow() chan cellproto.Event {
	return x.send(cellproto.Request{Type: cellproto.Execute, Follow: true, Silent: true})
}

// moved is the text of the result after a message to a control.
func (x *controls) moved(control, data string) string {
	x.t.Helper()
	return textOf(x.replaced(x.follows(control, data)))
}

// replaced is the result that a follow request shows.
func (x *controls) replaced(following chan cellproto.Event) cellproto.Event {
	x.t.Helper()
	x.wait(following)
	for {
		e := x.next()
		if e.Type == cellproto.Display && e.Update && e.Display == x.result {
			return e
		}
		x.t.Errorf("shown beside the result: %+v", e)
	}
}

// next is what is shown next.
func (c *client) next() cellproto.Event {
	c.t.Helper()
	select {
	case e := <-c.shown:
		return e
	case <-time.After(patience):
		c.t.Fatal("nothing is shown")
	}
	panic("unreachable")
}

func textOf(e cellproto.Event) string {
	text, _ := e.Data["text/plain"].(string)
	return text
}

func value(v any) string {
	return fmt.Sprintf(`{"method":"update","state":{"value":%v},"buffer_paths":[]}`, v)
}

const interactive = `import ("fmt"; "errors"; "warpbook/kernel/display")
calls := 0
display.Interact(func(stride int, padded bool) (any, error) {
	calls++
	switch stride {
	case 5: panic("five")
	case 6: return nil, errors.New("six")
	case 7: for {}
	case 8: fmt.Println("eight"); return nil, nil
	case 9: fmt.Println("before"); var none []int; return none[stride], nil
	}
	return fmt.Sprint(stride, padded), nil
}, display.Slider("stride", 1, 64).At(2), display.Checkbox("padded"), display.Button("again"))`

// TestInteract: a control's change calls the function and replaces its result.
func TestInteract(t *testing.T) {
	c := start(t)
	x := c.interact(interactive, "")
	if s := x.states["stride"]; s["_model_name"] != "IntSliderModel" || s["value"] != 2.0 || s["max"] != 64.0 {
		t.Errorf("the slider's state is %v", s)
	}
	if s := x.states[""]; s["_view_name"] != "VBoxView" || fmt.Sprint(s["children"]) != fmt.Sprintf("[IPY_MODEL_%s IPY_MODEL_%s IPY_MODEL_%s]", x.ids["stride"], x.ids["padded"], x.ids["again"]) {
		t.Errorf("the box's state is %v", s)
	}
	for _, step := range []struct{ control, data, want string }{
		{"stride", value(17), "17 false"},
		{"padded", value(true), "17 true"},
		{"again", `{"method":"custom","content":{"event":"click"}}`, "17 true"},
		{"stride", value(5), "panic: five"},
		{"stride", value(6), "six"},
		{"stride", value(8), "eight"},
		{"stride", value(9), "before\npanic: runtime error: index out of range [9] with length 0"},
		{"stride", value(3), "3 true"},
	} {
		if got := x.moved(step.control, step.data); !strings.HasPrefix(got, step.want) {
			t.Errorf("%s %s gives %q, want %q", step.control, step.data, got, step.want)
		}
	}
	if got := c.value("calls"); got != "9" {
		t.Errorf("the function was called %s times, want 9", got)
	}
	if got := c.out.take(); got != "" {
		t.Errorf("printed beside the result: %q", got)
	}
}

// TestInteractLatest: several changes before a call lead to one call.
func TestInteractLatest(t *testing.T) {
	c := start(t)
	x := c.interact(interactive, "")
	for n := 10; n < 30; n++ {
		x.says("stride", value(n))
	}
	x.says("padded", value(true))
	if got := textOf(x.replaced(x.follow())); got != "29 true" {
		t.Errorf("the result is %q", got)
	}
	if got := c.value("calls"); got != "2" {
		t.Errorf("the function was called %s times, want 2", got)
	}
}

// TestInteractInterrupt: an interrupt ends a call, and the next change calls again.
func TestInteractInterrupt(t *testing.T) {
	c := start(t)
	x := c.interact(interactive, "")
	if e := c.interrupt(x.follows("stride", value(7))); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("the answer is %+v", e.Error)
	}
	if e := <-c.shown; !e.Update || e.Display != x.result || !strings.Contains(fmt.Sprint(e.Data["text/plain"]), "interrupted") {
		t.Errorf("the result is %+v", e)
	}
	if got := x.moved("stride", value(4)); got != "4 false" {
		t.Errorf("the next result is %q", got)
	}
}

// TestInteractRerun: a cell that runs again closes the controls of its last run, and of no
// other cell.
func TestInteractRerun(t *testing.T) {
	c := start(t)
	first, other := c.interact(interactive, "a"), c.interact(strings.Split(interactive, "calls := 0")[1], "b")
	again := c.send(cellproto.Request{Type: cellproto.Execute, Code: "calls", Cell: 3, Place: "a"})
	c.wait(again)
	e := <-c.shown
	closed := map[string]bool{}
	for _, m := range e.Comms {
		closed[m.ID] = m.Type == "comm_close"
	}
	for name, id := range first.ids {
		if !closed[id] || closed[other.ids[name]] {
			t.Errorf("control %q: %+v", name, e)
		}
	}
	if answers, follow := first.says("stride", value(3)); follow || len(answers) != 1 || answers[0].Type != "comm_close" {
		t.Errorf("a closed control answers %+v, %v", answers, follow)
	}
	if got := other.moved("stride", value(3)); got != "3 false" {
		t.Errorf("the other cell's result is %q", got)
	}
	if open := c.wait(c.send(cellproto.Request{Type: cellproto.AskComms})).Comms; len(open) != len(other.ids) {
		t.Errorf("%d comms are open, want %d", len(open), len(other.ids))
	}
}

// TestInteractShown: what the function shows is part of its result, which is one output.
func TestInteractShown(t *testing.T) {
	c := start(t)
	x := c.interact(`import ("fmt"; "warpbook/kernel/display")
display.Interact(func(way string) any {
	fmt.Println("way", way)
	display.Show(display.HTML("<b>bold</b>"))
	return way
}, display.Choice("way", "down", "up"))`, "")
	if got, want := x.moved("way", `{"method":"update","state":{"index":1}}`), "way up\nbold\nup"; got != want {
		t.Errorf("the result is %q, want %q", got, want)
	}
}

// TestInteractRefuses: what does not fit fails the cell with one line.
func TestInteractRefuses(t *testing.T) {
	c := start(t)
	c.value(`import "warpbook/kernel/display"`)
	for code, want := range map[string]string{
		`display.Interact(3, display.Checkbox("a"))`:                                                                            "int, expected a function",
		`display.Interact(func() {})`:                                                                                           "no controls",
		`display.Interact(func(n int) {}, display.Slider("a", 5, 5))`:                                                           `slider "a": from 5 to 5, expected a first number below the last`,
		`display.Interact(func(n int) {}, display.Slider(" ", 1, 5))`:                                                           "control 1 has no name",
		`display.Interact(func(n int) {}, nil)`:                                                                                 "control 1 is nil",
		`display.Interact(func(n, m int) {}, display.Slider("a", 1, 5))`:                                                        "expected 1 parameters, one for each control that has a value",
		`display.Interact(func(n, m int) {}, display.Slider("a", 1, 5), display.Slider("a", 1, 5))`:                             `two controls have the name "a"`,
		`display.Interact(func(s string) {}, display.Slider("a", 1, 5))`:                                                        `string does not take the values of slider "a": an integer from 1 to 5`,
		`display.Interact(func(n int8) {}, display.Slider("a", 1, 500))`:                                                        `int8 does not take the values`,
		`display.Interact(func(n uint) {}, display.Slider("a", -1, 5))`:                                                         `uint does not take the values`,
		`display.Interact(func(n int) {}, display.Slider("a", 1, 5).At(6))`:                                                     `slider "a": cannot begin at 6, expected an integer from 1 to 5`,
		`display.Interact(func(s string) {}, display.Choice("a"))`:                                                              `choice "a": no texts`,
		`display.Interact(func(s string) {}, display.Choice("a", "b").At("c"))`:                                                 `cannot begin at c`,
		`display.Interact(func(n int) { panic("first") }, display.Slider("a", 1, 5))`:                                           "first",
		`display.Interact(func(n int) { display.Interact(func(b bool) {}, display.Checkbox("b")) }, display.Slider("a", 1, 5))`: "called by the function of another interact",
	} {
		e := c.run(code)
		if e.Error == nil || !strings.Contains(e.Error.Value, want) || strings.Contains(e.Error.Value, "\n") {
			t.Errorf("%s: %v, want %q", code, e.Error, want)
		}
	}
	for len(c.shown) > 0 {
		t.Errorf("shown: %+v", <-c.shown)
	}
}

// TestInteractExplain: the picture of an access's bank conflicts follows a slider. The
// time depends on the machine's other work, the memory only on ours.
func TestInteractExplain(t *testing.T) {
	c := start(t)
	if e := c.run(`%%ptx
.version 7.0
.target sm_75
.address_size 64
.visible .entry strided(.param .u32 stride) {
	.reg .u32 %r<6>;
	.shared .align 4 .b8 tile[16384];
	mov.u32 %r1, %tid.x;
	ld.param.u32 %r2, [stride];
	mul.lo.u32 %r3, %r1, %r2;
	and.b32 %r3, %r3, 4095;
	shl.b32 %r3, %r3, 2;
	mov.u32 %r4, tile;
	add.u32 %r4, %r4, %r3;
	st.shared.u32 [%r4], %r1;
	ret;
}`); e.Error != nil {
		t.Fatal(e.Error)
	}
	x := c.interact(`import ("warpbook/gpu"; "warpbook/gpu/device"; "warpbook/gpu/explain"; "warpbook/kernel/display")
emulator, err := device.Open("emu")
if err != nil { panic(err) }
display.Interact(func(stride uint32) (*explain.Report, error) {
	return strided.Explain(emulator, gpu.Launch{Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{stride}})
}, display.Slider("stride", 1, 64))`, "")
	before, best := c.allocated(), time.Hour
	strides := []int{32, 2, 4, 8, 16, 32, 64, 2, 16, 32}
	for _, stride := range strides {
		began := time.Now()
		got := x.moved("stride", value(stride))
		best = min(best, time.Since(began))
		if want := fmt.Sprintf("%d wavefronts", min(stride, 32)); !strings.Contains(got, want) || !strings.Contains(got, "Bank 0 is asked for word 0") {
			t.Fatalf("stride %d: no %q in %s", stride, want, got)
		}
	}
	each := (c.allocated() - before) / float64(len(strides))
	t.Logf("the picture follows the slider after %.1f ms, target 100 ms on 2 quiet cores; a move allocates %.0f MB", best.Seconds()*1e3, each)
	if each > 130 {
		t.Errorf("a move allocates %.0f MB, expected at most 130: is the picture drawn as more than vectors?", each)
	}
}

// allocated returns how many MB the program has allocated since its start.
func (c *client) allocated() float64 {
	c.t.Helper()
	bytes := c.value("import \"runtime\"\nvar stats runtime.MemStats\nruntime.ReadMemStats(&stats)\nstats.TotalAlloc")
	n, err := strconv.ParseFloat(bytes, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return n / 1e6
}
