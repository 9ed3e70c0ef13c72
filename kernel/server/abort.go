package server

import (
	"time"

	"warpbook/kernel/jupyter"
)

// inFlight is how long after a failure a request that was sent before the failure can
// still arrive.
const inFlight = 200 * time.Millisecond

// sameClock is the largest difference between the date and the arrival of a client's
// quickest message at which the client and the kernel share a clock.
const sameClock = 10 * time.Millisecond

// clock compares the dates of one connection's messages with the kernel's clock. The
// goroutine that receives the messages owns it.
type clock struct {
	seen  bool
	least time.Duration // smallest difference between arrival and date so far
}

// sent returns when a message was sent, by the kernel's clock; zero if it has no date.
// Another clock differs by the least difference, which includes the shortest transit
// time to the kernel.
func (k *clock) sent(h jupyter.Header, arrived time.Time) time.Time {
	date := h.Time()
	if date.IsZero() {
		return date
	}
	if took := arrived.Sub(date); !k.seen || took < k.least {
		k.seen, k.least = true, took
	}
	if k.least >= 0 && k.least < sameClock {
		return date
	}
	return date.Add(k.least)
}

// failure is the last error that aborts the cells queued after it, in its own shell.
type failure struct {
	at      time.Time // before the error reply is sent
	session string    // of the client whose request failed
	learned time.Time // by that client's clock: the earliest time at which it can know of the failure; zero: the request had no date
}

// failureOf makes the failure of a request that fails now.
func failureOf(c *call) failure {
	f := failure{at: time.Now(), session: c.request.Header.Session}
	if date := c.request.Header.Time(); !date.IsZero() {
		f.learned = date.Add(f.at.Sub(c.arrived))
	}
	return f
}

// aborts reports whether a request's client could not know of the failure when it sent
// the request: the request had arrived, or was on its way. The client's dates decide:
// if a request's date is earlier than the failed request's date plus the kernel's time
// for it, the request was sent before any reply. All cells of one "run all" are aborted
// however quickly the first fails, and no cell sent after the reply is lost.
func (f failure) aborts(c *call) bool {
	if !c.arrived.After(f.at) {
		return true
	}
	if c.sent.IsZero() || c.arrived.Sub(f.at) >= inFlight {
		return false
	}
	return c.sent.Before(f.at) || f.session == c.request.Header.Session && c.request.Header.Time().Before(f.learned)
}
