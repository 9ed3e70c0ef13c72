package display

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"warpbook/kernel/cellproto"
)

// Piece is a text that a function has printed, or the bundle of a display.
type Piece struct {
	Text           string
	Data, Metadata map[string]any
	ID             string // of the display's handle, "" if it has none
	Update         bool   // the bundle takes the place of the display's last one
}

// maxPrinted bounds what a result keeps of the texts that its function prints. The result
// is one message, which clients take in one piece.
const maxPrinted = 2_000_000

// attempt is one call of the function. An interrupted function may go on, so its
// attempt is ended, and takes no more.
type attempt struct {
	values []any // of the controls

	mu      sync.Mutex // guards the fields below
	pieces  []Piece
	text    []byte // printed after the last of pieces
	printed int    // bytes, also those that are not kept
	failed  error  // returned by the function, or why the pieces cannot be shown
	ended   bool
}

// add takes what the function prints or shows, and the values that it returns. It reports
// false for an update of a display that is not part of the attempt.
func (a *attempt) add(p Piece) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	place := -1
	if p.Update {
		place = slices.IndexFunc(a.pieces, func(shown Piece) bool { return shown.ID == p.ID })
		if place < 0 {
			return false
		}
	}
	switch {
	case a.ended:
	case p.Update:
		a.pieces[place] = p
	case p.Data == nil:
		a.print(p.Text)
	default:
		a.flush()
		a.pieces = append(a.pieces, p)
	}
	return true
}

// print keeps a text as far as there is room. The caller holds mu, as do those of flush.
func (a *attempt) print(text string) {
	room := max(maxPrinted-a.printed, 0)
	a.printed += len(text)
	if room > 0 {
		a.text = append(a.text, text[:min(len(text), room)]...)
	}
	if room > 0 && len(text) > room {
		a.text = a.text[:len(a.text)-cellproto.Incomplete(a.text)]
	}
}

// flush makes the text a piece.
func (a *attempt) flush() {
	if len(a.text) > 0 {
		a.pieces = append(a.pieces, Piece{Text: string(a.text)})
		a.text = nil
	}
}

// fail takes an error.
func (a *attempt) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = errors.Join(a.failed, err)
}

// end ends the attempt.
func (a *attempt) end() (pieces []Piece, failed error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.printed > maxPrinted && !a.ended {
		if n := len(a.text); n > 0 && a.text[n-1] != '\n' {
			a.text = append(a.text, '\n')
		}
		a.text = fmt.Appendf(a.text, "display: interact: the function has printed %.1f MB, expected at most %d MB: the rest is not shown\n", float64(a.printed)/1e6, maxPrinted/1_000_000)
	}
	a.flush()
	a.ended = true
	return a.pieces, a.failed
}
