package run

import (
	"errors"
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// workspace is the scratch of a handle, by name. Later calls use it again, because
// allocating and freeing it for each call takes longer than many a launch.
type workspace map[string]gpu.Buffer

// alloc is scratch of the workspace, which a call may use until the next one.
func (w workspace) alloc(d gpu.Device, t ladder.Tensor) (gpu.Buffer, error) {
	name := fmt.Sprint(t.Name, " ", t.Elements())
	kept := w[name]
	if kept != nil {
		if _, err := kept.Place(); err != nil { // it was lost with a worker
			delete(w, name)
		} else if kept.Len() >= t.Len {
			return kept.View(0, t.Len)
		} else if err := kept.Free(); err != nil {
			return nil, err
		}
	}
	delete(w, name)
	fresh, err := d.Alloc(t.Elements(), t.Len)
	if err != nil {
		return nil, err
	}
	w[name] = fresh.Label(t.Name)
	return fresh.View(0, t.Len)
}

// free releases the workspace.
func (w workspace) free() error {
	var errs []error
	for name, buffer := range w {
		if _, err := buffer.Place(); err == nil {
			errs = append(errs, buffer.Free())
		}
		delete(w, name)
	}
	return errors.Join(errs...)
}
