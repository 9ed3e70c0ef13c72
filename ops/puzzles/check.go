package puzzles

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/trace"
)

// The verdicts on an answer.
const (
	Pass  = "PASS"
	Fail  = "FAIL"
	Blank = "BLANK" // no element was written
)

// Score is what an answer asks of memory.
type Score struct {
	GlobalReads, GlobalWrites, GlobalAtomics int // by threads
	SharedReads, SharedWrites                int // by threads
	Sectors                                  int // of 32 bytes, of global memory
	Conflicts                                int // of banks
	Barriers                                 int // by warps
	more                                     bool
}

// count is a count by the name that limits and tables use.
func (s Score) count(name string) int {
	switch name {
	case "global reads":
		return s.GlobalReads
	case "global writes":
		return s.GlobalWrites
	case "global atomics":
		return s.GlobalAtomics
	case "shared reads":
		return s.SharedReads
	case "shared writes":
		return s.SharedWrites
	case "sectors":
		return s.Sectors
	case "bank conflicts":
		return s.Conflicts
	case "barriers":
		return s.Barriers
	}
	panic("puzzles: no count " + name)
}

// counts are the names of all counts, as they stand in tables.
var counts = []string{"global reads", "global writes", "global atomics", "shared reads", "shared writes", "sectors", "bank conflicts", "barriers"}

// Verdict is the result of a check.
type Verdict struct {
	Puzzle *Puzzle
	Result string // Pass, Fail or Blank
	Reason string // "" for Pass
	Fault  error  // of a launch that failed, nil for others; errors.Is finds its kind
	Score  Score
	Ours   Score // of the committed solution

	events []trace.Event
	bases  []uint64 // the addresses of the arrays

	instructions uint64 // of warps
}

// seeds is how many sets of inputs an answer is checked with.
const seeds = 3

// Check checks an answer: a __global__ function of a cell. The error is of an answer that
// cannot be launched as the puzzle is, or of a device; a wrong answer is a verdict.
func (c *Course) Check(name string, answer *compile.Entry) (*Verdict, error) {
	p, err := Find(name)
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, fmt.Errorf("puzzles: %s: no answer: run the %%%%cuda cell with %s first", name, p.Kernel())
	}
	v, err := c.check(p, program{answer.Module().PTX(), answer.Module().Name, answer.Name(), p.Block, 0, 0, checks})
	if err != nil {
		return nil, err
	}
	if v.Ours, err = c.ours(p); err != nil {
		return nil, err
	}
	c.scores[name] = v
	return v, nil
}

// checks are those of an answer.
const checks = gpu.CheckAll | gpu.CheckBlockRaces

// program is PTX with an entry for a puzzle.
type program struct {
	ptx, file, entry string
	block            gpu.Dim
	shared           int // bytes of dynamic shared memory
	scratch          int // parameters behind those of the puzzle: buffers that are not used
	checks           gpu.Checks
}

// ours is the score of the committed solution.
func (c *Course) ours(p *Puzzle) (Score, error) {
	v, err := c.check(p, p.solution())
	if err == nil && v.Result != Pass {
		err = fmt.Errorf("puzzles: %s: the committed solution: %s: %s", p.Name, v.Result, v.Reason)
	}
	if err != nil {
		return Score{}, err
	}
	return v.Score, nil
}

// solution is the committed one.
func (p *Puzzle) solution() program {
	file := "solutions.sm_75.ptx"
	if p.Triton {
		file = "triton.sm_75.ptx"
	}
	return program{read(file), file, p.Kernel(), p.Block, 0, 0, checks}
}

// check runs a program with several inputs. The first that fails decides.
func (c *Course) check(p *Puzzle, g program) (*Verdict, error) {
	module, err := c.dev.Load(g.file, g.ptx)
	if err != nil {
		return nil, err
	}
	defer module.Close()
	entry, err := module.Entry(g.entry)
	if err != nil {
		return nil, fmt.Errorf("puzzles: %s: %w: declare %s", p.Name, err, p.Declaration())
	}
	v := &Verdict{Puzzle: p, Result: Pass}
	for i := range seeds {
		seed := c.seed + uint64(i)
		if err := c.run(p, g, entry, seed, i == 0, v); err != nil {
			return nil, err
		}
		if v.Result != Pass {
			v.Reason += fmt.Sprintf(" (seed %d)", seed)
			return v, nil
		}
	}
	for _, l := range p.Limits {
		switch n := v.Score.count(l.Count); {
		case l.Least > 0 && n < l.Least:
			v.Result, v.Reason = Fail, fmt.Sprintf("%d %s, expected at least %d: %s", n, l.Count, l.Least, l.Why)
		case l.Least == 0 && n > l.Most:
			v.Result, v.Reason = Fail, fmt.Sprintf("%d %s, expected at most %d: %s", n, l.Count, l.Most, l.Why)
		default:
			continue
		}
		return v, nil
	}
	return v, nil
}

