package main

import (
	"testing"
	"time"

	"warpbook/kernel/frame"
)

// question is the next Input event.
func (c *client) question() frame.Event {
	c.t.Helper()
	for {
		select {
		case e := <-c.shown:
			if e.Type == frame.Input {
				return e
			}
		case <-time.After(patience):
			c.t.Fatal("nothing was asked")
		}
	}
}

// A cell asks, and gets each answer that the session gives.
func TestInput(t *testing.T) {
	c := start(t)
	c.value("import (\"fmt\"; \"warpbook/kernel/display\")\nvar n int\nvar a, b string")
	for _, x := range []struct{ code, prompt, answer, refusal, want string }{
		{`display.Ask("name: ")`, "name: ", "Ada L.", "", "Ada L."},
		{`display.AskSecret("secret: ")`, "secret: ", "", "", ""},
		{"fmt.Scanln(&a, &b)\nb + a", "", "x y", "", "yx"},
		{"fmt.Scanln(&n)\nn + 1", "", "41", "", "42"},
		{"fmt.Scanf(\"%d-%s\\n\", &n, &a)\nfmt.Sprint(n, a)", "", "7-z", "", "7z"},
		{"_, err := display.Ask(\"\")\nfmt.Sprint(err)", "", "", "not here", "display: ask: not here"},
		{"_, err2 := fmt.Scan(&n)\nfmt.Sprint(err2)", "", "", "not here", "display: ask: not here"},
	} {
		done := c.startCell(x.code)
		q := c.question()
		if q.Text != x.prompt || q.ID == 0 || q.Password != (x.prompt == "secret: ") {
			t.Errorf("%s: asked %+v, want the prompt %q", x.code, q, x.prompt)
		}
		c.post(frame.Request{ID: q.ID, Type: frame.Reply, Text: x.answer, Error: x.refusal})
		if e := c.wait(done); e.Data["text/plain"] != x.want {
			t.Errorf("%s: %v %v, want %q", x.code, e.Data, e.Error, x.want)
		}
	}
}

// An interrupt ends a question at once, and an answer that comes then is not
// that of the next one.
func TestInputIsInterrupted(t *testing.T) {
	c := start(t)
	c.value(`import "warpbook/kernel/display"`)
	done := c.startCell(`display.Ask("first: ")`)
	first := c.question()
	c.wait(c.send(frame.Request{Type: frame.Interrupt}))
	if e := c.wait(done); e.Error == nil {
		t.Errorf("ended with %v, want an error", e.Data)
	}
	c.post(frame.Request{ID: first.ID, Type: frame.Reply, Text: "too late"})
	done = c.startCell(`display.Ask("second: ")`)
	c.post(frame.Request{ID: c.question().ID, Type: frame.Reply, Text: "right"})
	if e := c.wait(done); e.Data["text/plain"] != "right" {
		t.Errorf("got %v %v, want right", e.Data, e.Error)
	}
}
