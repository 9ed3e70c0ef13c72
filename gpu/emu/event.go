package emu

import (
	"fmt"
	"sync/atomic"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/capture"
)

// event is the time at which it was recorded.
type event struct {
	dev    *Device
	at     atomic.Int64 // nanoseconds; 0 before it was recorded
	after  clock        // work that it comes after; guarded by the device's ordering
	closed atomic.Bool

	captured capture.Event
}

// Since is the time between two events.
func (e *event) Since(start gpu.Event) (time.Duration, error) {
	s, ok := start.(*event)
	if !ok || s.dev != e.dev {
		return 0, fmt.Errorf("emu: since: %w: the event is not of this device", gpu.ErrArgument)
	}
	for _, x := range []*event{s, e} {
		if err := x.captured.Recorded("since"); err != nil {
			return 0, err
		}
	}
	if e.at.Load() == 0 || s.at.Load() == 0 {
		return 0, fmt.Errorf("emu: since: %w: an event that was not recorded", gpu.ErrArgument)
	}
	e.dev.order.syncEvents(s, e)
	return time.Duration(e.at.Load() - s.at.Load()), nil
}

// Close releases the event.
func (e *event) Close() error {
	if e.closed.Swap(true) {
		return fmt.Errorf("emu: close event: %w: it was closed before", gpu.ErrClosed)
	}
	return nil
}
