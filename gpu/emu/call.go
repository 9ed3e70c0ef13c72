package emu

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/emu/engine"
)

// Transfers of a whole program: calls of CUDA's runtime API that work on bytes of memory in a
// stream. Package program has copied what they write or copies what they read; here they are
// compared with work in other streams. The host waits for none of them.

// Call is such a call.
type Call struct {
	On   gpu.Stream // nil if it is no work of the program's, and not compared
	Name string     // in warnings, such as "cudaMemcpyAsync"
}

// Write copies bytes of the host to a buffer.
func (d *Device) Write(c Call, to gpu.Buffer, data []byte) error {
	return d.call(c, to, nil, func(to, _ []byte) { copy(to, data) })
}

// Read copies a buffer to bytes of the host.
func (d *Device) Read(c Call, data []byte, from gpu.Buffer) error {
	return d.call(c, nil, from, func(_, from []byte) { copy(data, from) })
}

// Move copies a buffer to another one of its size.
func (d *Device) Move(c Call, to, from gpu.Buffer) error {
	return d.call(c, to, from, func(to, from []byte) { copy(to, from) })
}

// Fill sets the bytes of a buffer.
func (d *Device) Fill(c Call, to gpu.Buffer, value byte) error {
	return d.call(c, to, nil, func(to, _ []byte) {
		if clear(to); value == 0 {
			return
		}
		for i := range to {
			to[i] = value
		}
	})
}

// call does a call that writes a buffer, reads one, or both.
func (d *Device) call(c Call, to, from gpu.Buffer, do func(to, from []byte)) error {
	t := engine.Transfer{What: c.Name}
	d.run.lockToWrite()
	defer d.run.Unlock()
	var data [2][]byte
	var buffers [2]*buffer
	for i, b := range []gpu.Buffer{to, from} {
		if b == nil {
			continue
		}
		if err := d.own(b); err != nil {
			return fmt.Errorf("emu: %s: %w", c.Name, err)
		}
		buffers[i] = b.(*buffer)
		bytes, _, err := buffers[i].bytes()
		if err != nil {
			return fmt.Errorf("emu: %s: %w", c.Name, err)
		}
		data[i] = bytes
	}
	if x := buffers[0]; x != nil {
		t.Write = x.whole()
	}
	if x := buffers[1]; x != nil {
		t.Read = x.whole()
	}
	if c.On != nil {
		s, err := d.stream(c.On, c.Name)
		if err != nil {
			return err
		}
		d.streams.Transfer(d.order.launch(s.number), t)
	}
	do(data[0], data[1])
	if x := buffers[0]; x != nil {
		contents := x.memory.Contents.Load()
		if y := buffers[1]; y != nil {
			contents.Inherit(x.offset, y.memory.Contents.Load(), y.offset, len(data[0]))
		} else {
			contents.Wrote(x.offset, len(data[0]))
		}
	}
	return nil
}

// WaitForAll notes that the host has waited for all work, for the search for races between
// streams.
func (d *Device) WaitForAll() { d.order.syncAll() }

// WaitForEvent notes that the host has waited for an event.
func (d *Device) WaitForEvent(e gpu.Event) {
	if x, ok := e.(*event); ok && x.dev == d {
		d.order.syncEvents(x)
	}
}

// SetWarnings sets what gets the warnings of transfers, which have no launch; nil prints them.
func (d *Device) SetWarnings(warn func(*gpu.Fault)) { d.engine.SetWarnings(warn) }
