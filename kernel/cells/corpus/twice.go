package corpus

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Notebook is cells that are run in order in a folder.
type Notebook struct {
	Name, Dir string
	Cells     []string
	unordered bool // its lines of output have no order
}

// Order is the order of cells that run twice.
type Order string

// The orders.
const (
	Each2 Order = "each" // each cell twice, one after the other
	All2  Order = "all"  // all cells, then all again
)

// Twice runs the cells of notebooks twice in some orders, in sessions and as compiled Go,
// and compares what they print to stdout. Notebooks for which there is no compiled program
// are left, each with its reason. The outcomes of each order are in that of the notebooks.
func Twice(program, dir string, all []Notebook, orders []Order, jobs int) (outcomes map[Order][]Outcome, left map[string]string, err error) {
	twins, left, err := compileTwins(dir, all)
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(n Notebook) bool { return left[n.Name] != "" })
	outcomes = map[Order][]Outcome{}
	for _, endings := range Each(inGroups(all, func(n Notebook) string { return n.Dir }), jobs, func(group []Notebook) []ending {
		return twins.compare(program, group, orders)
	}) {
		for _, e := range endings {
			if e.reason != "" {
				left[e.Name] = e.reason
				continue
			}
			outcomes[e.order] = append(outcomes[e.order], e.Outcome)
		}
	}
	return outcomes, left, nil
}

// ending is how a notebook ended in an order, or the reason why it has no compiled program.
type ending struct {
	Outcome
	order  Order
	reason string
}

// compare runs notebooks of a folder in a session, and their twins.
func (t twins) compare(program string, group []Notebook, orders []Order) (endings []ending) {
	r := reused{program: program, dir: group[0].Dir, limit: twinLimit}
	defer r.close()
	for _, order := range orders {
		for _, n := range group {
			e := ending{Outcome{Name: n.Name}, order, ""}
			var want string
			if want, e.reason = t.run(n, order); e.reason == "" {
				e.Failure = r.try(func(s *Session) string { return n.twice(s, order, want) })
			}
			endings = append(endings, e)
		}
	}
	return endings
}

// twinLimit is how long a cell or a twin may take, ten times what a busy machine takes.
const twinLimit = 3 * time.Minute

// twice runs the cells in a session.
func (n Notebook) twice(s *Session, order Order, want string) string {
	cells := append(n.Cells[:len(n.Cells):len(n.Cells)], n.Cells...)
	if order == Each2 {
		for i, code := range n.Cells {
			cells[2*i], cells[2*i+1] = code, code
		}
	}
	var got strings.Builder
	for _, code := range cells {
		a := s.Run(code)
		if a.Failure != "" {
			return fmt.Sprintf("%s\n%.200s", a.Failure, code)
		}
		got.WriteString(a.Stdout)
	}
	if g := got.String(); n.comparable(g) != n.comparable(want) {
		return fmt.Sprintf("prints %.500q, compiled Go %.500q", g, want)
	}
	return ""
}

// comparable is an output without the order of lines, where it has none.
func (n Notebook) comparable(out string) string {
	if n.unordered {
		return strings.Join(slices.Sorted(strings.Lines(out+"\n")), "")
	}
	return out
}

// twins is a compiled program that runs one twin of many.
type twins struct {
	binary string
	number map[string]int
}

// failedPackage begins the errors of a package that does not compile.
var failedPackage = regexp.MustCompile(`(?m)^# twins/p(\d+)\n(.*)`)

func compileTwins(dir string, all []Notebook) (t twins, left map[string]string, err error) {
	t, left = twins{binary: filepath.Join(dir, "twins"), number: map[string]int{}}, map[string]string{}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module twins\n\ngo 1.26\n"), 0o666); err != nil {
		return t, nil, err
	}
	root, err := GoRoot()
	if err != nil {
		return t, nil, err
	}
	for i, n := range all {
		src, reason := twinOf(root, n.Cells)
		if reason != "" {
			left[n.Name] = reason
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("p%d", i))
		if err := os.Mkdir(path, 0o777); err != nil {
			return t, nil, err
		}
		if err := os.WriteFile(filepath.Join(path, "p.go"), []byte(src), 0o666); err != nil {
			return t, nil, err
		}
		t.number[n.Name] = i
	}
	out, _ := goBuild(dir, "-o", os.DevNull, "./...") // the errors tell which are no programs
	for _, m := range failedPackage.FindAllStringSubmatch(out, -1) {
		var i int
		fmt.Sscan(m[1], &i)
		left[all[i].Name] = "does not compile: " + m[2]
		delete(t.number, all[i].Name)
	}
	var imports, cases strings.Builder
	for _, i := range t.number {
		fmt.Fprintf(&imports, "import p%d \"twins/p%d\"\n", i, i)
		fmt.Fprintf(&cases, "\tcase \"%d each\":\n\t\tp%d.Each()\n\tcase \"%d all\":\n\t\tp%d.All()\n", i, i, i, i)
	}
	text := "package main\n\nimport \"os\"\n" + imports.String() + "\nfunc main() {\n\tswitch os.Args[1] {\n" + cases.String() + "\t}\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o666); err != nil {
		return t, nil, err
	}
	if out, err := goBuild(dir, "-o", t.binary, "."); err != nil {
		return t, nil, fmt.Errorf("corpus: build the compiled twins: %w: %.2000s", err, out)
	}
	return t, left, nil
}

func goBuild(dir string, args ...string) (string, error) {
	// Nothing is optimised, because most twins run for a millisecond; without the name of the
	// folder a twin that was compiled before is not compiled again.
	c := exec.Command("go", append([]string{"build", "-trimpath", "-gcflags=twins/...=-N -l", "-ldflags=-s -w"}, args...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := c.CombinedOutput()
	return string(out), err
}

// ofTwin are names of types of a twin, which print as those of package main in a cell.
var ofTwin = regexp.MustCompile(`\b(twin|twins/p\d+)\b`)

// run returns what the twin of a notebook prints, or the reason why it prints no answer.
func (t twins) run(n Notebook, order Order) (out, reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), twinLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, t.binary, fmt.Sprint(t.number[n.Name], " ", order))
	c.Dir, c.Stdout, c.Stderr, c.Env = n.Dir, &stdout, &stderr, append(os.Environ(), "TZ=America/Los_Angeles")
	if err := c.Run(); err != nil {
		return "", "the compiled program fails when each statement runs twice: " + err.Error() + ": " + firstLine(stderr.String())
	}
	return ofTwin.ReplaceAllString(stdout.String(), "main"), ""
}
