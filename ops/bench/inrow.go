package bench

import (
	"fmt"
	"time"

	"warpbook/gpu"
	"warpbook/ops/results"
)

// Runs in a row are as many as take rowTime, and at most mostInRow.
const (
	rowTime   = 2 * time.Millisecond
	mostInRow = 100
)

// runsInRow is how many runs that take so long are timed together.
func runsInRow(took time.Duration) int {
	return int(min(mostInRow, max(1, rowTime/max(took, time.Microsecond))))
}

// timeLaunches times launches, of which one run took so long, by the bench's
// method.
func (r *trial) timeLaunches(launches []gpu.Launch, took time.Duration, repeats int) (results.Sample, error) {
	if len(launches) == 0 { // a problem without elements
		return results.Sample{}, nil
	}
	m := r.bench.Method
	timing := gpu.Timing{Warmup: 3, Repeats: repeats, Flush: m.Cache == results.Flushed, Graph: m.Clock == results.Graph}
	inRow := 1
	switch {
	case r.bench.site.Device.Info().Emulated:
		timing.Warmup = 0 // the check before was the warm-up
	case m.Clock != results.Events:
		inRow = runsInRow(took)
		rotations, err := r.rotations(launches)
		if err != nil {
			return results.Sample{}, err
		}
		inRow = max(inRow/len(rotations), 1) * len(rotations)
		launches = nil
		for i := range inRow {
			launches = append(launches, rotations[i%len(rotations)]...)
		}
	}
	times, err := r.bench.site.Device.Time(timing, launches...)
	if err != nil {
		return results.Sample{}, fmt.Errorf("ops: %s: time: %w", r.Variant.Name, err)
	}
	for i := range times {
		times[i] /= time.Duration(inRow)
	}
	return results.Summarize(times), nil
}

// mostRotations bounds the copies of the data that runs take in rotation.
const mostRotations = 64

// rotations are the launches on each copy of the data: on the data alone unless L2
// is to be rotated.
func (r *trial) rotations(launches []gpu.Launch) ([][]gpu.Launch, error) {
	b := r.bench
	rotations := [][]gpu.Launch{launches}
	if b.Method.Cache != results.Rotated {
		return rotations, nil
	}
	bytes := b.operator.Work(b.site.Size).Bytes
	wanted := min(mostRotations, 1+int(2*float64(b.site.Device.Info().L2Bytes)/max(bytes, 1)))
	copies, err := b.rotated(wanted - 1)
	if err != nil {
		return nil, fmt.Errorf("ops: %s: copies of the data: %w", b.operator.Name, err)
	}
	for _, memory := range copies {
		on, err := r.LaunchesOn(memory, len(launches))
		if err != nil {
			return nil, err
		}
		rotations = append(rotations, on)
	}
	return rotations, nil
}
