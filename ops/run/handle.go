package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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
// a buffer that was freed or lost; gpu.ErrUnsupported for what the rung or the
// device does not do; gpu.ErrNotFound for an unknown rung.
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
	calls   sync.Mutex // held by each call, which has the scratch for itself
	modules Modules    // nil is closed
	scratch workspace
}

// NewHandle is a handle for a device. Close releases its memory there.
func NewHandle(device gpu.Device) *Handle {
	return &Handle{device: device, modules: Modules{}, scratch: workspace{}}
}

// Close frees the handle's memory on the device.
func (h *Handle) Close() error {
	h.calls.Lock()
	defer h.calls.Unlock()
	err := errors.Join(h.scratch.free(), h.modules.Close())
	h.modules = nil
	return err
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

// Launch runs the handle's rung; without one, the first of those preferred,
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
	before := h.device.Interrupts()
	site := &Site{Device: h.device, Operator: o, Size: size, Memory: memory, Modules: h.modules, scratch: h.scratch,
		Stopped: func() bool { return h.device.Interrupts() != before }}
	for _, v := range variants {
		switch {
		case v.Host == nil:
			err = site.launch(v, h.Async)
		case h.Variant != "":
			err = fmt.Errorf("ops: %s: %w: it runs on the host, expected a variant that runs on the device", v.Name, gpu.ErrArgument)
		}
		if !errors.Is(err, gpu.ErrUnsupported) {
			return err
		}
	}
	return err
}

// With returns a runner whose calls end with the context: then they interrupt the device, which
// ends all that runs there, and return an error that wraps gpu.ErrInterrupted and the context's.
func (h *Handle) With(ctx context.Context) ladder.Runner { return bound{h, ctx} }

// bound is a handle whose calls end with a context.
type bound struct {
	*Handle
	ctx context.Context
}

func (b bound) Launch(o *ladder.Operator, size ladder.Size, memory map[string]gpu.Buffer, preferred ...string) error {
	if err := context.Cause(b.ctx); err != nil {
		return fmt.Errorf("ops: %s: %w before the launch: %w", o.Name, gpu.ErrInterrupted, err)
	}
	returned, ended := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(b.ctx, func() {
		defer close(ended)
		for again := time.NewTicker(10 * time.Millisecond); ; { // one between two launches ends nothing
			b.device.Interrupt()
			select {
			case <-again.C:
			case <-returned:
				again.Stop()
				return
			}
		}
	})
	err := b.Handle.Launch(o, size, memory, preferred...)
	close(returned)
	if !stop() { // an interrupt must not meet the next call
		<-ended
	}
	if errors.Is(err, gpu.ErrInterrupted) && b.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", err, context.Cause(b.ctx))
	}
	return err
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
