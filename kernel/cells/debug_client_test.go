package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// debugged is a client with a debugger, which speaks as JupyterLab's does.
type debugged struct {
	*client
	seq int
}

func attach(t testing.TB) *debugged {
	t.Helper()
	d := &debugged{client: start(t)}
	d.must("initialize", `{"clientID":"jupyterlab","adapterID":"warpbook","pathFormat":"path","linesStartAt1":true,"columnsStartAt1":true}`)
	d.must("attach", `{}`)
	return d
}

// response is a response, or an event, of the protocol.
type response struct {
	Type, Command, Event, Message string
	Success                       bool
	Seq                           int
	RequestSeq                    int `json:"request_seq"`
	Body                          json.RawMessage
}

func (d *debugged) ask(command, arguments string) (r response) {
	d.t.Helper()
	d.seq++
	done := d.wait(d.send(cellproto.Request{Type: cellproto.Debug, Text: fmt.Sprintf(`{"type":"request","seq":%d,"command":%q,"arguments":%s}`, d.seq, command, arguments)}))
	if err := json.Unmarshal([]byte(done.Text), &r); err != nil || r.Type != "response" || r.Command != command || r.RequestSeq != d.seq {
		d.t.Fatalf("%s %s: %v %s", command, arguments, err, done.Text)
	}
	return r
}

// must is the body of the response to a request that succeeds.
func (d *debugged) must(command, arguments string) json.RawMessage {
	d.t.Helper()
	r := d.ask(command, arguments)
	if !r.Success {
		d.t.Fatalf("%s %s: %s", command, arguments, r.Message)
	}
	return r.Body
}

func decode[T any](t testing.TB, data json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// breaks sets breakpoints in the source of a cell, given as JSON, and returns their
// lines.
func (d *debugged) breaks(code string, points ...string) string {
	d.t.Helper()
	path := decode[struct{ SourcePath string }](d.t, d.must("dumpCell", fmt.Sprintf(`{"code":%s}`, quoted(code)))).SourcePath
	set := decode[struct {
		Breakpoints []struct {
			Line     int
			Verified bool
			Message  string
		}
	}](d.t, d.must("setBreakpoints", fmt.Sprintf(`{"source":{"path":%q},"breakpoints":[%s],"sourceModified":false}`, path, strings.Join(points, ","))))
	var list []string
	for _, b := range set.Breakpoints {
		text := fmt.Sprint(b.Line)
		if !b.Verified {
			text = b.Message
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q)
}

func line(n int) string { return fmt.Sprintf(`{"line":%d}`, n) }

// stop is a stop that the client has been told of.
type stop struct {
	Reason   string
	ThreadID int
	Text     string
}

// event waits for an event of the debugger, without those of other names.
func (d *debugged) event(name string) json.RawMessage {
	d.t.Helper()
	for {
		select {
		case e := <-d.shown:
			if e.Type != cellproto.Debugged {
				continue
			}
			if r := decode[response](d.t, json.RawMessage(e.Text)); r.Event == name {
				return r.Body
			}
		case <-time.After(patience):
			d.t.Fatalf("no event %s within %v; stderr %s", name, patience, d.err.take())
		}
	}
}

func (d *debugged) stopped() stop {
	d.t.Helper()
	return decode[stop](d.t, d.event("stopped"))
}

type frame struct {
	ID     int
	Name   string
	Line   int
	Source struct{ Path string }
}

func (d *debugged) frames(s stop) []frame {
	d.t.Helper()
	return decode[struct{ StackFrames []frame }](d.t, d.must("stackTrace", fmt.Sprintf(`{"threadId":%d}`, s.ThreadID))).StackFrames
}

// where is a stop in one line: its reason, and its frames from the innermost.
func (d *debugged) where(s stop) string {
	d.t.Helper()
	var list []string
	for _, f := range d.frames(s) {
		list = append(list, fmt.Sprintf("%s:%d", f.Name, f.Line))
	}
	return s.Reason + " " + strings.Join(list, " < ")
}

type variable struct {
	Name, Value, Type  string
	VariablesReference int
	IndexedVariables   int
}

// scope are the variables of a scope of a frame.
func (d *debugged) scope(frame int, name string) (reference int, list []variable) {
	d.t.Helper()
	scopes := decode[struct{ Scopes []variable }](d.t, d.must("scopes", fmt.Sprintf(`{"frameId":%d}`, frame))).Scopes
	for _, s := range scopes {
		if s.Name == name {
			return s.VariablesReference, d.list(s.VariablesReference)
		}
	}
	d.t.Fatalf("no scope %s in %v", name, scopes)
	return 0, nil
}

func (d *debugged) list(reference int) []variable {
	d.t.Helper()
	return decode[struct{ Variables []variable }](d.t, d.must("variables", fmt.Sprintf(`{"variablesReference":%d}`, reference))).Variables
}

func text(list []variable) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, v.Name+"="+v.Value)
	}
	return strings.Join(parts, " ")
}

// locals are the local variables of the n-th frame.
func (d *debugged) locals(s stop, n int) string {
	d.t.Helper()
	_, list := d.scope(d.frames(s)[n].ID, "Locals")
	return text(list)
}

// step sends a request that moves the thread, and waits for the next stop.
func (d *debugged) step(command string, s stop) stop {
	d.t.Helper()
	d.must(command, fmt.Sprintf(`{"threadId":%d}`, s.ThreadID))
	return d.stopped()
}

func (d *debugged) goOn(s stop) {
	d.t.Helper()
	d.must("continue", fmt.Sprintf(`{"threadId":%d}`, s.ThreadID))
}

// expect compares two texts.
func (d *debugged) expect(what, got, want string) {
	d.t.Helper()
	if got != want {
		d.t.Errorf("%s: %q, want %q", what, got, want)
	}
}
