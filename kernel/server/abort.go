package server

import "time"

// inFlight is how long after a failure a request that was sent before the failure can
// still arrive.
const inFlight = 200 * time.Millisecond

// failure is the last error that aborts the cells queued after it, in its own shell.
type failure struct {
	at      time.Time // before the error reply is sent
	session string    // of the client whose request failed
	sent    time.Time // the date of that request, by the client's clock; zero: it had none
	learned time.Time // by that clock: the earliest time at which the client can know of the failure
}

// failureOf makes the failure of a request that fails now.
func failureOf(c *call) failure {
	f := failure{at: time.Now(), session: c.request.Header.Session, sent: c.request.Header.Time()}
	f.learned = f.sent.Add(f.at.Sub(c.arrived))
	return f
}

// aborts reports whether a request's client could not know of the failure when it sent
// the request: the request had arrived, or was on its way. Whether a later request of
// the client that failed was on its way follows from that client's own dates: it is
// dated between the failed request and the earliest time at which a reply can arrive.
// No other clock is compared. A request that is dated before an earlier one shows that
// the clock was set back, and is not aborted.
func (f failure) aborts(c *call) bool {
	if !c.arrived.After(f.at) {
		return true
	}
	date := c.request.Header.Time()
	if f.session != c.request.Header.Session || f.sent.IsZero() || c.arrived.Sub(f.at) >= inFlight {
		return false
	}
	return !date.Before(f.sent) && date.Before(f.learned) // no date is before every date
}