// memory is the device memory of one check.
type memory struct {
	arrays  []Array
	buffers []gpu.Buffer
	hosts   []any // what was uploaded
}

func (m *memory) free() {
	for _, b := range m.buffers {
		b.Free() // a buffer of a closed device is free already
	}
}

// poison is in each element of the output before the launch: a NaN that no kernel makes.
const poison = 0x7fedface

func (c *Course) upload(p *Puzzle, seed uint64) (*memory, [][]float64, error) {
	in := p.inputs(seed)
	m := &memory{arrays: p.arrays()}
	for i, a := range m.arrays {
		t := gpu.Float32
		if a.Int {
			t = gpu.Int32
		}
		b, err := c.dev.Alloc(t, a.Len())
		if err != nil {
			m.free()
			return nil, nil, err
		}
		m.buffers = append(m.buffers, b.Label(a.Name))
		host := gpu.NewSlice(t, a.Len())
		switch s := host.(type) {
		case []float32:
			for k := range s {
				if i == 0 {
					s[k] = math.Float32frombits(poison)
				} else {
					s[k] = float32(in[i-1][k])
				}
			}
		case []int32:
			for k := range s {
				if i == 0 {
					s[k] = poison
				} else {
					s[k] = int32(in[i-1][k])
				}
			}
		}
		if err := b.Upload(host); err != nil {
			m.free()
			return nil, nil, err
		}
		m.hosts = append(m.hosts, host)
	}
	return m, in, nil
}

// launch is the puzzle's launch with these buffers.
func (p *Puzzle) launch(g program, m *memory) gpu.Launch {
	l := gpu.Launch{Grid: p.Grid, Block: g.block, Shared: g.shared, Checks: g.checks}
	for _, b := range m.buffers {
		l.Args = append(l.Args, b)
	}
	for _, s := range p.Scalars {
		l.Args = append(l.Args, int32(s.Value))
	}
	for range g.scratch {
		l.Args = append(l.Args, m.buffers[0])
	}
	return l
}

// run checks one set of inputs, and with drawn notes the accesses.
func (c *Course) run(p *Puzzle, g program, entry gpu.Entry, seed uint64, drawn bool, v *Verdict) error {
	m, in, err := c.upload(p, seed)
	if err != nil {
		return err
	}
	defer m.free()
	l := p.launch(g, m)
	if want := len(l.Args); want != len(entry.Params()) {
		return fmt.Errorf("puzzles: %s: %s has %d parameters, expected %d: declare %s", p.Name, entry.Name(), len(entry.Params()), want, p.Declaration())
	}
	if drawn {
		if v.bases, err = trace.Addresses(c.dev, m.buffers); err != nil {
			return err
		}
		traced := l
		traced.Checks = gpu.CheckFaults
		var more bool
		if v.events, more, err = trace.Run(c.dev, g.file, g.ptx, traced, g.entry, nil); err != nil && !ranFault(err) {
			return err
		}
		v.Score.note(v.events, more)
		for i, b := range m.buffers {
			if err := b.Upload(m.hosts[i]); err != nil {
				return err
			}
		}
	}
	var counted gpu.Counters
	l.Entry, l.Counters = entry, &counted
	ran := c.dev.Launch(l)
	if err := c.dev.Sync(); ran == nil {
		ran = err
	}
	switch {
	case ran != nil && !ranFault(ran):
		return ran
	case ran != nil:
		v.Result, v.Reason, v.Fault = Fail, strings.TrimPrefix(ran.Error(), "gpu: "), ran
		return nil
	}
	if drawn {
		v.Score.Sectors = int(counted.GlobalLoad.Sectors + counted.GlobalStore.Sectors + counted.GlobalAtomic.Sectors)
		v.Score.Conflicts = int(counted.SharedLoad.Conflicts + counted.SharedStore.Conflicts + counted.SharedAtomic.Conflicts)
		v.instructions = counted.WarpInstructions
		v.Score.Barriers = int(counted.Barriers + counted.WarpSyncs)
		if first, second, found := findRace(v.events, l); found {
			v.Result, v.Fault = Fail, gpu.ErrRace
			v.Reason = fmt.Sprintf("race: %s in %s and %s in %s, and no barrier between", v.what(first), v.place(first), v.what(second), v.place(second))
			return nil
		}
	}
	return v.compare(m, p.Want(in), l)
}

// ranFault reports whether an error is a fault of a kernel that ran.
func ranFault(err error) bool {
	var f *gpu.Fault
	return errors.As(err, &f)
}

