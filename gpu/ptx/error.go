package ptx

import "fmt"

// Error is a place where the text is not PTX. Parse returns no other error.
type Error struct {
	File string
	Pos  Pos
	Text string // the fact and what was expected
}

func (e *Error) Error() string {
	return fmt.Sprintf("ptx: %s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Text)
}
