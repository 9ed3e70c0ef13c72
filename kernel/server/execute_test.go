package server

import (
	"io"
	"log/slog"
	"testing"
)

// An execution is answered once, also when a second event ends it again.
func TestExecutionEndsOnce(t *testing.T) {
	answers := 0
	x := &execution{
		call:   &call{server: &Server{log: slog.New(slog.NewTextHandler(io.Discard, nil))}},
		reply:  &executeReply{},
		finish: func(any, error) { answers++ },
	}
	x.end(nil)
	x.end(io.EOF)
	if answers != 1 || x.phase != ended {
		t.Errorf("%d answers, phase %d; expected 1 answer, phase %d", answers, x.phase, ended)
	}
}
