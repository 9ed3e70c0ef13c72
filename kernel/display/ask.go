package display

import (
	"errors"
	"sync/atomic"
)

// asker asks the user; nil where there is none.
var asker atomic.Pointer[func(prompt string, secret bool) (string, error)]

// SetAsker makes f ask the user of the notebook for a line. The cells program
// calls it once, before the first cell.
func SetAsker(f func(prompt string, secret bool) (string, error)) { asker.Store(&f) }

// Ask asks the user of the notebook for a line of text, and returns it without
// its end. It fails outside of a notebook.
func Ask(prompt string) (string, error) { return ask(prompt, false) }

// AskSecret is Ask for a password: the input is not shown.
func AskSecret(prompt string) (string, error) { return ask(prompt, true) }

func ask(prompt string, secret bool) (string, error) {
	f := asker.Load()
	if f == nil {
		return "", errors.New("display: ask: no user to ask, expected to run in a notebook")
	}
	return (*f)(prompt, secret)
}
