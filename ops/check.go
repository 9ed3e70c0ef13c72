package ops

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"warpbook/gpu"
)

// Check is a row of Checks.
type Check struct {
	Name      string
	Verdict   string // Pass, Fail, FailExpected or PassExpected
	Failed    []string
	Expect    string // the check that had to fail, "" for none
	Detail    string // of a fault
	Result    float32
	Reference float64
	Error     float64 // share of the sum of |terms|, at the worst element
	Bound     float64 // what is allowed of it
	ran       bool    // there is a result
}

// Checks is the correctness table of a bench.
type Checks struct {
	Rows        []Check
	Environment Environment
	title       string
	dims        string // heads the column of the size
	size        Size
}

// Check runs the named variants, all for none, and compares each result with
// the reference. A wrong result is a row; an error is a device that cannot go
// on, or an unknown name.
func (b *Bench) Check(variants ...string) (*Checks, error) {
	c := &Checks{Environment: b.environment("each variant once, outputs and scratch poisoned before"),
		title: b.title("correctness"), dims: strings.Join(b.operator.Dims, " x "), size: b.size}
	err := b.each("check", variants, &c.Environment, func(r *run) error {
		row, _, err := r.check()
		c.Rows = append(c.Rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// check runs the variant once and judges it. took is the time of that run.
func (r *run) check() (row Check, took time.Duration, err error) {
	b := r.bench
	row = Check{Name: r.variant.Name, Expect: b.expect(r.variant), Bound: min(r.plan.bound(), Tolerance+r.plan.Round)}
	outputs, took, err := r.once()
	if kind := faultKind(err); kind != "" {
		row.Failed, row.Detail = []string{checkFault + kind}, err.Error()
		row.Verdict = verdict(row.Failed, row.Expect)
		return row, took, b.restore()
	}
	if err != nil {
		return row, took, fmt.Errorf("ops: %s: %w", r.variant.Name, err)
	}
	c := compare(b.stopped, outputs, b.expected, r.plan)
	row.Result, row.Reference, row.Error, row.ran = c.Got, c.Want, c.Error, true
	unchanged, err := r.inputUnchanged()
	if err == nil && !unchanged {
		c.fail(CheckInput)
		err = b.restore()
	}
	if err == nil && len(c.Failed) == 0 && Bound(r.plan.Depth) > Tolerance {
		err = r.checkOrder(&c, outputs)
	}
	row.Failed = c.Failed
	row.Verdict = verdict(row.Failed, row.Expect)
	if err != nil {
		return row, took, fmt.Errorf("ops: %s: %w", r.variant.Name, err)
	}
	return row, took, nil
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

// checkOrder decides where the error bound is looser than the tolerance. A
// variant with a known order of additions must give the bits of the CPU. One
// without, whose blocks meet in atomics, runs again on numbers whose float32
// sum is the same in every order, and must give exactly that.
func (r *run) checkOrder(c *comparison, outputs [][]float32) error {
	b := r.bench
	if order := r.variant.Order; order != nil {
		same := clone(outputs)
		order(b.stopped, b.size, b.inputs, same)
		for i := range outputs {
			if !sameBits(outputs[i], same[i]) {
				c.fail(CheckOrder)
			}
		}
		return nil
	}
	exact := b.operator.Exact(b.stopped, b.size, b.seed)
	if err := b.upload(exact); err != nil {
		return err
	}
	outputs, _, err := r.once()
	if err != nil {
		return err
	}
	if len(compare(b.stopped, outputs, b.operator.Reference(b.stopped, b.size, exact), Plan{}).Failed) > 0 {
		c.fail(CheckOrder)
	}
	return b.upload(b.inputs)
}

// inputUnchanged compares the inputs on the device with what was uploaded.
func (r *run) inputUnchanged() (bool, error) {
	if r.variant.Host != nil {
		return true, nil
	}
	for i, t := range r.bench.operator.Inputs(r.bench.size) {
		now := make([]float32, t.Len)
		if err := t.download(r.bench.stopped, r.memory(t.Name), now); err != nil {
			return false, err
		}
		if !sameBits(now, r.bench.inputs[i]) {
			return false, nil
		}
	}
	return true, nil
}

func clone(x [][]float32) [][]float32 {
	y := make([][]float32, len(x))
	for i := range x {
		y[i] = append([]float32(nil), x[i]...)
	}
	return y
}

// Passed reports whether every row is as it must be: right, or wrong in the
// way that was expected.
func (c *Checks) Passed() bool {
	for _, row := range c.Rows {
		if row.Verdict != Pass && row.Verdict != FailExpected {
			return false
		}
	}
	return true
}

// Title stands above the table.
func (c *Checks) Title() string { return c.title }

// Notes stand below the table.
func (c *Checks) Notes() []string {
	return append([]string{
		"error and bound are shares of the sum of |terms|; the bound is that of rounding, " +
			"d u / (1 - d u) for a depth of d additions and u = 2^-24, and at most 1e-3, to which a rung that rounds its factors " +
			"(float16, bfloat16, TF32) adds what that costs; where 1e-3 is the smaller one, the float32 bits of a known order of additions are checked too",
	}, c.Environment.Notes()...)
}

// Table is one row a variant.
func (c *Checks) Table() (columns []string, rows [][]string) {
	for _, r := range c.Rows {
		result, reference, share, bound := "-", "-", "-", "-"
		if r.ran {
			result, reference = plain(r.Result), significant(r.Reference, 9)
			share, bound = significant(r.Error, 2), significant(r.Bound, 2)
		}
		failed := strings.Join(r.Failed, ", ")
		if r.Detail != "" {
			failed += " (" + r.Detail + ")"
		}
		rows = append(rows, []string{r.Name, c.size.String(), result, reference, share, bound, r.Verdict, failed})
	}
	return []string{"variant", c.dims, "result", "reference", "error", "bound", "verdict", "failed checks"}, rows
}

// Record is the table for programs.
func (c *Checks) Record() any {
	var rows []map[string]any
	for _, r := range c.Rows {
		row := map[string]any{"name": r.Name, "size": c.size, "verdict": r.Verdict, "failed": r.Failed,
			"expect": r.Expect, "detail": r.Detail}
		if r.ran {
			row["result"], row["reference"] = jsonNumber(float64(r.Result)), jsonNumber(r.Reference)
			row["error"], row["bound"] = jsonNumber(r.Error), jsonNumber(r.Bound)
		}
		rows = append(rows, row)
	}
	return record("checks", c.title, c.Environment, rows)
}
