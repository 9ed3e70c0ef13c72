package bench

import (
	"errors"
	"fmt"
	"time"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// trial is a rung that is prepared on a bench's memory, to be checked, timed and
// counted.
type trial struct {
	*run.Prepared
	bench *Bench
}

// prepare makes a rung ready. The caller closes the trial.
func (b *Bench) prepare(v ladder.Variant) (*trial, error) {
	p, err := b.site.Prepare(v)
	return &trial{p, b}, err
}

// poison fills the outputs and all scratch, so that an element that a run leaves out, or
// reads before it writes it, shows in its result, and clears the tickets.
func (r *trial) poison() error {
	b := r.bench
	var errs []error
	for i, t := range b.outputTensors() {
		errs = append(errs, t.Upload(b.stopped, r.Memory(t.Name), t.PoisonedFor(b.expected[i])))
	}
	return errors.Join(append(errs, r.PoisonScratch(), r.ClearTickets())...)
}

// once runs the rung once and returns its outputs and how long the run took
// here, launches and waiting included. A plan without steps zeroes the outputs.
func (r *trial) once() (outputs []ladder.Values, took time.Duration, err error) {
	if r.Variant.Host != nil {
		outputs = r.newOutputs()
		return outputs, r.onHost(outputs), nil
	}
	if err := r.poison(); err != nil {
		return nil, 0, err
	}
	start := time.Now()
	if err := r.Submit(r.checks()); err != nil {
		return nil, 0, err
	}
	took = time.Since(start)
	outputs, err = r.download()
	return outputs, took, err
}

// onHost runs a rung of the host once, and returns how long it took.
func (r *trial) onHost(outputs []ladder.Values) time.Duration {
	start := time.Now()
	r.Variant.Host(r.bench.stopped, r.bench.site.Size, r.bench.inputs, outputs)
	return time.Since(start)
}

// again runs a rung once whose result was right before, and returns how long it
// took. It overwrites the outputs first, so that a result that an earlier rung left
// does not pass for its own: with zeros on the device, or with the poison that must
// remain beyond a count.
func (r *trial) again() (took time.Duration, err error) {
	b := r.bench
	for _, t := range b.outputTensors() {
		switch {
		case t.Len == 0:
		case t.Count != "":
			err = errors.Join(err, t.Upload(b.stopped, r.Memory(t.Name), t.Poisoned()))
		default:
			err = errors.Join(err, b.site.Device.Zero(r.Memory(t.Name)))
		}
	}
	if err = errors.Join(err, r.ClearTickets(), b.site.Device.Sync()); err == nil {
		start := time.Now()
		err = r.Submit(r.checks())
		took = time.Since(start)
	}
	if err != nil {
		return 0, fmt.Errorf("ops: %s: %w", r.Variant.Name, err)
	}
	return took, nil
}

// searchedBytes is the most memory of inputs and outputs in which races between blocks
// are looked for: such a launch runs on one processor, and the emulator keeps up to 16 bytes
// for each word that it touches (engine.TestMarksAreBounded).
const searchedBytes = 16 << 20

// checks are those that the device makes of the launches of a check.
func (r *trial) checks() gpu.Checks {
	checks, bytes := r.bench.site.Device.Info().Checks, 0
	for _, t := range r.bench.tensors() {
		bytes += t.Len * t.Elements().Bytes()
	}
	if bytes > searchedBytes {
		checks &^= gpu.CheckBlockRaces
	}
	return checks
}

// newOutputs is host memory for the outputs, poisoned.
func (r *trial) newOutputs() (outputs []ladder.Values) {
	for _, t := range r.bench.outputTensors() {
		outputs = append(outputs, t.Poisoned())
	}
	return outputs
}

// download reads the outputs into the bench's host memory, where they stay until the
// next download.
func (r *trial) download() (outputs []ladder.Values, err error) {
	for _, t := range r.bench.outputTensors() {
		values := r.bench.hostMemory(t)
		if err := t.Download(r.bench.stopped, r.Memory(t.Name), values); err != nil {
			return nil, err
		}
		outputs = append(outputs, values)
	}
	return outputs, nil
}
