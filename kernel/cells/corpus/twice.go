package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"warpbook/kernel/cells/corpus/twin"
)

// Notebook is cells that are run in order in a folder.
type Notebook struct {
	Name, Dir string
	Cells     []string
	unordered bool                           // its lines of output have no order
	expects   func(passes [2]Printed) string // how two passes differ from what the program itself says that it prints, "" if they do not; may be nil
}

// Printed is what the cells of a program print: to stdout, and to both streams without warnings.
type Printed struct{ Stdout, Both string }

// Order is the order of cells that run twice.
type Order string

// runs are the numbers of cells in the order in which they run.
func (o Order) runs(cells int) (numbers []int) {
	if seed, ok := strings.CutPrefix(string(o), shuffled); ok {
		n, _ := strconv.Atoi(seed)
		r := rand.New(rand.NewPCG(uint64(n), uint64(cells)))
		numbers = append(numbers, 0) // most cells need the imports of the first
		for range 2 * cells {
			numbers = append(numbers, r.IntN(cells))
		}
		return numbers
	}
	for i := range cells {
		numbers = append(numbers, i)
		if o == Each2 {
			numbers = append(numbers, i)
		}
	}
	if o == All2 {
		numbers = append(numbers, numbers...)
	}
	return numbers
}

// The orders.
const (
	Each2 Order = "each" // each cell twice, one after the other
	All2  Order = "all"  // all cells, then all again
)

// Shuffled is an order in which each cell runs twice or so, at places that a seed decides.
func Shuffled(seed int) Order { return Order(fmt.Sprint(shuffled, seed)) }

const shuffled = "shuffled:"

// Orders are the orders whose answers are recorded.
var Orders = []Order{Each2, All2}

// Twice runs the cells of notebooks twice in some orders, in sessions, and compares what
// they print to stdout and show with what a compiled program does. Notebooks that say themselves what they print are compared with that, too, in the
// order All2.
type Twice struct {
	Program string // the cells program
	Dir     string // an empty folder, for compiled programs
	Orders  []Order
	Jobs    int
	Known   Record            // answers of compiled programs; the others are compiled
	Without map[string]string // notebooks that are not compared with compiled Go, with their reasons
}

// Results are the outcomes of each order, in that of the notebooks, and how many of them are
// beside compiled Go. The others are left, with the reason why there is no compiled program.
type Results struct {
	Outcomes map[Order][]Outcome
	Compiled map[Order]int
	Left     map[string]string
	Fresh    int // notebooks whose twins were compiled, because their answers are not recorded
}

// Run runs notebooks. One that differs from a recorded answer is compiled, and that outcome
// counts.
func (t Twice) Run(all []Notebook) (r Results, err error) {
	twins := t.answers(all)
	go twins.compiled() // while others run; Run waits for it below
	ends := slices.Concat(Each(slowFirst(all, t.Jobs), t.Jobs, func(group []Notebook) []ending {
		return t.compare(group, twins)
	})...)
	place := map[string]int{}
	for i, n := range all {
		place[n.Name] = i
	}
	slices.SortStableFunc(ends, func(a, b ending) int { return cmp.Compare(place[a.Name], place[b.Name]) })
	fresh, err := twins.compiled()
	if err != nil {
		return r, err
	}
	if again := differing(all, ends); len(again) > 0 {
		t.Known = nil
		second, err := t.Run(again)
		if err != nil {
			return r, err
		}
		for i, e := range ends {
			at := slices.IndexFunc(second.Outcomes[e.order], func(o Outcome) bool { return o.Name == e.Name })
			if e.recorded && at >= 0 {
				ends[i].Outcome = second.Outcomes[e.order][at]
			}
		}
	}
	maps.Copy(twins.known, fresh)
	r = results(ends, twins.known)
	r.Fresh = len(fresh)
	return r, nil
}

// slowFirst are groups of notebooks that run in one session each. Those that collect garbage or
// run commands come first, and are by themselves: they take longest, and a collection takes the
// longer, the more its session has run. Those that trace the program come last, because a trace
// that is not stopped goes on.
func slowFirst(all []Notebook, jobs int) [][]Notebook {
	var slow, others, tracing []Notebook
	for _, n := range all {
		switch {
		case n.contains("trace.Start("):
			tracing = append(tracing, n)
		case n.contains("runtime.GC()", ".SetGCPercent(", ".ReadMemStats(", "exec.Command("):
			slow = append(slow, n)
		default:
			others = append(others, n)
		}
	}
	return slices.Concat(inGroups(slow, jobs), inGroups(others, jobs), inGroups(tracing, 1))
}

// contains reports whether a cell contains one of some texts.
func (n Notebook) contains(texts ...string) bool {
	return slices.ContainsFunc(n.Cells, func(code string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(code, text) })
	})
}

// ending is how a notebook ended in an order.
type ending struct {
	Outcome
	order    Order
	compiled bool // it is beside compiled Go
	recorded bool // whose answer is recorded
}

