package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

const squares = `func square(x int) int {
	y := x * x
	return y
}

func sum(n int) (s int) {
	for i := range n {
		q := square(i)
		s += q
	}
	return s
}`

// A client sets a breakpoint in a cell that runs, steps, looks at the variables of each
// frame and goes on: the requests and the order of JupyterLab.
func TestDebugCells(t *testing.T) {
	d := attach(t)
	d.expect("breakpoints", d.breaks(squares, line(8), line(5)), "8 7")
	d.expect("breakpoints", d.breaks(squares, line(8)), "8")
	d.value(squares)
	done := d.startCell("total := sum(3)\ntotal")
	s := d.stopped()
	d.expect("first stop", d.where(s), "breakpoint sum:8 < cell 2:1")
	d.expect("locals", d.locals(s, 0), "n=3 s=0 i=0")

	s = d.step("stepIn", s)
	d.expect("step in", d.where(s), "step square:2 < sum:8 < cell 2:1")
	d.expect("locals", d.locals(s, 0), "x=0")
	d.expect("locals of the caller", d.locals(s, 1), "n=3 s=0 i=0")
	s = d.step("next", s)
	d.expect("next", d.where(s), "step square:3 < sum:8 < cell 2:1")
	s = d.step("stepOut", s)
	d.expect("step out", d.where(s), "step sum:9 < cell 2:1")
	d.expect("locals", d.locals(s, 0), "n=3 s=0 i=0 q=0")
	s = d.step("next", s)
	d.expect("next in the loop", d.where(s), "step sum:8 < cell 2:1")
	d.breaks(squares)
	s = d.step("stepOut", s)
	d.expect("step out to the cell", d.where(s), "step cell 2:2")
	d.goOn(s)
	if e := d.wait(done); e.Error != nil || e.Data["text/plain"] != "5" {
		t.Errorf("the cell's value is %v, %v", e.Data, e.Error)
	}
}

// next runs a cell that stops, and returns the stop.
func (d *debugged) next(code string) (stop, chan cellproto.Event) {
	d.t.Helper()
	done := d.startCell(code)
	return d.stopped(), done
}

// ends lets a cell go on to its end.
func (d *debugged) ends(s stop, done chan cellproto.Event) cellproto.Event {
	d.t.Helper()
	d.goOn(s)
	return d.wait(done)
}

// Goroutines, closures, deferred calls and methods of earlier cells stop, and a step over
// a call does not enter it.
func TestDebugFunctionsOfEveryKind(t *testing.T) {
	d := attach(t)
	const types = "type T struct{ n int; next *T }\nfunc (t *T) Add(k int) int {\n\tt.n += k\n\treturn t.n\n}"
	d.breaks(types, line(3))
	d.value(types)
	s, done := d.next("v := &T{n: 1}\nv.Add(2)")
	d.expect("method", d.where(s), "breakpoint (*T).Add:3 < cell 2:2")
	d.expect("receiver", d.locals(s, 0), "t=&{n: 1, next: nil} k=2")
	if e := d.ends(s, done); e.Data["text/plain"] != "3" {
		t.Errorf("%v %v", e.Data, e.Error)
	}

	d.breaks(types)
	const kinds = `import "sort"
func twice(f func(int) int) int { return f(f(1)) }
func kinds() (r int) {
	k := 10
	defer func() {
		r += k
	}()
	done := make(chan int)
	go func(x int) {
		done <- x + k
	}(5)
	r = <-done
	list := []int{3, 1, 2}
	sort.Slice(list, func(i, j int) bool {
		return list[i] < list[j]
	})
	return r + twice(func(n int) int {
		return n + k
	})
}`
	d.expect("lines", d.breaks(kinds, line(6), line(10), line(15), line(18)), "6 10 15 18")
	d.value(kinds)
	s, done = d.next("kinds()")
	d.expect("goroutine", d.where(s), "breakpoint kinds.func2.func2:10")
	d.expect("its variables", d.locals(s, 0), "k=10 done=0 of 0 x=5")
	d.goOn(s)
	s = d.stopped()
	d.expect("called by compiled code", d.where(s), "breakpoint kinds.func3:15 < kinds:14 < cell 4:1")
	d.breaks(kinds, line(18), line(6))
	d.goOn(s)
	s = d.stopped()
	d.expect("closure", d.where(s), "breakpoint kinds.func4:18 < twice:2 < kinds:17 < cell 4:1")
	d.breaks(kinds, line(6))
	d.goOn(s)
	s = d.stopped()
	d.expect("deferred call", strings.Fields(d.where(s))[1], "kinds.func1:6")
	d.expect("its variables", d.locals(s, 0), "r=36 k=10")
	if e := d.ends(s, done); e.Data["text/plain"] != "46" {
		t.Errorf("%v %v", e.Data, e.Error)
	}
}

