package display

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/display/widget"
	"warpbook/kernel/leaf/record"
)

// Stage is what Interact needs of the program that runs the cell.
type Stage struct {
	Board *widget.Board

	// Place returns the client's name of the cell that calls it, "" if it has none.
	Place func() string

	// Capture calls f, and gives add what f prints and shows; what add does not take is
	// output of the cell. It does not call f inside of another Capture, and returns an
	// error.
	Capture func(f func(), add func(Piece) bool) error
}

// stage is nil where no client can move a control.
var stage atomic.Pointer[Stage]

// SetStage gives Interact its controls. The cells program calls it once, before the
// first cell. Without it Interact calls its function once.
func SetStage(s *Stage) { stage.Store(s) }

// Interact shows controls, and below them what f returns, prints and shows for their
// values. A change of a control calls f again, and the new result takes the place of
// the old one, as an output of the cell. The parameters of f are the values of the
// controls in their order: an integer or a floating-point number of a slider, a bool of
// a checkbox, a string of a choice, and nothing of a button.
//
//	display.Interact(func(stride int, padded bool) any {
//		return ...
//	}, display.Slider("stride", 1, 64), display.Checkbox("padded"))
//
// Changes during a call lead to one more call, with the latest values. An interrupt ends
// the call, and an error or a panic is shown in place of the result. In the first call,
// which is part of the cell, a panic fails the cell. The controls work as long as the
// kernel runs; the saved notebook keeps the last result. Interact panics with the
// reason if f and the controls do not fit.
func Interact(f any, controls ...*Control) {
	i, err := newInteraction(f, controls)
	if err != nil {
		panic(err)
	}
	i.stage = stage.Load()
	if i.stage == nil {
		i.stage = &Stage{Capture: func(f func(), _ func(Piece) bool) error { f(); return nil }}
	}
	i.begin()
}

// interaction is one call of Interact.
type interaction struct {
	f        reflect.Value
	controls []*Control // those that have a value
	models   []*widget.Model
	stage    *Stage
	handle   *Handle // of the result
	last     atomic.Pointer[attempt]
}

// begin calls the function for the first time, and shows the controls and the result. What
// a function has printed that then fails is shown as output of the cell.
func (i *interaction) begin() {
	var result *composed
	defer func() {
		if result == nil {
			i.spill()
		}
	}()
	i.call(widget.Values(i.models), Draw)
	made, err := i.result(nil)
	if err != nil {
		panic(err)
	}
	result = made
	i.handle.showAfter(i.open, result, false)
}

// open shows the controls. They may change from then on.
func (i *interaction) open() {
	b := i.stage.Board
	if b == nil {
		return
	}
	fallback := i.fallback()
	opening, box := b.Open(&widget.Panel{Run: i.run, Show: i.show}, i.stage.Place(), i.models)
	send(cellproto.Event{Type: cellproto.CommMessage, Comms: opening})
	send(cellproto.Event{Type: cellproto.Display, Data: map[string]any{widget.MIME: widget.View(box), textPlain: fallback}})
}

// spill shows the pieces of the last attempt as output of the cell.
func (i *interaction) spill() {
	pieces, _ := i.last.Load().end()
	for _, p := range pieces {
		if p.Data == nil {
			send(cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: p.Text})
		} else {
			send(cellproto.Event{Type: cellproto.Display, Data: p.Data, Metadata: p.Metadata, Display: p.ID})
		}
	}
}

