package command

import (
	"errors"
	"fmt"
	"io"
)

// Worker executes commands, one at a time and in order.
type Worker interface {
	// Do executes a command. The worker keeps the error of a command without an
	// answer. Do fills in an answer whose number is set.
	Do(c Command, answer *Answer)
}

// Serve lets a worker execute the commands that it reads until the client
// closes its side.
func Serve(from io.Reader, to io.Writer, w Worker) error {
	r := NewReader(from)
	var set Set
	var out []byte
	var answer Answer
	for {
		c, number, err := r.Command(&set)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer = Answer{Number: number}
		w.Do(c, &answer)
		if number == 0 {
			continue
		}
		out = answer.Append(out[:0])
		if _, err := to.Write(out); err != nil {
			return fmt.Errorf("command: answer: %w", err)
		}
	}
}
