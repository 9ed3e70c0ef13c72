// Package run launches the rungs of operators. A Site is a device with the memory
// of one operator at one size; it prepares rungs: their PTX, plans, scratch and
// launches. A Handle runs operators on buffers of its caller, for libraries; package
// bench prepares rungs on memory of its own, to check and time them.
//
// It makes no data, verifies and times nothing, and must never import an operator,
// package bench or peers.
package run

import (
	"cmp"
	"errors"
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Modules are the modules loaded on a device, by the name of their source.
type Modules map[string]gpu.Module

// Load returns the module of a source of an operator. The first call loads it.
func (m Modules) Load(d gpu.Device, o *ladder.Operator, source string) (gpu.Module, error) {
	if module, ok := m[source]; ok {
		return module, nil
	}
	file, err := o.PTX(source, d.Info())
	if err != nil {
		return nil, err
	}
	module, err := d.Load(file.Name, file.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: load: %w", source, err)
	}
	m[source] = module
	return module, nil
}

// Close releases the modules.
func (m Modules) Close() error {
	var errs []error
	for _, module := range m {
		errs = append(errs, module.Close())
	}
	return errors.Join(errs...)
}

// Site is where rungs of an operator run: a device, and the memory of the inputs and
// outputs at a size.
type Site struct {
	Device   gpu.Device
	Operator *ladder.Operator
	Size     ladder.Size
	Memory   map[string]gpu.Buffer // inputs and outputs by name
	Modules  Modules
	Stopped  ladder.Stop // of work on the host, such as rounding a table

	scratch workspace // of a handle; nil allocates scratch for each Prepared
}

// Source is the name of the source that has the entries of a rung's plan.
func (s *Site) Source(v ladder.Variant, p ladder.Plan) string {
	return cmp.Or(p.Module, s.Operator.ModuleOf(v))
}

// load finds the module with the entries of a rung's plan.
func (s *Site) load(v ladder.Variant, p ladder.Plan) (gpu.Module, error) {
	if v.Own != nil {
		return v.Own.Module().On(s.Device)
	}
	return s.Modules.Load(s.Device, s.Operator, s.Source(v, p))
}

// Supports refuses rungs that the device does not support, and sizes that the
// variant does not take.
func (s *Site) Supports(v ladder.Variant) error {
	if info := s.Device.Info(); ladder.Older(info.Compute, v.Needs) {
		return fmt.Errorf("%w on %v, it needs %v", gpu.ErrUnsupported, info, v.Needs)
	}
	if v.Refuses != nil {
		return v.Refuses(s.Size)
	}
	return nil
}

// launch runs a rung once, and waits for it unless async is set. Where memory is
// short it frees the kept scratch, which other operators have used, and tries again.
func (s *Site) launch(v ladder.Variant, async bool) error {
	p, err := s.Prepare(v)
	if errors.Is(err, gpu.ErrMemory) && len(s.scratch) > 0 {
		if err = s.scratch.free(); err == nil {
			p, err = s.Prepare(v)
		}
	}
	if err != nil {
		return err
	}
	for _, buffer := range p.tickets { // by a memset in the stream: an upload waits
		err = errors.Join(err, s.Device.Zero(buffer))
	}
	if err == nil {
		err = p.Enqueue(0)
	}
	if err == nil && !async {
		err = s.Device.Sync()
	}
	if err != nil {
		err = fmt.Errorf("ops: %s: %w", v.Name, err)
	}
	return errors.Join(err, p.Close())
}
