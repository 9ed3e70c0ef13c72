package cuda

import (
	"fmt"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// ring is host memory that plain slices pass through, in slots: while the
// device transfers one, the next is copied.
type ring struct {
	mu     sync.Mutex // held by the transfer that uses the ring
	host   *host      // made at first use; guarded by mu
	link   *link      // that has the events; guarded by mu
	events [slots]uint32
}

const (
	slots     = 4
	slotBytes = 4 << 20
)

// open readies the ring for a worker and waits for work on other streams,
// which a transfer is not ordered with; r.mu is held.
func (r *ring) open(d *Device, l *link) error {
	if r.host == nil {
		h, err := d.newHost(gpu.Uint8, slots*slotBytes, slots*slotBytes)
		if err != nil {
			return err
		}
		r.host = h
	}
	if err := r.host.register(l); err != nil {
		return err
	}
	if r.link != l {
		for i := range r.events {
			r.events[i] = d.handle()
			if err := l.post(&command.NewEvent{Event: r.events[i]}); err != nil {
				return err
			}
		}
		r.link = l
	}
	if d.streams.Load() == 0 {
		return nil
	}
	_, err := d.wait(l, &command.Sync{Stream: command.AllStreams}, "transfer")
	return err
}

// slot is the i-th part of the transfer: its memory in the ring and its offset there.
func (r *ring) slot(i int) ([]byte, command.Place) {
	at := i % slots * slotBytes
	return r.host.bytes()[at : at+slotBytes], command.Place{Offset: r.host.span.offset + int64(at)}
}

// submit queues the copy of a slot.
func (r *ring) submit(i int, dst, src command.Place, n int) error {
	if err := r.link.post(&command.Copy{Dst: dst, Src: src, Bytes: int64(n)}); err != nil {
		return err
	}
	return r.link.post(&command.Record{Event: r.events[i%slots]})
}

// finished waits for the copy of a slot.
func (r *ring) finished(d *Device, i int, what string) error {
	_, err := d.wait(r.link, &command.SyncEvent{Event: r.events[i%slots]}, what)
	return err
}

func parts(n int) int { return (n + slotBytes - 1) / slotBytes }

// part is the i-th part of the data.
func part(data []byte, i int) []byte { return data[i*slotBytes : min(len(data), (i+1)*slotBytes)] }

// upload copies data to a buffer.
func (r *ring) upload(b *buffer, l *link, data []byte) error {
	what := "upload to " + b.memory.name()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(b.dev, l); err != nil {
		return asFault(what, err)
	}
	for i := range parts(len(data)) {
		if i >= slots {
			if err := r.finished(b.dev, i, what); err != nil {
				return err
			}
		}
		memory, place := r.slot(i)
		n := copy(memory, part(data, i))
		to := b.place()
		to.Offset += int64(i * slotBytes)
		if err := r.submit(i, to, place, n); err != nil {
			return asFault(what, err)
		}
	}
	return r.drain(b.dev, len(data), what)
}

// drain waits for the last copies, which are all on one stream.
func (r *ring) drain(d *Device, bytes int, what string) error {
	if bytes == 0 {
		return nil
	}
	return r.finished(d, parts(bytes)-1, what)
}

// download copies a buffer to data.
func (r *ring) download(b *buffer, l *link, data []byte) error {
	what := "download of " + b.memory.name()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(b.dev, l); err != nil {
		return asFault(what, err)
	}
	request := func(i int) error {
		_, place := r.slot(i)
		from := b.place()
		from.Offset += int64(i * slotBytes)
		return asFault(what, r.submit(i, place, from, len(part(data, i))))
	}
	total := parts(len(data))
	for i := range min(slots, total) {
		if err := request(i); err != nil {
			return err
		}
	}
	for i := range total {
		if err := r.finished(b.dev, i, what); err != nil {
			return err
		}
		memory, _ := r.slot(i)
		copy(part(data, i), memory)
		if i+slots < total {
			if err := request(i + slots); err != nil {
				return err
			}
		}
	}
	return nil
}

// close frees the ring's memory; the worker has ended.
func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.host != nil {
		r.host.Free()
		r.host = nil
	}
}

// asFault adds the operation to an error, unless the error is a fault, which names
// its own.
func asFault(what string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := err.(*gpu.Fault); ok {
		return f
	}
	return fmt.Errorf("cuda: %s: %w", what, err)
}
