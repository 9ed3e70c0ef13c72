package bench

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/inspect"
	"warpbook/ops/results"
)

// Watch calls a function that launches kernels on an emulator, and returns what a block of
// the last launch left at its end or at its fault: shared memory as banks, with the thread
// that wrote each word, and the values of each thread. It is the block that the caller
// names, else that of the fault, else the first. Code with debug information (%%cuda
// --debug) has the variables of the source; other code what each line stored.
func Watch(device gpu.Device, launch func() error, block ...gpu.Dim) (*inspect.State, error) {
	return inspect.Watch(device, launch, block...)
}

// WatchRung launches a rung of a bench and returns what a block of its last launch left, as
// Watch does. The device of the bench is an emulator.
func WatchRung(b *Bench, variant string, block ...gpu.Dim) (state *inspect.State, err error) {
	var e results.Environment
	err = b.each("watch", []string{variant}, &e, func(r *trial) error {
		if r.Variant.Host != nil {
			return fmt.Errorf("ops: %s: watch: %w, it runs on the CPU", variant, gpu.ErrUnsupported)
		}
		state, err = inspect.Watch(b.site.Device, func() error {
			_, _, err := r.check()
			return err
		}, block...)
		return err
	})
	return state, err
}
