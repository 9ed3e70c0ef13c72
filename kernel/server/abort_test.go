package server

import (
	"fmt"
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

// dated makes a request whose date is moved, as by a client with another clock.
func (c *client) dated(code string, at time.Time, moved time.Duration) (id string, frames [][]byte) {
	header := jupyter.NewHeader(c.session, "execute_request")
	header.Date = at.Add(moved).UTC().Format(time.RFC3339Nano)
	return header.ID, c.encode(jupyter.Message{Header: header, Content: []byte(cell(code))})
}

// A cell sent with a failing one is aborted however quickly that fails and whenever the
// cell arrives; a cell sent after the reply never is. The client's clock may be wrong,
// and may be set back or forth between two requests, also during the failing cell.
func TestFailureAbortsExactly(t *testing.T) {
	second := time.Second
	for _, clock := range []struct{ off, step time.Duration }{{0, 0}, {-5 * second, 0}, {time.Hour, 0}, {0, -150 * time.Millisecond}, {second, -second}, {0, second}} {
		t.Run(fmt.Sprint(clock), func(t *testing.T) {
			c := start(t).connect()
			const tries = 30
			judged, off := 0, clock.off
			for i := range tries {
				asked := time.Now()
				first, firstFrames := c.dated("fail no", asked, off)
				late, lateFrames := c.dated("print late", asked, off)
				c.transmit("shell", firstFrames)
				if failed := c.reply("shell", first); !strings.Contains(failed, `"status":"error"`) {
					t.Fatalf("%d: %s", i, failed)
				}
				off += clock.step
				after, afterFrames := c.dated("print after", time.Now(), off)
				c.transmit("shell", lateFrames) // as if still in transit
				c.transmit("shell", afterFrames)
				if got := c.reply("shell", late); strings.Contains(got, `"status":"aborted"`) {
					judged++
				} else if time.Since(asked) < inFlight { // otherwise the machine delayed it for longer
					t.Fatalf("%d: sent before the failure: %s", i, got)
				}
				if got := c.reply("shell", after); !strings.Contains(got, `"status":"ok"`) {
					t.Fatalf("%d: sent after the reply: %s", i, got)
				}
				for _, id := range []string{first, late, after} {
					c.published(id)
				}
			}
			if judged == 0 {
				t.Error("none arrived in time")
			}
		})
	}
}

// A failure aborts the cells of other clients that have arrived, and no later ones.
func TestFailureOfAnotherClient(t *testing.T) {
	k := start(t)
	one, two := k.connect(), k.connect()
	first := k.block(one, "")
	queued := two.send("shell", "execute_request", cell("print queued"))
	behind := two.send("shell", "kernel_info_request", `{}`)
	two.reply("shell", behind)
	k.cells.Interrupt()
	one.reply("shell", first)
	if got := two.reply("shell", queued); got != aborted {
		t.Errorf("queued: %s", got)
	}
	late, frames := two.dated("print late", time.Now(), -50*time.Millisecond)
	two.transmit("shell", frames)
	if got := two.reply("shell", late); got != ok(2) {
		t.Errorf("sent after the failure: %s", got)
	}
}

func TestAbortsByArrivalAndDate(t *testing.T) {
	const ms = time.Millisecond
	at := time.Now()
	date := at.Add(time.Hour) // of the failed request, by the client's clock
	failed := failure{at: at, session: "one", sent: date, learned: date.Add(10 * ms)}
	for _, test := range []struct {
		name          string
		arrived, sent time.Duration // after the failure, and after the failed request
		session       string
		want          bool
	}{
		{"queued", -ms, 5 * ms, "one", true},
		{"queued, of another client", -ms, -time.Hour, "two", true},
		{"on its way", ms, 9 * ms, "one", true},
		{"on its way, sent at once", ms, 0, "one", true},
		{"sent after", ms, 10 * ms, "one", false},
		{"clock set back", ms, -ms, "one", false},
		{"too late", inFlight, 5 * ms, "one", false},
		{"of another client", ms, 5 * ms, "two", false},
	} {
		c := &call{arrived: at.Add(test.arrived)}
		c.request.Header = jupyter.Header{Session: test.session, Date: date.Add(test.sent).UTC().Format(time.RFC3339Nano)}
		if got := failed.aborts(c); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	undated := &call{arrived: at.Add(ms)}
	undated.request.Header.Session = "one"
	if failed.aborts(undated) || failureOf(undated).aborts(&call{arrived: time.Now().Add(ms)}) {
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
