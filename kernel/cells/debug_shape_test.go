package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shapes are the fields of the bodies that ipykernel 7 with debugpy 1.8.22 sends for the
// requests of JupyterLab 4, recorded from a session: a breakpoint in a function, its
// variables, steps and the end. Those that say what debugpy supports are left out.
var shapes = map[string]string{
	"debugInfo":            "breakpoints copyToGlobals exceptionPaths[] hashMethod hashSeed isStarted richRendering stoppedThreads[] tmpFilePrefix tmpFileSuffix breakpoints[].breakpoints[].line breakpoints[].source",
	"initialize":           "exceptionBreakpointFilters[].default exceptionBreakpointFilters[].description exceptionBreakpointFilters[].filter exceptionBreakpointFilters[].label supportsConditionalBreakpoints supportsConfigurationDoneRequest supportsEvaluateForHovers supportsHitConditionalBreakpoints supportsLogPoints supportsModulesRequest supportsSetVariable",
	"dumpCell":             "sourcePath",
	"setBreakpoints":       "breakpoints[].id breakpoints[].line breakpoints[].source.path breakpoints[].verified",
	"inspectVariables":     "variables[].evaluateName variables[].name variables[].type variables[].value variables[].variablesReference",
	"threads":              "threads[].id threads[].name",
	"modules":              "modules[].id modules[].name modules[].path totalModules",
	"stackTrace":           "stackFrames[].column stackFrames[].id stackFrames[].line stackFrames[].name stackFrames[].source.path totalFrames",
	"scopes":               "scopes[].expensive scopes[].name scopes[].presentationHint scopes[].variablesReference",
	"variables":            "variables[].evaluateName variables[].name variables[].type variables[].value variables[].variablesReference",
	"source":               "content",
	"evaluate":             "result type variablesReference",
	"setVariable":          "type value variablesReference",
	"richInspectVariables": "data.text/plain",
	"copyToGlobals":        "type value variablesReference",
	"stopped":              "allThreadsStopped hitBreakpointIds[] preserveFocusHint reason threadId",
	"continued":            "allThreadsContinued threadId",
}

// fields adds the paths of the fields of a JSON value.
func fields(x any, path string, to map[string]bool) {
	to[path] = true
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			fields(v, strings.TrimPrefix(path+"."+k, "."), to)
		}
	case []any:
		to[path+"[]"] = true
		for _, v := range x {
			fields(v, path+"[]", to)
		}
	}
}

// The bodies of responses and events have the fields that those of ipykernel have.
func TestDebugShapes(t *testing.T) {
	d := attach(t)
	const code = "func area(w, h int) int {\n\ta := w * h\n\treturn a\n}\nsizes := map[string]int{\"w\": 2}\nx := area(sizes[\"w\"], 3)\nx"
	d.breaks(code, line(3))
	d.value("earlier := 1")
	done := d.startCell(code)
	stopped := d.event("stopped")
	s := decode[stop](t, stopped)
	frame := d.frames(s)[0]
	reference, _ := d.scope(frame.ID, "Locals")
	arguments := map[string]string{
		"initialize": `{}`, "debugInfo": `{}`, "dumpCell": `{"code":"x := 1"}`, "inspectVariables": `{}`, "threads": `{}`, "modules": `{}`,
		"setBreakpoints": fmt.Sprintf(`{"source":{"path":%q},"breakpoints":[{"line":3}],"sourceModified":false}`, frame.Source.Path),
		"stackTrace":     fmt.Sprintf(`{"threadId":%d}`, s.ThreadID), "scopes": fmt.Sprintf(`{"frameId":%d}`, frame.ID),
		"variables": fmt.Sprintf(`{"variablesReference":%d}`, reference), "source": fmt.Sprintf(`{"source":{"path":%q}}`, frame.Source.Path),
		"evaluate":             fmt.Sprintf(`{"expression":"a + 1","frameId":%d,"context":"repl"}`, frame.ID),
		"setVariable":          fmt.Sprintf(`{"variablesReference":%d,"name":"a","value":"7"}`, reference),
		"richInspectVariables": fmt.Sprintf(`{"variableName":"a","frameId":%d}`, frame.ID),
		"copyToGlobals":        fmt.Sprintf(`{"srcVariableName":"a","dstVariableName":"copied","srcFrameId":%d}`, frame.ID),
	}
	bodies := map[string]json.RawMessage{"stopped": stopped}
	for _, command := range slices.Sorted(maps.Keys(arguments)) {
		bodies[command] = d.must(command, arguments[command])
	}
	d.goOn(s)
	bodies["continued"] = d.event("continued")
	if e := d.wait(done); e.Data["text/plain"] != "7" {
		t.Errorf("the cell's value is %v, %v", e.Data, e.Error)
	}
	d.expect("the copy", d.value("copied + earlier"), "7") // of 6, before setVariable
	for name, want := range shapes {
		if bodies[name] == nil {
			t.Errorf("%s was not sent", name)
			continue
		}
		got := map[string]bool{}
		fields(decode[any](t, bodies[name]), "", got)
		for _, field := range strings.Fields(want) {
			if field != "exceptionBreakpointFilters[].default" && !got[field] {
				t.Errorf("%s has no %s: %s", name, field, bodies[name])
			}
		}
	}
}

