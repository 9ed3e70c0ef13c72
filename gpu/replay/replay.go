// Package replay finds the exact cause of a fault on a GPU: it runs the
// launches that may have caused it again, from copies of the memory that they
// were given, on a device that checks every access.
//
// Package cuda takes the copies and calls it; the device is the emulator. The package
// opens no device, and must import none: it knows only gpu.Device.
package replay

import (
	"context"
	"errors"
	"fmt"

	"warpbook/gpu"
)

// Log is launches in the order in which they were submitted, and the memory
// that they were given as it was before the first of them.
type Log struct {
	Memory   []Memory
	Launches []Launch
}

// Memory is a buffer, or a variable of a module.
type Memory struct {
	Label    string // of Buffer.Label; "" for none
	Type     gpu.Type
	Contents []byte
	Module   *Module // of a variable, with its name
	Variable string
}

// Module is PTX as it was loaded.
type Module struct{ Name, Text string }

// Launch is a gpu.Launch whose entry is found by name, and whose buffers are
// Parts.
type Launch struct {
	gpu.Launch
	Module *Module
	Name   string
}

// Part stands for a buffer or a view: elements of the Log's memory. It has no
// methods of a buffer that can be called.
type Part struct {
	gpu.Buffer
	Memory, Start, Elements int
}

// Run runs a log on a device that open opens, and returns the first fault, nil
// if there is none. An error says why the log could not be run, or not within
// the life of the context.
func Run(ctx context.Context, open func() (gpu.Device, error), log Log) (*gpu.Fault, error) {
	device, err := open()
	if err != nil {
		return nil, err
	}
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- device.Close() }) // ends what runs
	fault, err := run(device, log)
	if stop() {
		return fault, errors.Join(err, device.Close())
	}
	<-closed
	return nil, fmt.Errorf("replay: %w", context.Cause(ctx))
}

// run loads the modules of the log and runs it.
func run(device gpu.Device, log Log) (*gpu.Fault, error) {
	modules := map[*Module]gpu.Module{nil: nil}
	load := func(m *Module) (err error) {
		if _, there := modules[m]; !there {
			modules[m], err = device.Load(m.Name, m.Text)
		}
		return err
	}
	for _, l := range log.Launches {
		if err := load(l.Module); err != nil {
			return nil, err
		}
	}
	memory := make([]gpu.Buffer, len(log.Memory))
	for i, m := range log.Memory {
		err := load(m.Module)
		if err == nil {
			memory[i], err = m.restore(device, modules[m.Module])
		}
		if err != nil {
			return nil, err
		}
	}
	for _, l := range log.Launches {
		err := l.run(device, modules[l.Module], memory)
		if fault := new(gpu.Fault); errors.As(err, &fault) {
			return fault, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// restore makes the memory on a device, or finds it in a module, with its
// contents.
func (m Memory) restore(device gpu.Device, module gpu.Module) (gpu.Buffer, error) {
	n := len(m.Contents) / m.Type.Bytes()
	slice := gpu.NewSlice(m.Type, n)
	bytes, err := gpu.SliceBytes(slice, m.Type, n)
	if err != nil {
		return nil, err
	}
	copy(bytes, m.Contents)
	var buffer gpu.Buffer
	if m.Module != nil {
		buffer, err = module.Global(m.Variable)
	} else {
		buffer, err = device.Alloc(m.Type, n)
	}
	if err != nil {
		return nil, err
	}
	if m.Label != "" {
		buffer.Label(m.Label)
	}
	return buffer, buffer.Upload(slice)
}

// run runs the launch and waits for its end.
func (l Launch) run(device gpu.Device, module gpu.Module, memory []gpu.Buffer) error {
	again, err := gpu.WithBuffers(l.Launch, func(b gpu.Buffer) (gpu.Buffer, error) {
		part := b.(Part)
		return memory[part.Memory].View(part.Start, part.Elements)
	})
	if err != nil {
		return err
	}
	if again.Entry, err = module.Entry(l.Name); err != nil {
		return err
	}
	again.Checks = gpu.CheckFaults
	if err := device.Launch(again); err != nil {
		return err
	}
	return device.Sync()
}
