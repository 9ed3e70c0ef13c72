package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Handle runs operators on buffers of the caller's, as a library does: with the
// variants and plans of the ladders, but without data, checks of the result and
// times of its own. It keeps the PTX that it has loaded, and the scratch of its calls for
// later ones, until Close. Calls of several goroutines run one after the other;
// gpu.Device.Interrupt from any of them ends a call with an error.
//
// A call checks all of its arguments before it launches anything, in the same
// words on every device, and returns when the result is there unless Async is set. Errors wrap
// gpu.ErrArgument for what no device could do: a negative or overflowing size,
// shapes or types that do not fit, a buffer that is too short or of another
// device, an output that shares elements with another operand; gpu.ErrClosed for
// a buffer that was freed or lost; gpu.ErrUnsupported for what the variant or the
// device does not do; gpu.ErrNotFound for an unknown variant.
type Handle struct {
	// Variant names the rung that calls launch; "" is the best one that the
	// device, the types and the alignment of the buffers allow.
	Variant string

	// Async lets a call return when its work is in the device's default stream. Work that is
	// put there later runs after it: other calls, downloads, collectives. An error of the
	// work is returned by the call itself, as on an emulator, or by the first collective,
	// Sync of the device, or call without Async behind it. A download behind a launch that
	// the driver refuses returns no error, and what the buffer had before.
	Async bool

	device  gpu.Device
	calls   sync.Mutex            // held by each call, which has the scratch for itself
	modules map[string]gpu.Module // by the name of their source; nil is closed
	scratch workspace
}

// NewHandle is a handle for a device. Close releases its memory there.
func NewHandle(device gpu.Device) *Handle {
	return &Handle{device: device, modules: map[string]gpu.Module{}, scratch: workspace{}}
}

// Close frees the handle's memory on the device.
func (h *Handle) Close() error {
	h.calls.Lock()
	defer h.calls.Unlock()
	errs := []error{h.scratch.free()}
	for _, module := range h.modules {
		errs = append(errs, module.Close())
	}
	h.modules = nil
	return errors.Join(errs...)
}

// workspace is scratch by name, which calls use in turn: to allocate and free it each time
// would take longer than many a launch.
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

// Run computes an operator of any kind, with rungs of a notebook too, at a size.
// Buffers have the names, types and at least the lengths of the operator's
// inputs and outputs. Inputs that not every value suits, such as the columns of a sparse
// matrix, are downloaded and checked first; Launch is the same without this cost.
func (h *Handle) Run(o *ladder.Operator, size ladder.Size, buffers map[string]gpu.Buffer) error {
	if err := o.CheckSize(size); err != nil {
		return err
	}
	var runner ladder.Runner = h
	if o.ValidInputs != nil {
		runner = checked{h}
	}
	c := ladder.NewOperands(runner, o.Name)
	inputs, outputs := o.Inputs(size), o.Outputs(size)
	var names []string
	for i, t := range append(inputs, outputs...) {
		names = append(names, t.Name)
		c.Add(t.Name, ladder.Vector(buffers[t.Name], t.Len), i >= len(inputs), t.Elements())
	}
	for _, name := range slices.Sorted(maps.Keys(buffers)) {
		if !slices.Contains(names, name) {
			c.Fail(name, gpu.ErrArgument, "there is no such operand", "expected "+strings.Join(names, ", "))
		}
	}
	return c.Run(o, size)
}

// checked is a handle that looks at the values of inputs before it launches anything.
type checked struct{ *Handle }

func (h checked) Launch(o *ladder.Operator, size ladder.Size, memory map[string]gpu.Buffer, preferred ...string) error {
	var inputs []ladder.Values
	for _, t := range o.Inputs(size) {
		values := t.Make()
		if err := t.Download(nil, memory[t.Name], values); err != nil {
			return fmt.Errorf("ops: %s: download %s: %w", o.Name, t.Name, err)
		}
		inputs = append(inputs, values)
	}
	if err := o.ValidInputs(size, inputs); err != nil {
		return err
	}
	return h.Handle.Launch(o, size, memory, preferred...)
}

// Device is the one that the handle is for.
func (h *Handle) Device() gpu.Device { return h.device }

// Rung is Variant.
func (h *Handle) Rung() string { return h.Variant }

// Launch runs the handle's variant; without one, the first of those preferred,
// or of all from the last to the first, that is supported. It is Run without a
// check of the memory.
func (h *Handle) Launch(o *ladder.Operator, size ladder.Size, memory map[string]gpu.Buffer, preferred ...string) error {
	h.calls.Lock()
	defer h.calls.Unlock()
	if h.modules == nil {
		return fmt.Errorf("ops: %s: handle: %w, expected an open one: make another with ops.NewHandle", o.Name, gpu.ErrClosed)
	}
	if err := o.CheckSize(size); err != nil {
		return err
	}
	names := preferred
	if h.Variant != "" {
		names = []string{h.Variant}
	}
	variants, err := o.Choose(names)
	if err != nil {
		return err
	}
	if names == nil {
		variants = slices.Clone(variants)
		slices.Reverse(variants)
	}
	b := &Bench{device: h.device, modules: h.modules, operator: o, size: size, memory: memory, workspace: h.scratch}
	for _, v := range variants {
		switch {
		case v.Host == nil:
			err = b.launch(v, h.Async)
		case h.Variant != "":
			err = fmt.Errorf("ops: %s: %w: it runs on the host, expected a variant that runs on the device", v.Name, gpu.ErrArgument)
		}
		if !errors.Is(err, gpu.ErrUnsupported) {
			return err
		}
	}
	return err
}

// launch runs a variant once on the bench's memory, and waits for it unless async is set.
func (b *Bench) launch(v ladder.Variant, async bool) error {
	r, err := b.newRun(v)
	if errors.Is(err, gpu.ErrMemory) && len(b.workspace) > 0 { // which has scratch of other operators, too
		if err = b.workspace.free(); err == nil {
			r, err = b.newRun(v)
		}
	}
	if err != nil {
		return err
	}
	for _, buffer := range r.tickets { // in the stream: an upload would be waited for
		err = errors.Join(err, b.device.Zero(buffer))
	}
	if err == nil {
		err = r.enqueue(0)
	}
	if err == nil && !async {
		err = b.device.Sync()
	}
	if err != nil {
		err = fmt.Errorf("ops: %s: %w", v.Name, err)
	}
	return errors.Join(err, r.close())
}

// String is where the handle runs operators.
func (h *Handle) String() string {
	text := fmt.Sprintf("handle on %v", h.device.Info())
	if h.Variant != "" {
		text += ", variant " + h.Variant
	}
	if h.modules == nil {
		text += ", closed"
	}
	return text
}
