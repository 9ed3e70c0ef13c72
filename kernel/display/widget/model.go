package widget

import (
	"encoding/json"
	"maps"
)

// Model is one widget of ipywidgets' package of controls.
type Model struct {
	Name  string         // such as IntSlider
	State map[string]any // what other widgets do not have, and the description

	// Attribute is the part of the state that a client changes, and Check tells whether a
	// value of the client is one of the control's. A button has neither.
	Attribute string
	Check     func(json.RawMessage) (value any, ok bool)

	// Value returns what the function gets for a value of Attribute.
	Value func(any) any
}

// MIME is the type of a widget's view in a bundle; StateMIME is that of the states of
// all widgets in a notebook's metadata.
const (
	MIME      = "application/vnd.jupyter.widget-view+json"
	StateMIME = "application/vnd.jupyter.widget-state+json"
)

// View is the view of a widget in a bundle.
func View(id string) map[string]any {
	return map[string]any{"version_major": 2, "version_minor": 0, "model_id": id}
}

// Values returns the values of the models that have one.
func Values(models []*Model) (all []any) {
	for _, m := range models {
		if m.Value != nil {
			all = append(all, m.Value(m.State[m.Attribute]))
		}
	}
	return all
}

// whole is the state of a model with what all widgets have.
func (m *Model) whole() map[string]any {
	const module, version = "@jupyter-widgets/controls", "2.0.0"
	state := map[string]any{
		"_model_module": module, "_model_module_version": version, "_model_name": m.Name + "Model",
		"_view_module": module, "_view_module_version": version, "_view_name": m.Name + "View",
		"_view_count": nil, "_dom_classes": []string{}, "layout": nil, "tooltip": nil,
	}
	maps.Copy(state, m.State)
	return state
}

// Copy returns a model with a state of its own.
func (m *Model) Copy() *Model {
	c := *m
	c.State = maps.Clone(m.State)
	return &c
}