// Conditions, hit counts and log points decide whether a breakpoint stops.
func TestDebugConditions(t *testing.T) {
	const loop = "type P struct{ x float64 }\nps := []P{{1}, {2}, {3}}\nfor i, p := range ps {\n\t_, _ = i, p\n}"
	for _, test := range []struct{ point, stops string }{
		{`{"line":4,"condition":"p.x > 1.5 && i < 2"}`, "1"},
		{`{"line":4,"condition":"ps[i].x == 3"}`, "2"},
		{`{"line":4,"hitCondition":"2"}`, "1"},
		{`{"line":4,"hitCondition":"% 2"}`, "1"},
		{`{"line":4,"condition":"len(ps) < i"}`, ""},
		{`{"line":4,"condition":"nowhere > 1"}`, "0 condition nowhere > 1: undefined: nowhere|1 condition nowhere > 1: undefined: nowhere|2 condition nowhere > 1: undefined: nowhere"},
		{`{"line":4,"condition":"i +"}`, "0 condition i +: i +: expected an expression of Go, or an assignment|1 condition i +: i +: expected an expression of Go, or an assignment|2 condition i +: i +: expected an expression of Go, or an assignment"},
		{`{"line":4,"condition":"i"}`, "0 condition i: it is int, expected a boolean|1 condition i: it is int, expected a boolean|2 condition i: it is int, expected a boolean"},
	} {
		d := attach(t)
		d.breaks(loop, test.point)
		done := d.startCell(loop)
		var stops []string
		for over := false; !over; {
			select {
			case e := <-d.shown:
				if r := decode[response](t, json.RawMessage(e.Text)); r.Event == "stopped" {
					s := decode[stop](t, r.Body)
					v := decode[struct{ Result string }](t, d.must("evaluate", fmt.Sprintf(`{"expression":"i","frameId":%d,"context":"repl"}`, d.frames(s)[0].ID)))
					stops = append(stops, strings.TrimSpace(v.Result+" "+s.Text))
					d.goOn(s)
				}
			case e := <-done:
				if over = true; e.Error != nil {
					t.Errorf("%s: %v", test.point, e.Error)
				}
			}
		}
		d.expect(test.point, strings.Join(stops, "|"), test.stops)
	}
	d := attach(t)
	d.expect("a wrong hit condition", d.breaks(loop, `{"line":4,"hitCondition":"often"}`), `hit condition "often": expected a number, or one after ==, >, >=, <, <= or %`)
	d.breaks(loop, `{"line":4,"logMessage":"i={i} x={p.x} {no}"}`)
	d.value(loop)
	for i := range 3 {
		out := decode[struct{ Output string }](t, d.event("output"))
		d.expect("log", out.Output, fmt.Sprintf("i=%d x=%d (undefined: no)\n", i, i+1))
	}
}

