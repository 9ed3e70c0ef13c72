package capture

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"warpbook/gpu"
)

// submit records a launch, of which these tests look at nothing.
func submit(t *testing.T, s *Stream) {
	t.Helper()
	if !s.Submit(Work{Launch: &gpu.Launch{}}) {
		t.Error("work of a captured stream is not recorded")
	}
}

func wait(t *testing.T, s *Stream, e *Event) {
	t.Helper()
	if captured, err := s.Wait(e); !captured || err != nil {
		t.Errorf("wait: %v %v, expected it to be captured", captured, err)
	}
}

// TestOrder checks what waits for what: in a stream, and across streams as
// events say and not otherwise.
func TestOrder(t *testing.T) {
	var a, b, c Stream
	var fork, later, join, last Event
	work, err := Run(&a, func() error {
		submit(t, &a) // 0
		a.Record(&fork)
		submit(t, &a) // 1
		a.Record(&later)
		wait(t, &b, &fork)
		submit(t, &b) // 2: after 0, not after 1
		wait(t, &c, &fork)
		wait(t, &c, &later)
		submit(t, &c) // 3: after 0 and 1
		b.Record(&join)
		c.Record(&last)
		wait(t, &a, &join)
		submit(t, &a) // 4: after 1 and 2
		wait(t, &a, &last)
		wait(t, &a, &join) // again
		submit(t, &a)      // 5: after 4, 3 and 2
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range work {
		slices.Sort(w.After)
		got = append(got, fmt.Sprint(w.After))
	}
	if got, want := strings.Join(got, " "), "[] [0] [0] [0 1] [1 2] [2 3 4]"; got != want {
		t.Errorf("work waits for %s, expected %s", got, want)
	}
	for i, s := range []*Stream{&a, &b, &c} {
		if s.Submit(Work{}) || s.Refuse("sync") != nil {
			t.Errorf("stream %d is still captured", i)
		}
	}
}

// TestUnjoined counts the work that no stream waits for, and accepts a branch
// without work.
func TestUnjoined(t *testing.T) {
	var a, b Stream
	var fork Event
	branch := func(n int) func() error {
		return func() error {
			submit(t, &a)
			a.Record(&fork)
			wait(t, &b, &fork)
			for range n {
				submit(t, &b)
			}
			return nil
		}
	}
	if _, err := Run(&a, branch(0)); err != nil {
		t.Errorf("a branch without work: %v", err)
	}
	if _, err := Run(&a, branch(3)); err == nil || !strings.Contains(err.Error(), "3 pieces of work") {
		t.Errorf("%v, expected 3 pieces of work that are not joined", err)
	}
}

// TestPanic checks that a capture whose function panics leaves its streams
// usable.
func TestPanic(t *testing.T) {
	var a Stream
	func() {
		defer func() { recover() }()
		Run(&a, func() error { panic("of a cell") })
	}()
	if a.Submit(Work{}) {
		t.Error("the stream is still captured")
	}
}

// TestTwoCaptures checks that captures at the same time do not meet.
func TestTwoCaptures(t *testing.T) {
	var a, b Stream
	var e Event
	_, err := Run(&a, func() error {
		a.Record(&e)
		_, err := Run(&b, func() error { _, err := b.Wait(&e); return err })
		return err
	})
	if !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("waiting for another capture's event: %v, expected %q", err, gpu.ErrArgument)
	}
	if _, err := Run(&a, func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestGoroutines submits from several goroutines while captures come and go:
// every piece of work runs or is in a graph.
func TestGoroutines(t *testing.T) {
	var s Stream
	var wg sync.WaitGroup
	var ran, recorded int
	var mu sync.Mutex
	const goroutines, each = 4, 500
	stop := make(chan struct{})
	for range goroutines {
		wg.Go(func() {
			for range each {
				if !s.Submit(Work{}) {
					mu.Lock()
					ran++
					mu.Unlock()
				}
			}
		})
	}
	go func() { wg.Wait(); close(stop) }()
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		work, err := Run(&s, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		recorded += len(work)
	}
	if ran+recorded != goroutines*each {
		t.Errorf("%d ran and %d are in graphs, expected %d in all", ran, recorded, goroutines*each)
	}
}
