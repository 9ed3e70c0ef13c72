package server

import "time"

// inFlight is how long after a failure a request can still arrive that was
// sent before it.
const inFlight = 200 * time.Millisecond

// failure is the last error that aborts the cells behind it, in its own shell.
type failure struct {
	at time.Time // before the error reply is sent
}

// aborts reports whether a request was made by a client that could not know of
// the failure: it had arrived, or it was on its way, which the client's own
// clock tells. So neither do cells of one "run all" slip through, however
// quickly the first one fails, nor is a cell lost that was sent after the
// reply.
func (f failure) aborts(c *call) bool {
	if !c.arrived.After(f.at) {
		return true
	}
	sent := c.request.Header.Time()
	return c.arrived.Sub(f.at) < inFlight && !sent.IsZero() && sent.Before(f.at)
}