// Variables unfold, are assigned, and are evaluated in each frame; those of the session
// are listed without a client, too.
func TestDebugVariables(t *testing.T) {
	d := &debugged{client: start(t)}
	d.value("import \"fmt\"\nglobal := map[string][]int{\"a\": {1, 2}}\nvar none fmt.Stringer\nlong := make([]int, 12345)")
	list := decode[struct{ Variables []variable }](t, d.must("inspectVariables", `{}`)).Variables
	d.expect("globals before the start", text(list), "global=1 entries long=[0 0 0 0 0 0 0 0 … 12345] none=nil")
	inner := d.list(list[0].VariablesReference)
	d.expect("entries", text(inner), `["a"]=[1 2]`)
	d.expect("elements", text(d.list(inner[0].VariablesReference)), "[0]=1 [1]=2")
	if list[1].IndexedVariables != 0 || inner[0].IndexedVariables != 2 {
		t.Errorf("parts that have an index: %d of a list of ranges, %d of two elements", list[1].IndexedVariables, inner[0].IndexedVariables)
	}
	ranges := d.list(list[1].VariablesReference)
	d.expect("ranges", text(ranges[:2]), "[0 … 9999]=10000 elements [10000 … 12344]=2345 elements")
	if r := d.ask("stackTrace", `{"threadId":1}`); r.Success || !strings.Contains(r.Message, "has not started") {
		t.Errorf("stackTrace before initialize: %+v", r)
	}
	d.must("initialize", `{}`)
	d.value("type box struct{ n int }\nfunc (b *box) add(k int) int { b.n += k; return b.n }\nfunc twice(n int) int { return 2 * n }\nfunc largest[T int | float64](x, y T) T { return max(x, y) }\nfunc pair() (int, string) { return 1, \"two\" }\nfunc empty() {}")
	const f = "func f(a [3]int, s string, p *struct{ N int }, e error) string {\n\tvar any interface{} = a\n\tx := 1\n\treturn fmt.Sprint(a, s, p.N, e, any, x)\n}"
	d.breaks(f, line(4))
	d.value(f)
	s, done := d.next(`f([3]int{1, 2, 3}, "hi", &struct{ N int }{7}, nil)`)
	d.expect("locals", d.locals(s, 0), `a=[1 2 3] s="hi" p=&{N: 7} e=nil any=[1 2 3] x=1`)
	id := d.frames(s)[0].ID
	for expression, want := range map[string]string{
		"a[1]+x*2": "4", "s + \"!\"": `"hi!"`, "p.N": "7", "*p": "{N: 7}", "len(global[\"a\"])": "2", "e == nil": "true", "-x": "-1", "any": "[1 2 3]",
		"a[9]": "!index 9: the length is 3", "f(1)": "!not enough arguments in call to f", "1/0": "!division by zero", "q": "!undefined: q", "": "!expected an expression", "len(fmt.Sprint(a[:2], s))": "7", "[]int{x, 7}": "[1 7]", "func() int { x := 5; return x * a[2] }()": "15", "float64(x) / 2": "0.5",
		"map[string]int{s: x}[s]": "1", "'a'": "97", "twice(x + 1)": "4", "largest(a[0], 9)": "9", "new(box).add(4)": "4", "p.N; p.N": "!expected an expression", "strconv.Itoa(1)": "!undefined: strconv",
		"box{n: 3}": "{n: 3}", "any.([3]int)[2]": "3", "pair()": "1, \"two\"", "empty()": "", "a[3+x]": "!index 4", "func() { panic(s) }()": "!panic: hi", "[]int(nil)[x]": "!index out of range [1]",
		"none.x": "!nil has no parts", "x == s": "!", "s[:1]": `"h"`, "x << 70": "!expected a number of bits",
	} {
		r := d.ask("evaluate", fmt.Sprintf(`{"expression":%s,"frameId":%d,"context":"repl"}`, quoted(expression), id))
		got := r.Message
		if r.Success {
			got = decode[struct{ Result string }](t, r.Body).Result
		}
		if message, fails := strings.CutPrefix(want, "!"); r.Success == fails || fails && !strings.Contains(got, message) || !fails && got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
	reference, _ := d.scope(id, "Locals")
	set := func(name, value string) response {
		return d.ask("setVariable", fmt.Sprintf(`{"variablesReference":%d,"name":%q,"value":%s}`, reference, name, quoted(value)))
	}
	if r := set("x", "a[2]*10"); !r.Success {
		t.Errorf("x = a[2]*10: %s", r.Message)
	}
	if r := set("s", "3"); r.Success {
		t.Errorf("s = 3 was assigned")
	}
	globals, _ := d.scope(id, "Globals")
	if r := d.ask("setVariable", fmt.Sprintf(`{"variablesReference":%d,"name":"long","value":"nil"}`, globals)); !r.Success {
		t.Errorf("long = nil: %s", r.Message)
	}
	if e := d.ends(s, done); e.Data["text/plain"] != `"[1 2 3]hi7 <nil> [1 2 3] 30"` && e.Data["text/plain"] != "[1 2 3]hi7 <nil> [1 2 3] 30" {
		t.Errorf("%v %v", e.Data, e.Error)
	}
	d.expect("the assigned global", d.value("len(long)"), "0")
	if r := d.ask("variables", fmt.Sprintf(`{"variablesReference":%d}`, reference)); r.Success {
		t.Error("variables of an earlier stop were listed")
	}
}

// While a cell is stopped, the debugger answers, an interrupt ends the cell and keeps the
// variables, other cells run, and a client that leaves lets it go on.
func TestDebugWhileStopped(t *testing.T) {
	d := attach(t)
	const f = "kept := 1\nfunc f() int {\n\tkept = 2\n\treturn kept\n}"
	d.breaks(f, line(3))
	d.value(f)
	s, done := d.next("f()")
	info := string(d.must("debugInfo", `{}`))
	if !strings.Contains(info, fmt.Sprintf(`"stoppedThreads":[%d]`, s.ThreadID)) || !strings.Contains(info, `"isStarted":true`) {
		t.Errorf("debugInfo: %s", info)
	}
	_, beside := d.startBeside("kept + 40")
	if e := d.wait(beside); e.Data["text/plain"] != "41" {
		t.Errorf("a cell of a subshell: %v %v", e.Data, e.Error)
	}
	d.wait(d.send(cellproto.Request{Type: cellproto.Interrupt}))
	if e := d.wait(done); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("interrupt at a stop: %v", e.Error)
	}
	d.event("continued")
	if r := d.ask("continue", `{"threadId":1}`); r.Success || !strings.Contains(r.Message, "no thread is stopped") {
		t.Errorf("continue without a stop: %+v", r)
	}
	d.expect("kept", d.value("kept"), "1")

	_, done = d.next("f()")
	d.must("disconnect", `{"restart":false,"terminateDebuggee":false}`)
	if e := d.wait(done); e.Data["text/plain"] != "2" {
		t.Errorf("after the disconnect: %v %v", e.Data, e.Error)
	}
	d.expect("no breakpoint is left", d.value("f()"), "2")
}

