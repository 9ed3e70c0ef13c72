package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

// stopsIn runs cells with a breakpoint in the one of a source, and returns the answer of the
// last cell once it has stopped there.
func stopsIn(t *testing.T, c *cellproc.Client, stopped <-chan bool, cells []string, source string, at int) <-chan cellproto.Event {
	t.Helper()
	ask := func(command, arguments string) response {
		done, err := c.Ask(t.Context(), cellproto.Request{Type: cellproto.Debug, Text: fmt.Sprintf(`{"type":"request","seq":1,"command":%q,"arguments":%s}`, command, arguments)})
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		return decode[response](t, json.RawMessage(done.Text))
	}
	if body := string(ask("debugInfo", `{}`).Body); !strings.Contains(body, `"isStarted":false`) || !strings.Contains(body, `"breakpoints":[]`) {
		t.Errorf("a fresh program: %s", body)
	}
	ask("initialize", `{}`)
	dumped := decode[struct{ SourcePath string }](t, ask("dumpCell", fmt.Sprintf(`{"code":%s}`, quoted(source))).Body)
	if r := ask("setBreakpoints", fmt.Sprintf(`{"source":{"path":%q},"breakpoints":[{"line":%d}]}`, dumped.SourcePath, at)); !r.Success {
		t.Fatal(r.Message)
	}
	answer := make(chan cellproto.Event, 1)
	for i, code := range cells {
		if i < len(cells)-1 {
			if e, err := c.Execute(t.Context(), code, i+1, func(cellproto.Event) {}); err != nil || e.Error != nil {
				t.Fatal(err, e.Error)
			}
			continue
		}
		if err := c.Begin(cellproto.Request{Code: code, Cell: i + 1}, func(cellproto.Event) {}, func(e cellproto.Event) { answer <- e }); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-stopped:
	case e := <-answer:
		t.Fatalf("the cell ended without a stop: %v", e.Error)
	case <-time.After(patience):
		t.Fatal("the cell does not stop")
	}
	return answer
}

// A restart and a shutdown end a program that has stopped in a cell, or in a kernel: the
// cell is answered, and a fresh program has no debugger and stops again when it gets one.
func TestDebugRestartAndShutdown(t *testing.T) {
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if program, err = filepath.Abs(program); err != nil {
		t.Fatal(err)
	}
	const f = "func f() int {\n\tkept := 2\n\treturn kept\n}"
	for name, x := range map[string]struct {
		cells  []string
		source string
		line   int
	}{
		"cell":   {[]string{f, "f()"}, f, 3},
		"kernel": {[]string{scale, launchScale, "launch()"}, scale, 20},
	} {
		t.Run(name, func(t *testing.T) {
			stopped := make(chan bool, 100)
			c, err := cellproc.Start(cellproc.Config{Program: program, Late: func(_ int, e cellproto.Event) { // no event of a cell
				if e.Type == cellproto.Debugged && strings.Contains(e.Text, `"event":"stopped"`) {
					stopped <- true
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ended := func(what string, answer <-chan cellproto.Event) {
				select {
				case e := <-answer:
					if e.Error == nil {
						t.Errorf("%s: the stopped cell has the value %v, expected an error", what, e.Data)
					}
				case <-time.After(patience):
					t.Fatalf("%s: the stopped cell is not answered", what)
				}
			}
			answer := stopsIn(t, c, stopped, x.cells, x.source, x.line)
			c.Kill()
			ended("restart", answer)
			answer = stopsIn(t, c, stopped, x.cells, x.source, x.line)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			ended("shutdown", answer)
		})
	}
}
