package cuda

import (
	"errors"
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// Keep mirrors the whole allocation in host memory, also when it is called for
// a view.
func (b *buffer) Keep() error {
	l, err := b.here()
	if err != nil {
		return fmt.Errorf("cuda: keep: %w", err)
	}
	if b.memory.module != nil {
		return fmt.Errorf("cuda: keep: %w: %s is a variable of a module", gpu.ErrArgument, b.memory.name())
	}
	if b.memory.kept.Swap(true) || b.memory.bytes == 0 {
		return nil
	}
	h, err := b.dev.newHost(gpu.Uint8, int(b.memory.bytes), b.memory.bytes)
	if err != nil {
		return err
	}
	b.memory.mirror.Store(h)
	b.memory.dirty.Store(true)
	return b.dev.mirrorOne(l, b.memory)
}

// changed marks the buffers that a launch may write to.
func (d *Device) changed(l gpu.Launch) {
	for _, b := range gpu.Buffers(l) {
		b.(*buffer).memory.dirty.Store(true)
	}
}

// mirrorAll updates the mirrors. The notice reports a mirror that cannot be
// updated: the work itself has succeeded.
func (d *Device) mirrorAll(l *link) {
	var errs []error
	for _, a := range d.living(l) {
		if a.kept.Load() && a.dirty.Load() {
			errs = append(errs, d.mirrorOne(l, a))
		}
	}
	if err := errors.Join(errs...); err != nil && d.config.Notice != nil {
		d.config.Notice(err.Error())
	}
}

func (d *Device) mirrorOne(l *link, a *allocation) error {
	h := a.mirror.Load()
	if h == nil || !a.dirty.Swap(false) {
		return nil
	}
	err := d.transfer(l, h, command.Place{Offset: h.span.offset}, command.Place{Buffer: a.handle}, a.bytes)
	if err != nil {
		a.dirty.Store(true)
		return fmt.Errorf("cuda: keep %s: %w", a.name(), err)
	}
	return nil
}

// transfer copies between a buffer and host memory, and waits.
func (d *Device) transfer(l *link, h *host, dst, src command.Place, bytes int64) error {
	if err := h.register(l); err != nil {
		return err
	}
	if err := l.post(&command.Copy{Dst: dst, Src: src, Bytes: bytes}); err != nil {
		return err
	}
	_, err := d.do(l, &command.Sync{Stream: command.AllStreams}, "copy")
	return err
}

// restore gives a fresh worker the buffers that were kept.
func (d *Device) restore(l *link) error {
	d.mu.Lock()
	var kept []*allocation
	for handle, a := range d.buffers {
		switch {
		case a.kept.Load():
			kept = append(kept, a)
		case a.link.Load() != l: // lost
			delete(d.buffers, handle)
		}
	}
	d.mu.Unlock()
	for _, a := range kept {
		if err := d.allocate(l, a); err != nil {
			return err
		}
		h := a.mirror.Load()
		if h == nil {
			continue
		}
		if err := d.transfer(l, h, command.Place{Buffer: a.handle}, command.Place{Offset: h.span.offset}, a.bytes); err != nil {
			return fmt.Errorf("cuda: restore %s: %w", a.name(), err)
		}
		a.dirty.Store(false)
	}
	return nil
}