// What is no request, or names nothing, is refused with its reason.
func TestDebugRefusals(t *testing.T) {
	d := attach(t)
	for request, reason := range map[string]string{
		``: "unexpected end of JSON", `[]`: "", `{"type":"request","seq":1,"command":"launch","arguments":{}}`: "does not have the request",
		`{"type":"request","seq":1,"command":"brew"}`: "brew", `{"type":"event","seq":1,"event":"stopped"}`: "",
		`{"type":"request","seq":1,"command":"setBreakpoints","arguments":{"source":{},"breakpoints":[{"line":1}]}}`: "no path",
		`{"type":"request","seq":1,"command":"source","arguments":{"source":{"path":"/etc/passwd"}}}`:                "no cell",
		`{"type":"request","seq":1,"command":"scopes","arguments":{"frameId":-4}}`:                                   "no thread is stopped",
		`{"type":"request","seq":1,"command":"variables","arguments":{"variablesReference":1000}}`:                   "earlier stop",
		`{"type":"request","seq":1,"command":"setExceptionBreakpoints","arguments":{"filters":["raised"]}}`:          `filter "raised"`,
	} {
		done := d.wait(d.send(cellproto.Request{Type: cellproto.Debug, Text: request}))
		r := decode[response](t, json.RawMessage(done.Text))
		if r.Success || r.Message == "" || !strings.Contains(r.Message, reason) {
			t.Errorf("%s: %s, want %q", request, done.Text, reason)
		}
	}
	var many []string
	for i := range 10_000 {
		many = append(many, line(i+1))
	}
	source := strings.Repeat("x := 1\nx++\n", 1)
	if got := d.breaks(source, many...); strings.Count(got, "no statement") != 9_998 {
		t.Errorf("10 000 breakpoints: %.100s", got)
	}
	if r := d.ask("setBreakpoints", fmt.Sprintf(`{"source":{"path":"x"},"breakpoints":[%s,{"line":1}]}`, strings.Join(many, ","))); r.Success {
		t.Error("10 001 breakpoints were set")
	}
	d.breaks("deleted := 1", line(1)) // a cell that never runs
	s, done := d.next(source)
	d.expect("stop", d.where(s), "breakpoint cell 1:1")
	d.ends(d.step("next", s), done)
}

