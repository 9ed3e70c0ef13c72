package display

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"warpbook/kernel/display/widget"
)

// Control is an input of Interact, made by Slider, Checkbox, Choice or Button. Its name
// stands beside it.
type Control struct {
	name  string
	model widget.Model
	wrong error // why the control cannot be shown
}

// Slider chooses an integer from min to max, both included. It begins at min.
func Slider(name string, min, max int) *Control {
	c := &Control{name: name, model: widget.Model{Name: "IntSlider", Attribute: "value", State: map[string]any{
		"description": name, "min": min, "max": max, "step": 1, "value": min, "continuous_update": true, "readout": true,
	}}}
	if min >= max || max > math.MaxInt32 || min < math.MinInt32 {
		c.wrong = fmt.Errorf("display: slider %q: from %d to %d, expected a first number below the last, both of 32 bits", name, min, max)
	}
	c.model.Check = func(raw json.RawMessage) (any, bool) {
		var n int
		ok := json.Unmarshal(raw, &n) == nil && n >= min && n <= max
		return n, ok
	}
	c.model.Value = func(v any) any { return v }
	return c
}

// Checkbox chooses true or false. It begins at false.
func Checkbox(name string) *Control {
	return &Control{name: name, model: widget.Model{Name: "Checkbox", Attribute: "value", State: map[string]any{
		"description": name, "value": false, "indent": true,
	}, Check: func(raw json.RawMessage) (any, bool) {
		var on bool
		ok := json.Unmarshal(raw, &on) == nil && string(raw) != "null"
		return on, ok
	}, Value: func(v any) any { return v }}}
}

// Choice chooses one of several texts. It begins at the first.
func Choice(name string, texts ...string) *Control {
	c := &Control{name: name, model: widget.Model{Name: "Dropdown", Attribute: "index", State: map[string]any{
		"description": name, "_options_labels": texts, "index": 0,
	}, Check: func(raw json.RawMessage) (any, bool) {
		var i int
		ok := json.Unmarshal(raw, &i) == nil && i >= 0 && i < len(texts) && string(raw) != "null"
		return i, ok
	}, Value: func(v any) any { return texts[v.(int)] }}}
	if len(texts) == 0 {
		c.wrong = fmt.Errorf("display: choice %q: no texts, expected some", name)
	}
	return c
}

// Button calls the function again, with the values of the other controls. It gives the
// function no value of its own.
func Button(name string) *Control {
	return &Control{name: name, model: widget.Model{Name: "Button", State: map[string]any{"description": name}}}
}

// At sets the value at which the control begins, and returns the control.
func (c *Control) At(value any) *Control {
	raw, err := json.Marshal(value)
	if c.model.Name == "Dropdown" {
		raw, err = json.Marshal(slices.Index(c.model.State["_options_labels"].([]string), fmt.Sprint(value)))
	}
	if err == nil && c.model.Check != nil {
		if at, ok := c.model.Check(raw); ok {
			c.model.State[c.model.Attribute] = at
			return c
		}
	}
	if c.wrong == nil {
		c.wrong = fmt.Errorf("display: %s: cannot begin at %v, expected %s", c, value, c.values())
	}
	return c
}

// String is the control as errors name it.
func (c *Control) String() string {
	return fmt.Sprintf("%s %q", strings.ToLower(strings.TrimPrefix(c.model.Name, "Int")), c.name)
}

// values says which values the control has.
func (c *Control) values() string {
	switch s := c.model.State; c.model.Name {
	case "IntSlider":
		return fmt.Sprintf("an integer from %d to %d", s["min"], s["max"])
	case "Checkbox":
		return "true or false"
	case "Dropdown":
		return "one of its texts"
	}
	return "no value"
}
