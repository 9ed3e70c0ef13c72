package tool

import (
	"fmt"
	"sync"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

const (
	// emulated bounds the buffers of a launch that is run on the emulator too.
	emulated = 256 << 20

	// emulationTime bounds one such launch.
	emulationTime = 20 * time.Second
)

// emulation runs launches of a GPU on the emulator of that GPU.
type emulation struct {
	info gpu.Info

	mu      sync.Mutex            // held while a launch runs
	device  gpu.Device            // guarded by mu
	modules map[string]gpu.Module // by text; guarded by mu
}

func (e *emulation) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.device != nil {
		e.device.Close() // nothing that matters is on it
		e.device = nil
	}
}

// run counts a launch. The note is the reason why the emulator did not run it;
// the error is the fault that the emulator found.
func (e *emulation) run(l gpu.Launch) (counters gpu.Counters, note string, fault error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	again, free, err := e.copied(l)
	defer free()
	if err != nil {
		return counters, "not emulated: " + err.Error(), nil
	}
	again.Counters = &counters
	late := time.AfterFunc(emulationTime, e.device.Interrupt)
	fault = e.device.Launch(again)
	if !late.Stop() {
		return counters, fmt.Sprintf("not emulated: it takes longer than %v", emulationTime), nil
	}
	return counters, "", fault
}

// copied is a launch with its entry and copies of its buffers on the emulator.
func (e *emulation) copied(l gpu.Launch) (again gpu.Launch, free func(), err error) {
	var made []gpu.Buffer
	free = func() {
		for _, b := range made {
			b.Free()
		}
	}
	entry, err := e.entry(l.Entry)
	if err != nil {
		return again, free, err
	}
	copies := map[gpu.Buffer]gpu.Buffer{}
	bytes := 0
	for _, b := range gpu.Buffers(l) {
		if bytes += b.Len() * b.Type().Bytes(); bytes > emulated {
			return again, free, fmt.Errorf("its buffers have more than %d MiB", emulated>>20)
		}
		if copies[b] != nil {
			continue
		}
		c, err := e.copy(b)
		if err != nil {
			return again, free, err
		}
		copies[b], made = c, append(made, c)
	}
	again = l
	again.Entry, again.Args, again.Zero = entry, nil, nil
	for _, a := range l.Args {
		if b, ok := a.(gpu.Buffer); ok {
			a = copies[b]
		}
		again.Args = append(again.Args, a)
	}
	for _, b := range l.Zero {
		again.Zero = append(again.Zero, copies[b])
	}
	return again, free, nil
}

// entry loads the module of a GPU's entry on the emulator.
func (e *emulation) entry(of gpu.Entry) (gpu.Entry, error) {
	source, ok := of.(interface{ PTX() (name, text string) })
	if !ok {
		return nil, fmt.Errorf("its PTX is not known")
	}
	if e.device == nil {
		d, err := emu.OpenAs(e.info)
		if err != nil {
			return nil, err
		}
		e.device, e.modules = d, map[string]gpu.Module{}
	}
	name, text := source.PTX()
	if e.modules[text] == nil {
		m, err := e.device.Load(name, text)
		if err != nil {
			return nil, err
		}
		e.modules[text] = m
	}
	return e.modules[text].Entry(of.Name())
}

func (e *emulation) copy(b gpu.Buffer) (gpu.Buffer, error) {
	slice := gpu.NewSlice(b.Type(), b.Len())
	if err := b.Download(slice); err != nil {
		return nil, err
	}
	c, err := e.device.Alloc(b.Type(), b.Len())
	if err != nil {
		return nil, err
	}
	return c, c.Upload(slice)
}
