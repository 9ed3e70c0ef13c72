package cuda

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

const (
	// movable bounds the buffers that are moved from one worker to another.
	movable = 1 << 30

	// toolPatience is how long a tool may take to write its report.
	toolPatience = 60 * time.Second
)

var errMoved = errors.New("the worker was replaced by another")

// Under starts the worker again as the last words of a tool's command, such as
// a profiler's, and moves all live buffers along; what they hold moves back
// with the returned function, which waits for the tool to end. Variables of
// modules have their first contents again after each move. More than 1 GiB of
// buffers is refused.
func (d *Device) Under(tool ...string) (back func() error, err error) {
	direct := d.config.Worker
	if err := d.move(append(slices.Clone(tool), direct...), direct); err != nil {
		return nil, err
	}
	return func() error { return d.move(direct, nil) }, nil
}

// Observe puts an observer around the device's launches, in place of the one
// before; nil is none. Under an observer no times are taken.
func (d *Device) Observe(o gpu.Observer) {
	if o == nil {
		d.observer.Store(nil)
		return
	}
	d.observer.Store(&o)
}

// PTX is the text of the entry's module, and its name.
func (e *entry) PTX() (name, text string) { return e.module.text.Name, e.module.load.Text }

// move replaces the worker by one that a command starts; if that fails, by one
// that the other command starts, if there is one.
func (d *Device) move(to, otherwise []string) error {
	l, err := d.current()
	if err != nil {
		return fmt.Errorf("cuda: move: %w", err)
	}
	if l == nil { // it has ended, and its buffers with it
		d.run(to)
		return nil
	}
	moved, err := d.pack(l)
	if err != nil {
		return err
	}
	defer d.unpack(moved)
	d.run(to)
	l.finish(errMoved)
	_, err = d.worker() // gets what was packed
	if err != nil && otherwise != nil {
		d.run(otherwise)
		_, again := d.worker()
		err = errors.Join(err, again)
	}
	return err
}

// run chooses the command that starts workers.
func (d *Device) run(command []string) {
	d.starting.Lock()
	defer d.starting.Unlock()
	d.config.Worker = command
}

// pack copies the live buffers to the host, as if they were kept, and returns
// those that are not kept otherwise.
func (d *Device) pack(l *link) (moved []*allocation, err error) {
	var bytes int64
	live := d.living(l)
	for _, a := range live {
		bytes += a.bytes
	}
	if bytes > movable {
		return nil, fmt.Errorf("cuda: move: %w: %.2f GiB of live buffers, expected at most %d GiB: free buffers, or take a smaller size",
			gpu.ErrMemory, float64(bytes)/(1<<30), movable>>30)
	}
	if _, err := d.do(l, &command.Sync{Stream: command.AllStreams}, "move"); err != nil {
		return nil, err
	}
	for _, a := range live {
		if a.kept.Load() {
			err = d.mirrorOne(l, a)
		} else if err = d.packOne(l, a); err == nil {
			moved = append(moved, a)
		}
		if err != nil {
			d.unpack(moved)
			return nil, fmt.Errorf("cuda: move %s: %w", a.name(), err)
		}
	}
	return moved, nil
}

func (d *Device) packOne(l *link, a *allocation) error {
	if a.bytes > 0 {
		h, err := d.newHost(gpu.Uint8, int(a.bytes), a.bytes)
		if err != nil {
			return err
		}
		a.mirror.Store(h)
	}
	a.dirty.Store(true)
	a.kept.Store(true)
	if err := d.mirrorOne(l, a); err != nil {
		d.unpack([]*allocation{a})
		return err
	}
	return nil
}

// unpack gives the host memory back that pack took.
func (d *Device) unpack(moved []*allocation) {
	for _, a := range moved {
		a.kept.Store(false)
		if h := a.mirror.Swap(nil); h != nil {
			h.Free()
		}
	}
}
