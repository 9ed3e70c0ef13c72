package server

import (
	"strings"
	"testing"
	"time"

	"warpbook/kernel/jupyter"
)

const aborted = `execute_reply {"execution_count":1,"status":"aborted"}`

// A failing cell aborts the cells sent before its reply.
func TestFailureAbortsTheQueue(t *testing.T) {
	k := start(t)
	c := k.connect()
	first := k.block(c, "")
	second := c.send("shell", "execute_request", cell("print 2"))
	other := c.send("shell", "is_complete_request", `{"code":"x"}`)
	third := c.send("shell", "execute_request", cell("print 3"))
	behind := c.send("shell", "kernel_info_request", `{}`) // answered at once: the others have arrived
	c.reply("shell", behind)
	c.published(behind)
	k.cells.Interrupt()
	if got := c.reply("shell", first); !strings.Contains(got, `"status":"error"`) {
		t.Errorf("first: %s", got)
	}
	for _, id := range []string{second, third} {
		if id == third {
			if got := c.reply("shell", other); got != `is_complete_reply {"status":"complete"}` {
				t.Errorf("not an execute: %s", got)
			}
		}
		if got := c.reply("shell", id); got != aborted {
			t.Errorf("got %s, want %s", got, aborted)
		}
	}
	c.published(first)
	for _, id := range []string{second, other, third} {
		equal(t, "iopub", c.published(id), []string{busy, idle})
	}
}

// A failing cell does so however quickly it fails, and whenever the others arrive; it
// never aborts a cell sent after the reply.
func TestFailureAbortsExactly(t *testing.T) {
	c := start(t).connect()
	judged := 0
	for i := range 200 {
		asked := time.Now()
		header, late := c.request("execute_request", cell("print late"))
		first := c.send("shell", "execute_request", cell("fail no"))
		failed := c.reply("shell", first)
		c.transmit("shell", late) // as if still in transit
		after := c.send("shell", "execute_request", cell("print after"))
		if !strings.Contains(failed, `"status":"error"`) {
			t.Fatalf("%d: %s", i, failed)
		}
		if got := c.reply("shell", header.ID); strings.Contains(got, `"status":"aborted"`) {
			judged++
		} else if time.Since(asked) < inFlight { // otherwise the machine delayed it for longer
			t.Fatalf("%d: sent before the failure: %s", i, got)
		}
		if got := c.reply("shell", after); !strings.Contains(got, `"status":"ok"`) {
			t.Fatalf("%d: sent after the reply: %s", i, got)
		}
		for _, id := range []string{first, header.ID, after} {
			c.published(id)
		}
	}
	if judged == 0 {
		t.Error("none arrived in time")
	}
}

func TestAbortsByTheClock(t *testing.T) {
	at := time.Now()
	for _, test := range []struct {
		name          string
		arrived, sent time.Duration // after the failure
		want          bool
	}{
		{"queued", -time.Millisecond, -2 * time.Millisecond, true},
		{"queued, clock ahead", -time.Millisecond, time.Hour, true},
		{"on its way", time.Millisecond, -time.Microsecond, true},
		{"sent after", time.Millisecond, time.Microsecond, false},
		{"clock behind", inFlight, -time.Hour, false},
	} {
		c := &call{arrived: at.Add(test.arrived)}
		c.sent = at.Add(test.sent)
		if got := (failure{at: at}).aborts(c); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	undated := &call{arrived: at.Add(time.Millisecond)}
	if (failure{at: at}).aborts(undated) {
		t.Error("a request without a date was aborted")
	}
	if (failure{}).aborts(undated) {
		t.Error("aborted without a failure")
	}
}

func TestStopOnErrorFalseAbortsNothing(t *testing.T) {
	c := start(t).connect()
	first := c.send("shell", "execute_request", `{"code":"sleep\nfail no","stop_on_error":false}`)
	second := c.send("shell", "execute_request", cell("print 2"))
	c.reply("shell", first)
	if got := c.reply("shell", second); got != ok(2) {
		t.Errorf("got %s, want %s", got, ok(2))
	}
}

func TestInterruptStopsTheCellAndTheQueue(t *testing.T) {
	k := start(t)
	c := k.connect()
	first := c.send("shell", "execute_request", cell("block"))
	<-k.cells.running
	second := c.send("shell", "execute_request", cell("print 2"))
	control := c.send("control", "interrupt_request", `{}`)
	if got := c.reply("control", control); got != `interrupt_reply {"status":"ok"}` {
		t.Errorf("got %s", got)
	}
	want := failed("interrupted", "while blocked", `["line 1"]`, 1)
	if got := c.reply("shell", first); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := c.reply("shell", second); got != aborted {
		t.Errorf("got %s, want %s", got, aborted)
	}
}

// A client whose clock is seconds behind or ahead is judged like any other: cells sent
// after the reply run, cells sent before are aborted.
func TestClientsWithAnotherClock(t *testing.T) {
	for _, skew := range []time.Duration{-5 * time.Second, -50 * time.Millisecond, 5 * time.Second, time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			c := start(t).connect()
			dated := func(code string) (string, [][]byte) {
				header := jupyter.NewHeader(c.session, "execute_request")
				header.Date = time.Now().Add(skew).UTC().Format(time.RFC3339Nano)
				return header.ID, c.encode(jupyter.Message{Header: header, Content: []byte(cell(code))})
			}
			const judged, tries = 20, 1000
			for i, n := 0, 0; n < judged; i++ {
				if i == tries {
					t.Fatalf("%d of %d cells arrived in time, expected %d", n, i, judged)
				}
				asked := time.Now()
				late, lateFrames := dated("print late")
				first, frames := dated("fail no")
				c.transmit("shell", frames)
				c.reply("shell", first)
				after, afterFrames := dated("print after")
				c.transmit("shell", lateFrames) // as if still in transit
				c.transmit("shell", afterFrames)
				if got := c.reply("shell", late); strings.Contains(got, `"status":"aborted"`) {
					n++
				} else if time.Since(asked) < inFlight { // otherwise the machine delayed it for longer
					t.Fatalf("%d: sent before the failure: %s", i, got)
				}
				if got := c.reply("shell", after); !strings.Contains(got, `"status":"ok"`) {
					t.Errorf("%d: sent after the reply: %s", i, got)
				}
				for _, id := range []string{first, late, after} {
					c.published(id)
				}
			}
		})
	}
}
