package cuda

import (
	"fmt"
	"strings"

	"warpbook/gpu"
)

// The String methods return the line that a notebook shows for a value. None waits
// for running work: they only try a lock that is held while work is submitted.

// String is the device, its memory and whether it is open.
func (d *Device) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var used int64
	for _, a := range d.buffers {
		if a.link.Load() == d.link {
			used += a.bytes
		}
	}
	text := fmt.Sprintf("%v, %d of %d bytes in use", d.info, used, d.info.GlobalBytes)
	switch {
	case d.closed:
		return text + ", closed"
	case d.link != nil && d.link.err() != nil:
		return fmt.Sprintf("%v, its worker has ended, the next call starts another: %v", d.info, d.link.err())
	}
	return text
}

// ended is ", closed" of a device that is.
func (d *Device) ended() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return closedText(d.closed)
}

func closedText(closed bool) string {
	if closed {
		return ", closed"
	}
	return ""
}

// String is the buffer's name, elements, device and whether the memory exists.
func (b *buffer) String() string {
	name := "buffer"
	switch label := b.memory.labelled(); {
	case label != "":
		name += " " + label
	case b.memory.module != nil:
		name = "variable " + b.memory.what
	}
	if b.view {
		name = fmt.Sprintf("view from byte %d of %s", b.offset, name)
	}
	state := b.dev.ended()
	switch in := b.memory.link.Load(); {
	case state != "":
	case b.memory.freed.Load():
		state = ", freed"
	case in.err() != nil && b.memory.kept.Load():
		state = ", kept: it comes back with the next call"
	case in.err() != nil:
		state = fmt.Sprintf(", lost with its worker: allocate it again: %v", in.err())
	}
	return fmt.Sprintf("%s: %d %v on %v%s", name, b.n, b.typ, b.dev.info, state)
}

func (h *host) String() string {
	state := ""
	if h.freed.Load() {
		state = ", freed"
	}
	return fmt.Sprintf("host memory: %d %v for %v%s", h.Len(), h.typ, h.dev.info, state)
}

func (s *stream) String() string {
	state := ", in use"
	if s.mu.TryLock() {
		state = closedText(s.closed)
		s.mu.Unlock()
	}
	return fmt.Sprintf("stream of %v%s", s.dev.info, state)
}

func (e *event) String() string {
	state := ", in use"
	if e.mu.TryLock() {
		state = ", not recorded"
		if e.link != nil {
			state = ", recorded"
		}
		state += closedText(e.closed)
		e.mu.Unlock()
	}
	return fmt.Sprintf("event of %v%s", e.dev.info, state)
}

func (g *graph) String() string {
	state := ", in use"
	if g.mu.TryLock() {
		state = closedText(g.closed)
		g.mu.Unlock()
	}
	return fmt.Sprintf("graph of %d launches on %v%s", len(g.launches), g.dev.info, state)
}

func (m *module) String() string {
	state := ", in use"
	if m.mu.TryLock() {
		state = closedText(m.closed)
		m.mu.Unlock()
	}
	return fmt.Sprintf("module %s on %v: entries %s%s", m.text.Name, m.dev.info, strings.Join(m.load.Entries, ", "), state)
}

func (e *entry) String() string { return gpu.Signature(e) }
