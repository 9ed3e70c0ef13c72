package display

import (
	"encoding/json"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/display/widget"
)

// TestChangeWhileControlsOpen: the result of a control that moves before the first result
// is shown comes after that.
func TestChangeWhileControlsOpen(t *testing.T) {
	board, shown := widget.NewBoard(), make(chan cellproto.Event, 9)
	failed := make(chan any, 1)
	SetSink(func(e cellproto.Event) {
		for _, c := range e.Comms {
			board.Receive(cellproto.Comm{Type: "comm_msg", ID: c.ID, Data: json.RawMessage(`{"method":"update","state":{"value":7}}`)})
		}
		if p := board.Next(); p != nil {
			go func() {
				defer func() { failed <- recover() }()
				p.Run(p.Values())
				p.Show(nil)
			}()
			time.Sleep(20 * time.Millisecond) // for the other goroutine
		}
		if e.Display != "" {
			shown <- e
		}
	})
	SetStage(&Stage{Board: board, Place: func() string { return "" }, Capture: func(f func(), _ func(Piece) bool) error { f(); return nil }})
	t.Cleanup(func() { SetSink(nil); SetStage(nil) })
	Interact(func(n int) int { return n }, Slider("n", 1, 9))
	if v := <-failed; v != nil {
		t.Fatalf("the moved control panics: %v", v)
	}
	first, then := <-shown, <-shown
	if first.Update || first.Data[textPlain] != "1" || !then.Update || then.Display != first.Display || then.Data[textPlain] != "7" {
		t.Errorf("shown are %+v, then %+v", first, then)
	}
}