// A pause stops the code that runs, wherever it is; a stop in a changed cell is that of
// the new source; breakpoints of a source that never runs disturb nothing.
func TestDebugPause(t *testing.T) {
	d := attach(t)
	done := d.startCell("n := 0\nfor n >= 0 {\n\tn++\n}\nn")
	d.must("pause", `{"threadId":1}`)
	s := d.stopped()
	for d.where(s) == "pause cell 1:1" { // on a busy machine the cell has only begun
		d.must("continue", fmt.Sprintf(`{"threadId":%d}`, s.ThreadID))
		d.must("pause", `{"threadId":1}`)
		s = d.stopped()
	}
	if where := d.where(s); where != "pause cell 1:3" && where != "pause cell 1:2" {
		t.Errorf("stop %s", where)
	}
	if r := d.ask("evaluate", fmt.Sprintf(`{"expression":"n = -10","frameId":%d,"context":"repl"}`, d.frames(s)[0].ID)); !r.Success {
		t.Error(r.Message)
	}
	d.ends(s, done)
	d.expect("n", d.value("n < 0"), "true")
	const before, after = "func f() int {\n\treturn 1\n}", "func f() int {\n\tx := 2\n\treturn x\n}"
	d.breaks(before, line(2))
	d.value(before)
	d.breaks(after, line(3))
	d.value(after)
	s, done = d.next("f()")
	d.expect("changed function", d.where(s), "breakpoint f:3 < cell 5:1")
	if e := d.ends(s, done); e.Data["text/plain"] != "2" {
		t.Errorf("%v %v", e.Data, e.Error)
	}
}

// Steps follow one goroutine, through a closure, a deferred call and a method of an earlier
// cell; another goroutine that waits at a breakpoint stops after it.
func TestDebugStepsInGoroutines(t *testing.T) {
	d := attach(t)
	d.value("type T struct{ n int }\nfunc (t *T) Add(k int) {\n\tt.n += k\n}")
	const code = `import "sync"
func work(t *T, k int) {
	defer func() {
		t.Add(100)
	}()
	add := func(x int) {
		t.Add(x)
	}
	add(k)
}
list := []*T{{}, {}}
var wg sync.WaitGroup
for i, t := range list {
	wg.Go(func() { work(t, i+1) })
}
wg.Wait()
list[0].n + list[1].n`
	d.breaks(code, line(9))
	s, done := d.next(code)
	first := s.ThreadID
	for _, step := range [][2]string{{"stepIn", "step work.func2:7"}, {"stepIn", "step (*T).Add:3"}, {"stepIn", "step work.func1:4"}} {
		s = d.step(step[0], s)
		if where := d.where(s); !strings.HasPrefix(where, step[1]+" <") || s.ThreadID != first {
			t.Errorf("%s: %s of %d, want %s of %d", step[0], where, s.ThreadID, step[1], first)
		}
	}
	d.goOn(s)
	s = d.stopped()
	if s.ThreadID == first || !strings.HasPrefix(d.where(s), "breakpoint work:9") {
		t.Errorf("second goroutine: %s of %d", d.where(s), s.ThreadID)
	}
	if e := d.ends(s, done); e.Data["text/plain"] != "203" {
		t.Errorf("%v %v", e.Data, e.Error)
	}
}
