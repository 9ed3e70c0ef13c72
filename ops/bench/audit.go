package bench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// An audit looks at a kernel of the caller's for what makes a time say less than it seems
// to: results that are kept between runs, guessed or computed in fewer bits, inputs that
// change. It follows the timed runs, and takes the memory and the variables of the module
// as these have left them.

// beforeAudit poisons the outputs, so that a timed run has to write the result and not the
// run before. On the emulator it returns the counters that the last timed run fills.
func (r *trial) beforeAudit() ([]gpu.Counters, error) {
	if !r.bench.site.Device.Info().Emulated {
		return nil, r.poison()
	}
	counters := make([]gpu.Counters, len(r.Launches))
	for i := range r.Launches {
		r.Launches[i].Counters, r.Launches[i].Checks = &counters[i], r.countedChecks()
	}
	return counters, r.poison()
}

// countedChecks are the checks of launches whose instructions are counted. A kernel whose
// blocks wait for each other counts the looks at memory, too, which are as many as other
// work leaves time for. The search for races between blocks runs them on one processor,
// in an order that is always the same.
func (r *trial) countedChecks() gpu.Checks {
	if m, err := ptx.Parse(r.Variant.Name, r.Variant.Own.Module().PTX()); err == nil && waits(m) {
		return gpu.CheckDefault | gpu.CheckBlockRaces
	}
	return 0
}

// waits reports whether code of the module may wait for other threads: it has loads that
// are ordered or volatile, or atomics.
func waits(m *ptx.Module) bool {
	for _, f := range m.Functions {
		for _, in := range f.Code {
			if in.Opcode == "atom" || in.Opcode == "ld" && slices.ContainsFunc(in.Modifiers, func(m string) bool {
				return m == "volatile" || m == "relaxed" || m == "acquire"
			}) {
				return true
			}
		}
	}
	return false
}

// audit is the result of an audit of the rung, with the counters of its last timed run,
// nil on a GPU. The bench's inputs are uploaded again after it.
func (r *trial) audit(timed []gpu.Counters) (a results.Audit, err error) {
	b := r.bench
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) // no kernel knows these inputs
	if a.Reported, err = r.code(); err != nil {
		return a, err
	}
	unchanged, err := r.inputUnchanged()
	if err != nil {
		return a, err
	}
	if !unchanged {
		a.Rejected = "changes its inputs in a later run: the runs that follow have less or other work"
		return a, b.restore()
	}
	fresh := b.fresh(random.Uint64() % 1e9)
	counted := make([]gpu.Counters, len(r.Launches))
	if a.Rejected, err = r.answers(fresh, b.expected, counted); err != nil {
		return a, err
	}
	if p := b.changed(fresh, random); p != nil && a.Rejected == "" {
		if a.Rejected, err = r.answers(p, fresh.expected, nil); err != nil {
			return a, err
		}
	}
	if timed, all := instructions(timed), instructions(counted); a.Rejected == "" && timed > 0 && 2*timed < all {
		a.Rejected = fmt.Sprintf("does less in timed runs: %d warp instructions, for new inputs %d", timed, all)
	}
	if p := b.fewTerms(random); p != nil && a.Rejected == "" {
		c, fault, err := r.on(p, nil)
		if err != nil {
			return a, err
		}
		if a.Rejected = cmp.Or(fault, precision(c.Error, r.Plan.Round)); a.Rejected == "" && len(c.Failed) > 0 {
			a.Rejected = fmt.Sprintf("for %s it fails %s", p.what, strings.Join(c.Failed, ", "))
		}
	}
	return a, b.restore()
}

// instructions are the warp instructions of launches.
func instructions(all []gpu.Counters) (n uint64) {
	for _, c := range all {
		n += c.WarpInstructions
	}
	return n
}

