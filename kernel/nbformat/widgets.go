package nbformat

// The MIME types of a widget in an output, and of the states of all widgets in the
// notebook's metadata.
const (
	widgetView  = "application/vnd.jupyter.widget-view+json"
	widgetState = "application/vnd.jupyter.widget-state+json"
)

// IsWidget reports whether a bundle is a widget: something to move and click in a running
// notebook, without a result of its own.
func IsWidget(data map[string]any) bool {
	_, is := data[widgetView]
	return is
}

// AddWidget keeps the state of a widget that a cell has opened, as other clients do, so
// that a page that knows widgets shows them.
func (nb *Notebook) AddWidget(id string, state map[string]any) {
	if nb.Metadata == nil {
		nb.Metadata = map[string]any{}
	}
	widgets, ok := nb.Metadata["widgets"].(map[string]any)
	if !ok {
		widgets = map[string]any{}
		nb.Metadata["widgets"] = widgets
	}
	all, ok := widgets[widgetState].(map[string]any)
	if !ok {
		all = map[string]any{"version_major": 2, "version_minor": 0, "state": map[string]any{}}
		widgets[widgetState] = all
	}
	states, ok := all["state"].(map[string]any)
	if !ok {
		states = map[string]any{}
		all["state"] = states
	}
	states[id] = map[string]any{
		"model_name": state["_model_name"], "model_module": state["_model_module"],
		"model_module_version": state["_model_module_version"], "state": state,
	}
}
