package debug

import (
	"strings"
	"testing"
)

// changing is a debuggee whose globals change while they are read.
type changing struct{ list []Variable }

func (c *changing) Lines(string) []int            { return nil }
func (c *changing) Watch(Watch)                   {}
func (c *changing) Globals() []Variable           { return c.list[:3] }
func (c *changing) Find(string) (Variable, error) { return c.list[3], nil }

// A request that reads a value while it changes fails alone.
func TestValueChangesWhileRead(t *testing.T) {
	s := NewSession(Sources{}, func(string) {})
	s.Attach(&changing{})
	for _, request := range []string{`"inspectVariables"`, `"richInspectVariables","arguments":{"variableName":"x"}`} {
		got := s.Handle(`{"type":"request","seq":7,"command":` + request + `}`)
		if !strings.Contains(got, `"success":false`) || !strings.Contains(got, "the value changed while it was read: runtime error") {
			t.Errorf("%s: %s", request, got)
		}
	}
	if got := s.Handle(`{"type":"request","seq":8,"command":"debugInfo"}`); !strings.Contains(got, `"success":true`) {
		t.Errorf("the next request: %s", got)
	}
}

// watched notes the last Watch.
type watched struct {
	changing
	last Watch
}

func (w *watched) Watch(last Watch) { w.last = last }

// An event tells a client that it can configure, and a pause without a stop ends with its
// session.
func TestSessions(t *testing.T) {
	var events []string
	s, d := NewSession(Sources{}, func(event string) { events = append(events, event) }), &watched{}
	s.Attach(d)
	for _, command := range []string{"initialize", "attach", "pause"} {
		if got := s.Handle(`{"type":"request","seq":1,"command":"` + command + `","arguments":{}}`); !strings.Contains(got, `"success":true`) {
			t.Fatalf("%s: %s", command, got)
		}
	}
	if len(events) != 1 || !strings.Contains(events[0], `"event":"initialized"`) {
		t.Errorf("events %q, want initialized", events)
	}
	if !d.last.Pause {
		t.Error("the pause does not reach the debuggee")
	}
	s.Handle(`{"type":"request","seq":1,"command":"disconnect","arguments":{}}`)
	s.Handle(`{"type":"request","seq":1,"command":"initialize","arguments":{}}`)
	if d.last.Pause || !d.last.On {
		t.Errorf("after the next start: %+v, want no pause", d.last)
	}
}
