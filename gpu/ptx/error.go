package ptx

import "fmt"

// Error is an error in the text, with its place. Parse returns no other error.
type Error struct {
	File string
	Pos  Pos
	Text string // the fact and the expectation
}

func (e *Error) Error() string {
	return fmt.Sprintf("ptx: %s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Text)
}
