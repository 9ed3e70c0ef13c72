//go:build edited

package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/symbols"
)

// TestSelectChoosesEachReadyCase: each case that is ready is chosen about as often as the
// others, for receives, sends and both, whether they are tried or chosen by the runtime.
func TestSelectChoosesEachReadyCase(t *testing.T) {
	symbols.Register()
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := evaluate(context.Background(), e, 1, `
func chosen(n int) [3][4]int {
	var never chan string
	var counts [3][4]int
	a, b, c := make(chan int, 1), make(chan int, 1), make(chan int)
	for range n {
		for _, c := range []chan int{a, b} {
			select {
			case c <- 1:
			default:
			}
		}
		select {
		case <-a:
			counts[0][0]++
		case <-c:
			counts[0][1]++
		case <-never:
			counts[0][2]++
		case <-b:
			counts[0][3]++
		}
	}
	sent, received := make(chan int, 2), make(chan int, 1)
	for range n {
		select {
		case <-sent:
		default:
		}
		select {
		case received <- 1:
		default:
		}
		select {
		case sent <- 1:
			counts[1][0]++
		case sent <- 2:
			counts[1][1]++
		case <-received:
			counts[1][2]++
		case never <- "":
			counts[1][3]++
		}
	}
	done := make(chan int)
	close(done)
	for range n {
		select {
		case <-done:
			counts[2][0]++
		case <-done:
			counts[2][1]++
		case _, ok := <-done:
			if !ok {
				counts[2][2]++
			}
		default:
			counts[2][3]++
		}
	}
	return counts
}
chosen(6000)`)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	const n = 6000
	counts := r.Values[0].([3][4]int)
	for i, ready := range [][]int{{0, 3}, {0, 1, 2}, {0, 1, 2}} {
		sum := 0
		for _, k := range ready {
			sum += counts[i][k]
			if got := counts[i][k]; got < n/len(ready)*3/4 || got > n/len(ready)*5/4 { // 17 standard deviations
				t.Errorf("select %d: %v, want about %d of each of the cases %v", i, counts[i], n/len(ready), ready)
			}
		}
		if sum != n {
			t.Errorf("select %d: %v, want only the cases %v", i, counts[i], ready)
		}
	}
}

// TestSelectDefaultNeedsAllChannels: the default case is not chosen while one of the
// channels is ready at each moment, though none stays ready. Cases that are never ready
// make it likely that a channel changes while the select looks at the others.
func TestSelectDefaultNeedsAllChannels(t *testing.T) {
	symbols.Register()
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := evaluate(context.Background(), e, 1, strings.ReplaceAll(`
func missed(n int) (missed int) {
	never := make(chan int)
	a, b, ended := make(chan int, 2), make(chan int, 2), make(chan bool)
	a <- 1
	go func() {
		defer close(ended)
		for range n {
			b <- 1
			<-a
			a <- 1
			<-b
		}
	}()
	for {
		select {
		case <-a:
			a <- 1
		// never
		case <-b:
			b <- 1
		default:
			missed++
		}
		select {
		case <-ended:
			return missed
		default:
		}
	}
}
missed(300_000)`, "// never", strings.Repeat("case <-never:\n", 50)))
	if r.Err != nil || fmt.Sprint(r.Values) != "[0]" {
		t.Errorf("%v %v, want 0 defaults", r.Values, r.Err)
	}
	for e.stop.Live.Load() > 0 { // the goroutine looks at what the next engine sets
		time.Sleep(time.Millisecond)
	}
}

// TestSelectEndsAtAStop: a select that waits ends at a stop, and one that has a case ready
// at each iteration does too.
func TestSelectEndsAtAStop(t *testing.T) {
	symbols.Register()
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i, code := range []string{
		"func f(a, b chan int) int { select { case x := <-a: return x; case b <- 1: return 1 } }\nf(make(chan int), nil)",
		"func f(a, b chan int) { for { select { case <-a: a <- 1; case b <- 1: <-b } } }\na := make(chan int, 1)\na <- 1\nf(a, make(chan int, 1))",
		"func f(a, b chan int) { for { select { case <-a: case b <- 1: default: } } }\nf(make(chan int), nil)",
		"func f(a chan [20]complex128) { for { select { case <-a: default: } } }\nf(nil)",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		if r := evaluate(ctx, e, 2*i+1, code); r.Err == nil || r.Err.Name != failure.Interrupted {
			t.Errorf("%s: %v %v, want an interrupt", code, r.Values, r.Err)
		}
		cancel()
		if r := evaluate(context.Background(), e, 2*i+2, "20 + 22"); r.Err != nil || fmt.Sprint(r.Values) != "[42]" {
			t.Errorf("afterwards: %v, %v", r.Values, r.Err)
		}
	}
}
