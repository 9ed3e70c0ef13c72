// Package lab holds what the experiments in cells of notebooks share: the best device with
// an emulator beside it, buffers, one launch that is counted or timed, and checks that end
// a cell. Its functions panic where an error must end the cell. Programs use packages gpu
// and ops instead.
package lab

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/device"
)

// NeedsGPU stands in tables where a figure needs a GPU.
const NeedsGPU = "needs a GPU"

// Devices opens the best device there is, and an emulator, which counts what a GPU does
// not. Without a GPU both are the same device.
func Devices() (best, emulator gpu.Device) {
	best = device.MustOpen("")
	if best.Info().Emulated {
		return best, best
	}
	return best, device.MustOpen("emu")
}

// Must ends the cell at an error.
func Must(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(err)
	}
}

// Check ends the cell where a statement of the notebook does not hold; the figures say why.
func Check(holds bool, statement string, figures ...any) {
	if !holds {
		panic(fmt.Sprint(statement, ": ", figures))
	}
}

// Buffer is a buffer of so many elements with the values of a slice, or unset where values
// is nil.
func Buffer(d gpu.Device, t gpu.Type, length int, values any) gpu.Buffer {
	b, err := d.Alloc(t, length)
	Must(err)
	if values != nil {
		Must(b.Upload(values))
	}
	return b
}

// Uint32s are the elements of a buffer.
func Uint32s(b gpu.Buffer) []uint32 {
	x := make([]uint32, b.Len())
	Must(b.Download(x))
	return x
}

// Float32s are the elements of a buffer.
func Float32s(b gpu.Buffer) []float32 {
	x := make([]float32, b.Len())
	Must(b.Download(x))
	return x
}

// Counted launches an entry once on an emulator and returns what it did.
func Counted(emulator gpu.Device, e *compile.Entry, grid, block gpu.Dim, args ...any) gpu.Counters {
	var c gpu.Counters
	Must(e.Run(emulator, gpu.Launch{Grid: grid, Block: block, Args: args, Counters: &c}), emulator.Sync())
	return c
}

// Median is the median time of an entry's launches on a GPU. They run without checks, so
// that nothing is copied for the replay of a fault.
func Median(d gpu.Device, timing gpu.Timing, e *compile.Entry, grid, block gpu.Dim, args ...any) time.Duration {
	entry, err := e.On(d)
	Must(err)
	times, err := d.Time(timing, gpu.Launch{Entry: entry, Grid: grid, Block: block, Args: args, Checks: gpu.CheckNone})
	Must(err)
	slices.Sort(times)
	return times[len(times)/2]
}
