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

// Under restarts the worker under a tool, such as a profiler: the worker's command
// follows the tool's command. Under moves all live buffers to the new worker. The
// returned function moves their contents back and waits for the tool to end. After
// each move, variables of modules have their initial contents. More than 1 GiB of
// buffers is refused.
func (d *Device) Under(tool ...string) (back func() error, err error) {
	direct := d.config.Worker
	if err := d.move(append(slices.Clone(tool), direct...), direct); err != nil {
		return nil, err
	}
	return func() error { return d.move(direct, nil) }, nil
}

// Observe sets the observer of the device's launches and replaces the previous one;
// nil is none. A device with an observer takes no times.
func (d *Device) Observe(o gpu.Observer) {
	if o == nil {
		d.observer.Store(nil)
		return
	}
	d.observer.Store(&o)
}

// PTX is the text of the entry's module, and its name.
func (e *entry) PTX() (name, text string) { return e.module.text.Name, e.module.load.Text }

// move replaces the worker by one that the first command starts. If that fails and the
// second command is not nil, move starts the worker with the second command.
func (d *Device) move(to, otherwise []string) error {
	l, err := d.current()
	if err != nil {
		return fmt.Errorf("cuda: move: %w", err)
	}
	if l == nil { // it has ended and its buffers are lost
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
	_, err = d.worker() // restores the packed buffers
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

// pack copies the live buffers to the host, as Keep does, and returns the buffers
// for which Keep was not called.
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

// unpack frees the host memory that pack allocated.
func (d *Device) unpack(moved []*allocation) {
	for _, a := range moved {
		a.kept.Store(false)
		if h := a.mirror.Swap(nil); h != nil {
			h.Free()
		}
	}
}