// newInteraction checks that a function takes the values of controls.
func newInteraction(f any, controls []*Control) (*interaction, error) {
	i := &interaction{f: reflect.ValueOf(f), handle: newHandle()}
	if i.f.Kind() != reflect.Func || i.f.IsNil() {
		return nil, fmt.Errorf("display: interact: %T, expected a function", f)
	}
	names := map[string]bool{}
	for n, c := range controls {
		switch {
		case c == nil:
			return nil, fmt.Errorf("display: interact: control %d is nil, expected one of Slider, Checkbox, Choice or Button", n+1)
		case c.wrong != nil:
			return nil, c.wrong
		case strings.TrimSpace(c.name) == "":
			return nil, fmt.Errorf("display: interact: control %d has no name, expected a word for the reader", n+1)
		case names[c.name]:
			return nil, fmt.Errorf("display: interact: two controls have the name %q, expected a name for each", c.name)
		}
		names[c.name] = true
		i.models = append(i.models, c.model.Copy())
		if c.model.Value != nil {
			i.controls = append(i.controls, c)
		}
	}
	if len(controls) == 0 {
		return nil, errors.New("display: interact: no controls, expected at least one")
	}
	t := i.f.Type()
	if t.NumIn() != len(i.controls) || t.IsVariadic() {
		return nil, fmt.Errorf("display: interact: %v, expected %d parameters, one for each control that has a value", t, len(i.controls))
	}
	for n, c := range i.controls {
		if err := fits(c, t.In(n)); err != nil {
			return nil, fmt.Errorf("display: interact: parameter %d of %v: %w", n+1, t, err)
		}
	}
	return i, nil
}

// fits checks that a parameter takes every value of a control.
func fits(c *Control, t reflect.Type) error {
	zero, kind, s := reflect.Zero(t), t.Kind(), c.model.State
	switch c.model.Name {
	case "IntSlider":
		low, high := int64(s["min"].(int)), int64(s["max"].(int))
		switch {
		case zero.CanFloat():
			return nil
		case zero.CanInt() && !zero.OverflowInt(low) && !zero.OverflowInt(high):
			return nil
		case zero.CanUint() && low >= 0 && !zero.OverflowUint(uint64(high)):
			return nil
		}
	case "Checkbox":
		if kind == reflect.Bool {
			return nil
		}
	case "Dropdown":
		if kind == reflect.String {
			return nil
		}
	}
	return fmt.Errorf("%v does not take the values of %v: %s", t, c, c.values())
}

// run calls the function after a change. Its pictures are vectors only: they follow a
// slider.
func (i *interaction) run(values []any) {
	i.call(values, func(v any) (data, metadata map[string]any, err error) { return Draw(vectors{v}) })
}

// call calls the function and keeps what it prints, shows and returns.
func (i *interaction) call(values []any, draw func(any) (data, metadata map[string]any, err error)) {
	a := &attempt{values: values}
	i.last.Store(a)
	var in []reflect.Value
	for n, v := range values {
		in = append(in, reflect.ValueOf(v).Convert(i.f.Type().In(n)))
	}
	a.fail(i.stage.Capture(func() {
		var results []any
		for _, v := range i.f.Call(in) {
			if v.Type() != reflect.TypeFor[error]() {
				results = append(results, v.Interface())
			} else if err, ok := v.Interface().(error); ok {
				a.fail(err)
			}
		}
		for _, v := range Parts(results) {
			data, metadata, err := draw(v)
			a.add(Piece{Data: data, Metadata: metadata})
			a.fail(err)
		}
	}, a.add))
}

// result is the bundle of the last attempt, or, with an error, the bundle of a failure. Its
// metadata have the values of the controls, for readers of a report, which shows no
// controls.
func (i *interaction) result(stopped *cellproto.Error) (c *composed, err error) {
	pieces, err := i.last.Load().end()
	reason := ""
	if err == nil {
		c, err = compose(pieces)
	}
	if err != nil {
		reason = err.Error()
	}
	if stopped != nil {
		err, reason = stopped, strings.Join(stopped.Traceback, "\n")
	}
	if err != nil {
		c = failure(pieces, reason)
	}
	c.metadata[record.Controls] = i.state()
	return c, err
}

// show replaces the result that is shown.
func (i *interaction) show(stopped *cellproto.Error) {
	c, _ := i.result(stopped) // the error is in the bundle
	i.handle.Update(c)
}

// state lists the values of the controls in the last call.
func (i *interaction) state() string {
	var words []string
	for n, c := range i.controls {
		words = append(words, fmt.Sprintf("%s = %v", c.name, i.last.Load().values[n]))
	}
	return strings.Join(words, ", ")
}

// fallback is the text of clients that do not show the controls.
func (i *interaction) fallback() string {
	return strings.TrimPrefix(i.state()+"\n", "\n") +
		"(JupyterLab shows the controls of a running notebook if the package jupyterlab_widgets is beside it: pip install jupyterlab_widgets, and reload the page)"
}
