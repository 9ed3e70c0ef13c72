package server

import (
	"testing"
	"time"

	"warpbook/kernel/jupyter"
)

// A request is aborted if its client could not know of the failure: each condition at its
// boundary. Times are milliseconds after the failed request was sent, which arrived 10 ms
// later and failed after 100 ms: the client can know of it from 100 ms on.
func TestAbortBoundaries(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	request := func(session string, sent, arrived time.Time) *call {
		date := ""
		if !sent.IsZero() {
			date = sent.Format(time.RFC3339Nano)
		}
		return &call{request: jupyter.Message{Header: jupyter.Header{Session: session, Date: date}}, arrived: arrived}
	}
	none := time.Time{}
	known := failure{at: at(110), session: "a", sent: at(0), learned: at(100)}
	undated := known
	undated.sent = none
	for _, c := range []struct {
		name          string
		of            failure
		session       string
		sent, arrived time.Time
		aborted       bool
	}{
		{"arrived with the failure", known, "b", at(500), at(110), true},
		{"of another session, after it", known, "b", at(50), at(111), false},
		{"on its way", known, "a", at(50), at(111), true},
		{"sent with the failed request", known, "a", at(0), at(111), true},
		{"before the failed request", known, "a", at(-1), at(111), false},
		{"sent just before the client can know", known, "a", at(99), at(111), true},
		{"sent when the client can know", known, "a", at(100), at(111), false},
		{"arrived 199 ms after the failure", known, "a", at(50), at(309), true},
		{"arrived 200 ms after the failure", known, "a", at(50), at(310), false},
		{"without a date", known, "a", none, at(111), false},
		{"after a request without a date", undated, "a", at(50), at(111), false},
	} {
		if got := c.of.aborts(request(c.session, c.sent, c.arrived)); got != c.aborted {
			t.Errorf("%s: aborted %v, expected %v", c.name, got, c.aborted)
		}
	}
	made := failureOf(request("a", at(0), time.Now().Add(-time.Second)))
	if took := made.learned.Sub(made.sent); made.session != "a" || !made.sent.Equal(at(0)) || took < time.Second || took > time.Since(made.at)+2*time.Minute {
		t.Errorf("the failure of a request that took 1 s: session %q, sent %v, known after %v", made.session, made.sent, took)
	}
}
