package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"warpbook/gpu"
	"warpbook/kernel/leaf/record"
	"warpbook/ops/ladder"
)

// Check is a row of Checks.
type Check struct {
	Name      string
	Verdict   string // Pass, Fail, FailExpected or PassExpected
	Failed    []string
	Expect    string  // the check that had to fail, "" for none
	Detail    string  // of a fault
	Result    float64 // the worst element; one of more than 53 bits is rounded
	Reference float64
	Error     float64 // of it, as the note below the table says
	Bound     float64 // the largest Error that is allowed
	note      string
	result    string // whole
	reference string // whole, "" for a float64
	ran       bool   // there is a result
}

// Checks is the correctness table of a bench.
type Checks struct {
	Rows        []Check
	Environment Environment
	title       string
	operator    string
	dims        string // heads the column of the size
	size        ladder.Size
}

// Check runs the named variants, all for none, and compares each result with
// the reference. A wrong result is a row; an error is a device that cannot go
// on, or an unknown name.
func (b *Bench) Check(variants ...string) (*Checks, error) {
	c := &Checks{Environment: b.environment("each variant once, outputs and scratch poisoned before"),
		title: b.title("correctness"), operator: b.operator.Name, dims: strings.Join(b.operator.Dims, " x "), size: b.size}
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
	row = Check{Name: r.variant.Name, Expect: b.expect(r.variant)}
	outputs, took, err := r.once()
	if kind := faultKind(err); kind != "" {
		row.Failed, row.Detail = []string{ladder.CheckFault + kind}, err.Error()
		row.Verdict = ladder.Verdict(row.Failed, row.Expect)
		return row, took, b.restore()
	}
	if err != nil {
		return row, took, fmt.Errorf("ops: %s: %w", r.variant.Name, err)
	}
	c := r.compare(outputs)
	row.Result, row.Reference, row.Error, row.Bound, row.ran = c.Got, c.Want, c.Error, c.Bound, true
	row.note, row.result, row.reference = c.Note, c.GotText, c.WantText
	unchanged, err := r.inputUnchanged()
	if err == nil && !unchanged {
		c.Fail(ladder.CheckInput)
		err = b.restore()
	}
	if err == nil && len(c.Failed) == 0 && r.loose() {
		err = r.checkOrder(&c, outputs)
	}
	row.Failed = c.Failed
	row.Verdict = ladder.Verdict(row.Failed, row.Expect)
	if err != nil {
		return row, took, fmt.Errorf("ops: %s: %w", r.variant.Name, err)
	}
	if row.Verdict == ladder.Pass && r.variant.Host == nil && r.variant.Own == nil {
		b.verified[r.variant.Name] = true
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

// compare compares the outputs of a run with the reference.
func (r *run) compare(outputs []ladder.Values) ladder.Comparison {
	b := r.bench
	return ladder.Compare(b.stopped, b.operator.Outputs(b.size), outputs, b.expected, r.plan)
}

// loose reports whether the bound of rounded sums allows more than the tolerance, so
// that their order is checked, too.
func (r *run) loose() bool {
	return ladder.Bound(r.plan.Depth) > ladder.Tolerance && (r.variant.Order != nil || r.bench.operator.Exact != nil)
}

// checkOrder decides where the error bound is looser than the tolerance. A
// variant with a known order of additions must give the bits of the CPU. One
// without, whose blocks meet in atomics, runs again on numbers whose float32
// sum is the same in every order, and must give exactly that.
func (r *run) checkOrder(c *ladder.Comparison, outputs []ladder.Values) error {
	b := r.bench
	if order := r.variant.Order; order != nil {
		same := ladder.CloneAll(outputs)
		order(b.stopped, b.size, b.inputs, same)
		for i := range outputs {
			if !ladder.SameBits(outputs[i], same[i]) {
				c.Fail(ladder.CheckOrder)
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
	want := b.operator.Reference(b.stopped, b.size, exact)
	if len(ladder.Compare(b.stopped, b.operator.Outputs(b.size), outputs, want, ladder.Plan{}).Failed) > 0 {
		c.Fail(ladder.CheckOrder)
	}
	return b.upload(b.inputs)
}

// inputUnchanged compares the inputs on the device with the uploaded values.
func (r *run) inputUnchanged() (bool, error) {
	if r.variant.Host != nil {
		return true, nil
	}
	for i, t := range r.bench.operator.Inputs(r.bench.size) {
		now := r.bench.hostMemory(t)
		if err := t.Download(r.bench.stopped, r.memory(t.Name), now); err != nil {
			return false, err
		}
		if !ladder.SameBits(now, r.bench.inputs[i]) {
			return false, nil
		}
	}
	return true, nil
}

// Passed reports whether every row is as it must be: right, or wrong in the
// way that was expected.
func (c *Checks) Passed() bool {
	for _, row := range c.Rows {
		if row.Verdict != ladder.Pass && row.Verdict != ladder.FailExpected {
			return false
		}
	}
	return true
}

// Title stands above the table.
func (c *Checks) Title() string { return c.title }

// Notes stand below the table.
func (c *Checks) Notes() []string {
	var notes []string
	for _, r := range c.Rows {
		if r.note != "" && !slices.Contains(notes, r.note) {
			notes = append(notes, r.note)
		}
	}
	return append(notes, c.Environment.Notes()...)
}

// Table is one row a variant.
func (c *Checks) Table() (columns []string, rows [][]string) {
	for _, r := range c.Rows {
		result, reference, share, bound := "-", "-", "-", "-"
		if r.ran {
			result, reference = r.texts()
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

// texts are the result and the reference as a table shows them.
func (r Check) texts() (result, reference string) {
	if r.reference == "" { // the reference is more exact than the result
		return plain(float32(r.Result)), significant(r.Reference, 9)
	}
	return r.result, r.reference
}

// Record is the table for programs.
func (c *Checks) Record() any {
	return newRecord(record.Checks, c.title, c.Environment, c.rows())
}

func (c *Checks) rows() (rows []map[string]any) {
	for _, r := range c.Rows {
		row := map[string]any{"name": r.Name, "size": c.size, "verdict": r.Verdict, "failed": r.Failed,
			"expect": r.Expect, "detail": r.Detail}
		if r.ran {
			row["result"], row["reference"] = jsonNumber(r.Result), jsonNumber(r.Reference)
			row["error"], row["bound"] = jsonNumber(r.Error), jsonNumber(r.Bound)
		}
		rows = append(rows, row)
	}
	return rows
}