// note counts events by threads.
func (s *Score) note(events []trace.Event, more bool) {
	s.more = more
	for _, e := range events {
		switch {
		case e.Kind == trace.Load && e.Shared:
			s.SharedReads++
		case e.Kind == trace.Store && e.Shared:
			s.SharedWrites++
		case e.Kind == trace.Load:
			s.GlobalReads++
		case e.Kind == trace.Store:
			s.GlobalWrites++
		case e.Kind == trace.Atomic && !e.Shared:
			s.GlobalAtomics++
		}
	}
}

// compare compares the output of a launch with the reference, and the inputs with their
// values before.
func (v *Verdict) compare(m *memory, want []float64, l gpu.Launch) error {
	out, err := download(m.buffers[0])
	if err != nil {
		return err
	}
	for i, b := range m.buffers[1:] {
		now, err := download(b)
		if err != nil {
			return err
		}
		before := values(m.hosts[i+1])
		for k := range now {
			if now[k] != before[k] {
				v.Result, v.Reason = Fail, fmt.Sprintf("%s was changed: inputs stay as they are", v.element(i+1, k))
				return nil
			}
		}
	}
	largest := 1.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	untouched := elements(out, func(i int) bool { return poisoned(m.buffers[0], out[i]) })
	wrong := elements(out, func(i int) bool { return !(math.Abs(out[i]-want[i]) <= v.Puzzle.Tolerance*largest) }) // also for NaN
	shape := fmt.Sprintf("; the grid is %v, the block %v", l.Grid.Full(), l.Block.Full())
	switch {
	case len(untouched) == len(out):
		v.Result, v.Reason = Blank, fmt.Sprintf("no element of %s was written: write the kernel", v.Puzzle.Out.Name)
	case len(untouched) > 0:
		v.Result, v.Reason = Fail, fmt.Sprintf("%d of %d elements were not written, the first %s%s", len(untouched), len(out), v.element(0, untouched[0]), shape)
	case len(wrong) > 0:
		first := wrong[0]
		v.Result = Fail
		v.Reason = fmt.Sprintf("%s is %v, expected %v", v.element(0, first), float32(out[first]), float32(want[first]))
		if len(wrong) > 1 {
			v.Reason += fmt.Sprintf(", the first of %d wrong elements of %d", len(wrong), len(out))
		}
		v.Reason += shape
	}
	return nil
}

// elements are the indices for which a test holds.
func elements(out []float64, holds func(i int) bool) (found []int) {
	for i := range out {
		if holds(i) {
			found = append(found, i)
		}
	}
	return found
}

func poisoned(b gpu.Buffer, v float64) bool {
	if b.Type() == gpu.Int32 {
		return v == poison
	}
	return math.Float32bits(float32(v)) == poison|1<<22 || math.Float32bits(float32(v)) == poison
}

func download(b gpu.Buffer) ([]float64, error) {
	host := gpu.NewSlice(b.Type(), b.Len())
	if err := b.Download(host); err != nil {
		return nil, err
	}
	return values(host), nil
}

func values(host any) (all []float64) {
	switch s := host.(type) {
	case []float32:
		for _, x := range s {
			all = append(all, float64(x))
		}
	case []int32:
		for _, x := range s {
			all = append(all, float64(x))
		}
	}
	return all
}

// element is an element of an array as C writes it: x[2][3].
func (v *Verdict) element(array, i int) string {
	a := v.Puzzle.arrays()[array]
	return a.Name + index(a.Shape, i)
}

func index(shape []int, i int) (text string) {
	for _, d := range slices.Backward(shape) {
		text = fmt.Sprintf("[%d]", i%d) + text
		i /= d
	}
	return text
}

// find is the array and the element at an address of global memory.
func (v *Verdict) find(address uint64) (array, element int, ok bool) {
	for i, a := range v.Puzzle.arrays() {
		if n := uint64(4 * a.Len()); address >= v.bases[i] && address < v.bases[i]+n {
			return i, int(address-v.bases[i]) / 4, true
		}
	}
	return 0, 0, false
}

func (v *Verdict) what(e trace.Event) string {
	verb := map[trace.Kind]string{trace.Load: "read", trace.Store: "write", trace.Atomic: "atomic"}[e.Kind]
	at := "an address of no array"
	if array, i, ok := v.find(e.Address); ok {
		at = v.element(array, i)
	}
	return verb + " of " + at
}

func (v *Verdict) place(e trace.Event) string {
	text := fmt.Sprintf("block %v thread %v", e.Block, e.Thread)
	if e.Line > 0 {
		text += fmt.Sprintf(" (line %d)", e.Line)
	}
	return text
}