const scale = `%%ptx
.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 x, .param .u32 n) {
	.reg .u64 %rd<4>;
	.reg .u32 %r<4>;
	.reg .f32 %f<3>;
	.reg .pred %p;
	.shared .align 4 .b8 tile[256];
	mov.u32 %r1, %tid.x;
	ld.param.u32 %r2, [n];
	setp.ge.u32 %p, %r1, %r2;
	@%p bra DONE;
	ld.param.u64 %rd1, [x];
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.f32 %f1, [%rd3];
	mov.u32 %r3, tile;
	add.f32 %f2, %f1, %f1;
	st.shared.f32 [%r3], 0f3F800000;
	st.global.f32 [%rd3], %f2;
DONE:
	bar.sync 0;
	ret;
}`

const launchScale = `import ("warpbook/gpu"; "warpbook/gpu/device")
dev, err := device.Open("emu")
values := make([]float32, 64)
for i := range values { values[i] = float32(i) }
x, err := dev.Alloc(gpu.Float32, 64)
_ = x.Upload(values)
launch := func() error { return scale.Launch(dev, gpu.Dim{X: 2}, gpu.Dim{X: 64}, x, uint32(40)) }`

// A breakpoint in the cell of a kernel stops a warp of the launch on the emulator at its
// line, with the lanes and what they see; steps follow the warp.
func TestDebugKernels(t *testing.T) {
	d := attach(t)
	d.breaks(scale, line(20))
	d.value(scale)
	d.value(launchScale)
	s, done := d.next("launch()")
	d.expect("stop", d.where(s), "breakpoint scale:20 < func1:7 < cell 3:1")
	f := d.frames(s)[0]
	_, thread := d.scope(f.ID, "Thread")
	d.expect("thread", text(thread[:6]), "threadIdx={x: 0, y: 0, z: 0} blockIdx={x: 0, y: 0, z: 0} blockDim={x: 64, y: 1, z: 1} gridDim={x: 2, y: 1, z: 1} warp=0 lane=0")
	d.expect("lanes", text(thread[6:8]), "active=0-31 exited=none")
	_, arguments := d.scope(f.ID, "Arguments")
	d.expect("arguments", arguments[1].Value, "40")
	_, registers := d.scope(f.ID, "Registers")
	lanes := d.list(registers[len(registers)-1].VariablesReference)
	d.expect("a lane of a register", lanes[3].Name+" "+lanes[3].Value[len(lanes[3].Value)-3:], "lane 3 (3)")
	_, others := d.scope(f.ID, "Warps")
	d.expect("other warps", text(others), "warp 1=line 13")
	s = d.step("next", s)
	d.expect("next", d.where(s), "step scale:21 < func1:7 < cell 3:1")
	s = d.step("next", s)
	_, shared := d.scope(d.frames(s)[0].ID, "Shared memory")
	d.expect("shared memory", shared[0].Name+" "+d.list(shared[0].VariablesReference)[0].Value, "tile 1")
	if e := d.ends(s, done); e.Error != nil {
		t.Fatalf("%v %v", e.Error, e.Error.Traceback)
	}
	d.breaks(scale, `{"line":20,"condition":"threadIdx.x == 37 && blockIdx.x == 1"}`)
	s, done = d.next("launch()")
	v := decode[struct{ Result string }](t, d.must("evaluate", fmt.Sprintf(`{"expression":"threadIdx.x + 100 * blockIdx.x","frameId":%d,"context":"repl"}`, d.frames(s)[0].ID)))
	d.expect("the lane of the condition", v.Result, "137")
	_, thread = d.scope(d.frames(s)[0].ID, "Thread")
	d.expect("active lanes", text(thread[6:7]), "active=0-7")
	d.wait(d.send(cellproto.Request{Type: cellproto.Interrupt}))
	if e := d.wait(done); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("interrupt in a kernel: %v", e.Error)
	}
	d.breaks(scale)
	if e := d.run("launch()"); e.Error != nil {
		t.Errorf("after the interrupt: %v", e.Error)
	}
}
