package bench

import (
	"errors"
	"fmt"
	"time"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// Check runs the named rungs, all for none, and compares each result with
// the reference. A wrong result is a row; an error is a device that cannot go
// on, or an unknown name.
func (b *Bench) Check(variants ...string) (*results.Checks, error) {
	c := &results.Checks{Subject: b.subject("each variant once, outputs and scratch poisoned before")}
	err := b.each("check", variants, &c.Environment, func(r *trial) error {
		row, _, err := r.check()
		c.Rows = append(c.Rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// check runs the rung once and judges it. took is the time of that run.
func (r *trial) check() (row results.Check, took time.Duration, err error) {
	b := r.bench
	row = results.Check{Name: r.Variant.Name, Expect: b.expect(r.Variant)}
	outputs, took, err := r.once()
	if kind := faultKind(err); kind != "" {
		row.Failed, row.Detail = []string{ladder.CheckFault + kind}, err.Error()
		row.Verdict = ladder.Verdict(row.Failed, row.Expect)
		return row, took, b.restore()
	}
	if err != nil {
		return row, took, fmt.Errorf("ops: %s: %w", r.Variant.Name, err)
	}
	c := r.compare(outputs)
	row.Result, row.Reference, row.Error, row.Bound, row.Ran = c.Got, c.Want, c.Error, c.Bound, true
	row.Note, row.ResultText, row.ReferenceText = c.Note, c.GotText, c.WantText
	unchanged, err := r.inputUnchanged()
	if err == nil && !unchanged {
		c.Fail(ladder.CheckInput)
		err = b.restore()
	}
	if err == nil && len(c.Failed) == 0 && r.loose() {
		err = r.checkOrder(&c, outputs)
	}
	row.Failed, row.Detail = c.Failed, r.wrongElements(c)
	row.Verdict = ladder.Verdict(row.Failed, row.Expect)
	if err != nil {
		return row, took, fmt.Errorf("ops: %s: %w", r.Variant.Name, err)
	}
	if row.Verdict == ladder.Pass && r.Variant.Host == nil && r.Variant.Own == nil {
		b.verified[r.Variant.Name] = true
	}
	return row, took, nil
}

// wrongElements says which elements of an output fail their checks, and by which launch
// they were made; "" for none.
func (r *trial) wrongElements(c ladder.Comparison) string {
	if c.Wrong == 0 {
		return ""
	}
	name := r.bench.operator.Outputs(r.bench.site.Size)[c.Output].Name
	text := fmt.Sprintf("%d of %d elements, the first %s[%d]", c.Wrong, c.Of, name, c.First)
	if steps := r.Plan.Steps; len(steps) > 0 {
		last := steps[len(steps)-1]
		text += fmt.Sprintf("; grid %v, block %v", last.Grid.Full(), last.Block.Full())
		if len(steps) > 1 {
			text += fmt.Sprintf(" in the last of %d launches", len(steps))
		}
	}
	return text
}

// faultKind names the kind of a fault of the launch itself, "" for no error or
// another one: those end the work.
func faultKind(err error) string {
	var fault *gpu.Fault
	if !errors.As(err, &fault) || errors.Is(err, gpu.ErrInterrupted) || errors.Is(err, gpu.ErrClosed) {
		return ""
	}
	return fault.Kind.Error()
}

// compare compares the outputs of a run with the reference.
func (r *trial) compare(outputs []ladder.Values) ladder.Comparison {
	b := r.bench
	return ladder.Compare(b.stopped, b.operator.Outputs(b.site.Size), outputs, b.expected, r.Plan)
}

// loose reports whether the bound of rounded sums allows more than the tolerance, so
// that their order is checked, too.
func (r *trial) loose() bool {
	return ladder.Bound(r.Plan.Depth) > ladder.Tolerance && (r.Variant.Order != nil || r.bench.operator.Exact != nil)
}

// checkOrder decides where the error bound is looser than the tolerance. A
// variant with a known order of additions must give the bits of the CPU. One
// without, whose blocks meet in atomics, runs again on numbers whose float32
// sum is the same in every order, and must give exactly that.
func (r *trial) checkOrder(c *ladder.Comparison, outputs []ladder.Values) error {
	b := r.bench
	if order := r.Variant.Order; order != nil {
		same := ladder.CloneAll(outputs)
		order(b.stopped, b.site.Size, b.inputs, same)
		for i := range outputs {
			if !ladder.SameBits(outputs[i], same[i]) {
				c.Fail(ladder.CheckOrder)
			}
		}
		return nil
	}
	exact := b.operator.Exact(b.stopped, b.site.Size, b.seed)
	if err := b.upload(exact); err != nil {
		return err
	}
	outputs, _, err := r.once()
	if err != nil {
		return err
	}
	want := b.operator.Reference(b.stopped, b.site.Size, exact)
	if len(ladder.Compare(b.stopped, b.operator.Outputs(b.site.Size), outputs, want, ladder.Plan{}).Failed) > 0 {
		c.Fail(ladder.CheckOrder)
	}
	return b.upload(b.inputs)
}

// inputUnchanged compares the inputs on the device with the uploaded values.
func (r *trial) inputUnchanged() (bool, error) {
	if r.Variant.Host != nil {
		return true, nil
	}
	for i, t := range r.bench.operator.Inputs(r.bench.site.Size) {
		now := r.bench.hostMemory(t)
		if err := t.Download(r.bench.stopped, r.Memory(t.Name), now); err != nil {
			return false, err
		}
		if !ladder.SameBits(now, r.bench.inputs[i]) {
			return false, nil
		}
	}
	return true, nil
}