// differing are the notebooks that differ from a recorded answer.
func differing(all []Notebook, ends []ending) []Notebook {
	differ := map[string]bool{}
	for _, e := range ends {
		if e.Failure != "" && e.recorded {
			differ[e.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(n Notebook) bool { return !differ[n.Name] })
}

func results(ends []ending, twins map[string]twinAnswers) Results {
	r := Results{Outcomes: map[Order][]Outcome{}, Compiled: map[Order]int{}, Left: map[string]string{}}
	for _, e := range ends {
		r.Outcomes[e.order] = append(r.Outcomes[e.order], e.Outcome)
		if e.compiled {
			r.Compiled[e.order]++
		}
	}
	for name, of := range twins {
		for _, a := range of {
			if a.reason != "" {
				r.Left[name] = a.reason
			}
		}
	}
	return r
}

// answers are those of the notebooks' twins.
type answers struct {
	known    map[string]twinAnswers // without compiling
	compiled func() (map[string]twinAnswers, error)
}

func (t Twice) answers(all []Notebook) answers {
	known, unknown := t.Known.answers(all)
	unknown = slices.DeleteFunc(unknown, func(n Notebook) bool { return t.Without[n.Name] != "" })
	for name, reason := range t.Without {
		known[name] = noAnswers(reason)
	}
	return answers{known, sync.OnceValues(func() (map[string]twinAnswers, error) {
		program, err := compileTwins(t.Dir, unknown, t.Orders)
		if err != nil {
			return nil, err
		}
		return program.answers(unknown, t.Orders, t.Jobs), nil
	})}
}

// of waits for the answers of a notebook that are compiled. If this fails, there are none.
func (a answers) of(n Notebook) twinAnswers {
	if known, ok := a.known[n.Name]; ok {
		return known
	}
	compiled, _ := a.compiled() // Run returns the error
	return compiled[n.Name]
}

// compare runs notebooks in a session.
func (t Twice) compare(group []Notebook, twins answers) (ends []ending) {
	r := reused{program: t.Program, limit: twinLimit}
	defer r.close()
	for _, order := range t.Orders {
		for _, n := range group {
			twin := twins.of(n)[order]
			if twin.reason != "" && (order != All2 || n.expects == nil) {
				continue
			}
			failure := r.try(n.Dir, func(s *Session) string { return n.twice(s, order, twin) })
			ends = append(ends, ending{Outcome{n.Name, failure}, order, twin.reason == "", twin.hash != ""})
		}
	}
	return ends
}

// twinLimit is how long a cell or a twin may take, ten times what a busy machine takes.
const twinLimit = 3 * time.Minute

// twice runs the cells in a session, and compares what they print and show. A cell may fail only
// beside compiled Go, where it fails, too.
func (n Notebook) twice(s *Session, order Order, want twinAnswer) (failure string) {
	var got strings.Builder
	var passes [2]Printed // of the order All2
	failed := false
	for i, cell := range order.runs(len(n.Cells)) {
		code, left := twin.WithoutMagics(n.Cells[cell])
		if left != "" {
			continue
		}
		a := s.Run(code)
		got.WriteString(a.shown())
		passes[min(i/len(n.Cells), 1)].add(a)
		failed = failed || a.Failure != ""
		switch {
		case a.Failure == "" || want.reason == "" && !strings.HasPrefix(a.Failure, Longer):
		case i >= len(n.Cells) && isRegistry(a.Failure):
			return ""
		default:
			return fmt.Sprintf("%s\n%.200s", a.Failure, code)
		}
	}
	if want.reason == "" {
		failure = want.unlike(n.comparable(plain(got.String())), n.comparable)
	}
	if failure == "" && order == All2 && n.expects != nil && !failed {
		failure = n.expects(passes)
	}
	return failure
}

func (p *Printed) add(a Answer) { p.Stdout, p.Both = p.Stdout+a.Stdout, p.Both+a.Output }

// outputs is what each run of a cell prints and shows, "" if it does not run beside a twin.
func (n Notebook) outputs(s *Session, order Order) (all []string) {
	for _, cell := range order.runs(len(n.Cells)) {
		out := ""
		if code, left := twin.WithoutMagics(n.Cells[cell]); left == "" {
			out = plain(s.Run(code).shown())
		}
		all = append(all, out)
	}
	return all
}

// shown is what a cell prints and shows, and how it failed, as a compiled program tells it.
func (a Answer) shown() string {
	switch {
	case strings.HasPrefix(a.Failure, "compile error: "):
		return a.Shown + "\x03compile error"
	case a.Failure != "":
		return a.Shown + "\x03" + a.Failure
	}
	return a.Shown
}

// isRegistry reports whether a cell failed because a registry of the library takes a name once.
func isRegistry(failure string) bool { return strings.Contains(failure, " flag redefined: ") }

// comparable is an output without the order of lines, where it has none.
func (n Notebook) comparable(out string) string {
	if n.unordered {
		return strings.Join(slices.Sorted(strings.Lines(out+"\n")), "")
	}
	return out
}

// twinAnswers are what the twin of a notebook prints in each order.
type twinAnswers map[Order]twinAnswer

// twinAnswer is what a twin prints, or its hash, or the reason why it prints no answer.
type twinAnswer struct {
	text, hash, reason string
	refused            string // the runs that compiled Go refuses, with its errors
}

func noAnswers(reason string) twinAnswers {
	return twinAnswers{Each2: {reason: reason}, All2: {reason: reason}}
}

// unlike tells how an output differs.
func (a twinAnswer) unlike(got string, comparable func(string) string) string {
	switch {
	case a.hash != "" && hash(got) != a.hash:
		return fmt.Sprintf("prints %.500q, which is not what compiled Go printed when its answer was recorded", got)
	case a.hash == "" && got != a.comparable(comparable):
		return difference(got, a.comparable(comparable)) + "; compiled Go refuses: " + a.refused
	}
	return ""
}

// comparable is the text without the marks of runs.
func (a twinAnswer) comparable(order func(string) string) string {
	return order(strings.ReplaceAll(a.text, "\x02", ""))
}

// difference tells how an output differs, from a little before the first difference.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-100)
	return fmt.Sprintf("prints at byte %d %.300q, compiled Go %.300q", from, got[from:], want[from:])
}