// answers runs the rung on other inputs, on top of what the run before left, and says what
// is wrong with the result. before is what was expected of that run.
func (r *trial) answers(p *probe, before []ladder.Expected, counted []gpu.Counters) (wrong string, err error) {
	c, fault, err := r.on(p, counted)
	if err != nil || fault != "" || len(c.Failed) == 0 {
		return fault, err
	}
	outputs, err := r.download()
	if err != nil {
		return "", err
	}
	if b := r.bench; len(ladder.Compare(b.stopped, b.outputTensors(), outputs, before, r.Plan).Failed) == 0 {
		return "does not compute its result: for " + p.what + " it returns that of the inputs before", nil
	}
	return fmt.Sprintf("right for the inputs of the check alone: for %s it fails %s", p.what, strings.Join(c.Failed, ", ")), nil
}

// on runs the rung once on inputs and compares its result. Outputs of a counted length are
// poisoned, others are as the run before left them. fault says that the run ended in one.
func (r *trial) on(p *probe, counted []gpu.Counters) (c ladder.Comparison, fault string, err error) {
	b := r.bench
	if err := b.upload(p.inputs); err != nil {
		return c, "", err
	}
	b.stale = true // these are not the bench's
	for _, t := range b.outputTensors() {
		if t.Count == "" {
			continue
		}
		// What the run before left beyond this run's count would pass for this run's.
		if err := t.Upload(b.stopped, r.Memory(t.Name), t.Poisoned()); err != nil {
			return c, "", err
		}
	}
	if err := r.FillConsts(); err != nil {
		return c, "", err
	}
	checks := gpu.Checks(0)
	for i := range r.Launches {
		if r.Launches[i].Counters = nil; counted != nil && b.site.Device.Info().Emulated {
			r.Launches[i].Counters, checks = &counted[i], r.countedChecks()
		}
		r.Launches[i].Checks = 0
	}
	err = r.Submit(checks)
	if kind := faultKind(err); kind != "" {
		return c, fmt.Sprintf("for %s it ends in a fault: %v", p.what, err), nil
	}
	if err != nil {
		return c, "", err
	}
	outputs, err := r.download()
	if err != nil {
		return c, "", err
	}
	return ladder.Compare(b.stopped, b.outputTensors(), outputs, p.expected, r.Plan), "", nil
}

// narrowTypes are the types of PTX with fewer bits than float32.
var narrowTypes = []string{"f16", "f16x2", "bf16", "bf16x2", "tf32", "e4m3", "e5m2"}

// code says what the kernel's PTX has that a reader of its time should know: variables
// that live between launches, and arithmetic in fewer bits than the operator's.
func (r *trial) code() (reported []string, err error) {
	m, err := ptx.Parse(r.Variant.Name, r.Variant.Own.Module().PTX())
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, f := range m.Functions {
		for _, in := range f.Code {
			symbols(in.Operands, used)
		}
	}
	for _, v := range m.Variables {
		if v.Space == ptx.Global && used[v.Name] && !slices.Contains(r.Plan.Tickets, v.Name) && !slices.Contains(r.Plan.Statics, v.Name) {
			reported = append(reported, fmt.Sprintf("keeps __device__ %s (%d bytes) between launches", v.Name, v.Bytes()))
		}
	}
	for _, t := range r.bench.tensors() {
		if t.Elements() == gpu.Float16 || t.Elements() == gpu.BFloat16 {
			return reported, nil
		}
	}
	first, uses := "", 0
	for _, f := range m.Functions {
		for _, in := range f.Code {
			if !slices.ContainsFunc(in.Modifiers, func(m string) bool { return slices.Contains(narrowTypes, m) }) {
				continue
			}
			if uses++; first == "" {
				first = in.Name()
			}
		}
	}
	if uses > 0 {
		reported = append(reported, fmt.Sprintf("has %d instructions in fewer bits than float32, the first %s", uses, first))
	}
	return reported, nil
}

// symbols adds the names in operands: headers declare variables that no code uses.
func symbols(operands []ptx.Operand, to map[string]bool) {
	for _, o := range operands {
		to[o.Symbol] = true
		symbols(o.Elems, to)
	}
}
