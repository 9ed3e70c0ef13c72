package emu

import (
	"fmt"
	"strings"

	"warpbook/gpu"
)

// A notebook shows these values as one line of facts. No method waits for running work.

// String is the device, its memory and whether it is open.
func (d *Device) String() string {
	used, limit := d.mem.InUse()
	return fmt.Sprintf("%v, %d of %d bytes in use%s", d.info, used, limit, closedText(d.closed.Load()))
}

func closedText(closed bool) string {
	if closed {
		return ", closed"
	}
	return ""
}

func freedText(freed bool) string {
	if freed {
		return ", freed"
	}
	return ""
}

// String is the buffer's name, elements, device and whether it is freed.
func (b *buffer) String() string {
	name := b.memory.Name()
	if strings.HasPrefix(name, "a buffer of ") { // not labelled
		name = "buffer"
	}
	if b.view {
		name = fmt.Sprintf("view from byte %d of %s", b.offset, name)
	}
	state := closedText(b.dev.closed.Load()) // closing the device frees it
	if state == "" {
		state = freedText(b.memory.Contents.Load() == nil)
	}
	return fmt.Sprintf("%s: %d %v on %v%s", name, b.n, b.typ, b.dev.info, state)
}

func (h *host) String() string {
	return fmt.Sprintf("host memory: %d %v for %v%s", h.Len(), h.typ, h.dev.info, freedText(h.freed.Load()))
}

func (s *stream) String() string {
	return fmt.Sprintf("stream of %v%s", s.dev.info, closedText(s.closed.Load() || s.dev.closed.Load()))
}

func (e *event) String() string {
	state := ", not recorded"
	if e.at.Load() != 0 {
		state = ", recorded"
	}
	return fmt.Sprintf("event of %v%s%s", e.dev.info, state, closedText(e.closed.Load()))
}

func (g *replay) String() string {
	if !g.mu.TryLock() { // it may run
		return fmt.Sprintf("graph of %d launches on %v, in use", len(g.launches), g.dev.info)
	}
	defer g.mu.Unlock()
	return fmt.Sprintf("graph of %d launches on %v%s", len(g.launches), g.dev.info, closedText(g.closed))
}

func (m *module) String() string {
	return fmt.Sprintf("module %s on %v: entries %s%s", m.text.Name, m.dev.info, strings.Join(m.Entries(), ", "), closedText(m.closed.Load()))
}

func (e *entry) String() string { return gpu.Signature(e) }
