package main

import (
	"flag"
	"fmt"
	"testing"
)

// concurrentCalls calls functions of two and three results on eight goroutines at once,
// in every form of call, and counts wrong results. Each goroutine passes numbers of its
// own.
const concurrentCalls = `import "sync"

type divider interface{ divmod(a int) (int, int) }
type by int
func (b by) divmod(a int) (int, int) { return a / int(b), a %% int(b) }

func divmod(a, b int) (int, int) { return a / b, a %% b }
func split(a, b int) (q, r int, err error) {
	defer func() { recover() }()
	return a / b, a %% b, nil
}

func wrongOf(calls, salt int) (wrong int) {
	b := salt + 7
	closure := func(a int) (int, int) { return a / b, a %% b }
	value, d := divmod, divider(by(b))
	for i := 0; i < calls; i += 10 {
		a := salt<<32 + i
		for range 6 {
			q, r := divmod(a, b)
			if q*b+r != a { wrong++ }
		}
		q, r := closure(a)
		if q*b+r != a { wrong++ }
		q, r = value(a, b)
		if q*b+r != a { wrong++ }
		q, r = d.divmod(a)
		if q*b+r != a { wrong++ }
		q, r, err := split(a, b)
		if q*b+r != a || err != nil { wrong++ }
	}
	return wrong
}

wrong, mu, wg := 0, sync.Mutex{}, sync.WaitGroup{}
for salt := range 8 {
	wg.Go(func() {
		n := wrongOf(%d, salt)
		mu.Lock()
		wrong += n
		mu.Unlock()
	})
}
wg.Wait()
wrong`

// received counts values that are lost or duplicated between goroutines.
const received = `in, sums := make(chan int, 64), make(chan int)
for range 8 {
	go func() {
		sum := 0
		for {
			v, ok := <-in
			if !ok { break }
			sum += v
		}
		sums <- sum
	}()
}
want := 0
for i := range %d { in <- i; want += i }
close(in)
for range 8 { want -= <-sums }
want`

var concurrentCallCount = flag.Int("calls", 10_000_000, "how many calls TestConcurrentResults makes")

// TestConcurrentResults: a call returns its own results, whatever other
// goroutines call.
func TestConcurrentResults(t *testing.T) {
	calls := *concurrentCallCount
	if raceEnabled { // a call takes 50 times as long
		calls /= 50
	}
	c := start(t)
	for _, code := range []string{fmt.Sprintf(concurrentCalls, calls/8), fmt.Sprintf(received, calls/100)} {
		if e := c.run(code); e.Error != nil || e.Data["text/plain"] != "0" {
			t.Errorf("%v wrong, expected 0; %+v", e.Data["text/plain"], e.Error)
		}
	}
}

// TestConcurrentMethods: a call of a method of a compiled type through an interface
// calls the method of its value, whatever other goroutines call.
func TestConcurrentMethods(t *testing.T) {
	calls := 200_000
	if raceEnabled {
		calls /= 50
	}
	c := start(t)
	code := fmt.Sprintf(`import ("fmt"; "sync/atomic"; "time")
var wrong atomic.Int64
done := make(chan bool)
text := func(s fmt.Stringer) string { return s.String() }
for g := range 8 {
	go func() {
		defer func() { if v := recover(); v != nil { wrong.Add(1) }; done <- true }()
		for i := range %d {
			switch (g + i) %% 3 {
			case 0: if text(time.March) != "March" { wrong.Add(1) }
			case 1: if text(time.Second) != "1s" { wrong.Add(1) }
			default: if text(time.UTC) != "UTC" { wrong.Add(1) }
			}
		}
	}()
}
for range 8 { <-done }
wrong.Load()`, calls/8)
	if e := c.run(code); e.Error != nil || e.Data["text/plain"] != "0" {
		t.Errorf("%v goroutines called a wrong method, expected 0; %+v", e.Data["text/plain"], e.Error)
	}
}
