package display

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// collect directs events into a list for the length of a test. Events may
// come from any goroutine; the list is read through the returned function.
func collect(t *testing.T) func() []cellproto.Event {
	var mu sync.Mutex
	var events []cellproto.Event
	SetSink(func(e cellproto.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	})
	t.Cleanup(func() { SetSink(nil) })
	return func() []cellproto.Event {
		mu.Lock()
		defer mu.Unlock()
		return append([]cellproto.Event(nil), events...)
	}
}

func TestShowAndClear(t *testing.T) {
	events := collect(t)
	Show(1, "two")
	Clear(true)
	got := events()
	if len(got) != 3 || got[0].Data[textPlain] != "1" || got[1].Data[textPlain] != "two" ||
		got[0].Type != cellproto.Display || got[0].Display != "" || got[2].Type != cellproto.Clear || !got[2].Wait {
		t.Errorf("got %+v", got)
	}
}

func TestHandleUpdates(t *testing.T) {
	events := collect(t)
	a, b := New("a"), New("b")
	a.Update("a2")
	got := events()
	if got[0].Display == "" || got[0].Display == got[1].Display || got[0].Update {
		t.Errorf("new displays: %+v", got[:2])
	}
	if got[2].Display != got[0].Display || !got[2].Update || got[2].Data[textPlain] != "a2" {
		t.Errorf("update: %+v", got[2])
	}
	b.Update(1)
}

func TestConcurrentUpdates(t *testing.T) {
	events := collect(t)
	h, p := New(0), NewProgress(800, "work")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				h.Update(i)
				p.Add(1)
			}
		})
	}
	wg.Wait()
	p.Done()
	updates := 0
	for _, e := range events() {
		if e.Display == h.id && e.Update {
			updates++
		}
	}
	if updates != 800 {
		t.Errorf("%d updates of 800", updates)
	}
	last := events()[len(events())-1]
	if text, ok := last.Data[textPlain].(string); !ok || text != "" || last.Data[textHTML] != "" {
		t.Errorf("last update: %v", last.Data)
	}
}

// clock is a time that tests move, and its timers, which run when moved past.
type clock struct {
	now    time.Time
	timers []timer
}

type timer struct {
	at time.Time
	f  func()
}

func (c *clock) after(d time.Duration, f func()) {
	c.timers = append(c.timers, timer{c.now.Add(d), f})
}

func (c *clock) advance(d time.Duration) {
	c.now = c.now.Add(d)
	var later []timer
	due := c.timers
	c.timers = nil
	for _, timer := range due {
		if timer.at.After(c.now) {
			later = append(later, timer)
			continue
		}
		timer.f()
	}
	c.timers = append(c.timers, later...)
}

func testProgress(total int) (*Progress, *clock) {
	c := &clock{now: time.Unix(0, 0)}
	return newProgress(total, "reduce", func() time.Time { return c.now }, c.after), c
}

func TestProgressIsThrottled(t *testing.T) {
	events := collect(t)
	p, c := testProgress(10_000)
	for i := range 2000 { // 2 s
		p.Step(i+1, 10_000, fmt.Sprint("v", i+1))
		if len(c.timers) > 1 {
			t.Fatalf("%d timers at once", len(c.timers))
		}
		c.advance(time.Millisecond)
	}
	if n := len(events()); n < 19 || n > 21 {
		t.Errorf("%d events in 2 s, expected 20", n)
	}
	p.Step(2001, 10_000, "stalled")
	c.advance(time.Second)
	if got := lastText(events()); got != "reduce ██████░░░░░░░░░░░░░░░░░░░░░░░░ 2001/10000 stalled" {
		t.Errorf("a step before a pause is shown as %q", got)
	}
	n := len(events())
	c.advance(time.Second)
	if len(events()) != n {
		t.Errorf("an update without a change")
	}
}

func TestProgressEnds(t *testing.T) {
	events := collect(t)
	p, c := testProgress(3)
	p.Add(1)
	p.Step(2, 3, "x")
	p.Done()
	if got := lastText(events()); got != "reduce ended at 2 of 3" {
		t.Errorf("last update: %q", got)
	}
	n := len(events())
	p.Done()
	p.Step(3, 3, "late")
	c.advance(time.Second)
	if len(events()) != n {
		t.Errorf("updates after Done: %v", events()[n:])
	}
}

// A cell that does not call Done still sees its work complete, at once.
func TestProgressCompletes(t *testing.T) {
	events := collect(t)
	p, c := testProgress(2)
	p.Step(1, 2, "x")
	p.Step(2, 2, "y")
	if got := lastText(events()); got != "" {
		t.Errorf("last update: %q", got)
	}
	first := events()[0].Display
	p.Step(0, 5, "again") // another phase, which has a display of its own
	if got := lastText(events()); got != "reduce ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0/5 again" {
		t.Errorf("last update: %q", got)
	}
	if last := events()[len(events())-1]; last.Update || last.Display == first {
		t.Errorf("another phase updates the display of the first: %+v", last)
	}
	c.advance(time.Second)
	p.Step(1, 5, "again")
	if last := events()[len(events())-1]; !last.Update || last.Display == first {
		t.Errorf("another phase goes on in %+v", last)
	}
}

func TestProgressHTML(t *testing.T) {
	events := collect(t)
	p, c := testProgress(0)
	c.advance(time.Second)
	p.Step(3, 17, "<v3>")
	first, last := events()[0], events()[1]
	if got := first.Data[textHTML]; got != "<div><progress></progress> reduce</div>" {
		t.Errorf("first: %s", got)
	}
	if got := last.Data[textHTML]; got != `<div><progress value="3" max="17"></progress> reduce 3/17 &lt;v3&gt;</div>` {
		t.Errorf("update: %s", got)
	}
}

func lastText(events []cellproto.Event) any { return events[len(events)-1].Data[textPlain] }
