package nbformat

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// change is an entry of results/DEVICE/changes.json: a code cell that differs from the
// one that produced the committed results.
type change struct {
	Notebook string `json:"notebook"` // file
	Cell     string `json:"cell"`     // id
	Change   string `json:"change"`   // hash of the executed source and today's
	Same     bool   `json:"same_results"`
	Why      string `json:"why"`
}

// difference is a code cell whose source differs from the executed one.
type difference struct {
	cell     string
	executed string // "" for a cell that was not executed
	now      string // "" for a cell that the notebook no longer has
}

func (d difference) hash() string {
	return fmt.Sprintf("%.6x", sha256.Sum256([]byte(d.executed+"\x00"+d.now)))
}

// updateProse copies today's prose into committed executions: it is no result.
const updateProse = "go test ./kernel/nbformat -run CommittedResults -update"

// TestCommittedResults compares each notebook with its committed executions. A changed
// code cell fails, until the notebook is executed on the device again or changes.json
// says why the change cannot affect results. Prose must be today's.
func TestCommittedResults(t *testing.T) {
	root := filepath.Join("..", "..", "notebooks")
	executed, err := filepath.Glob(filepath.Join(root, "results", "*", "*.ipynb"))
	if err != nil || len(executed) == 0 {
		t.Fatalf("%d executed notebooks: %v", len(executed), err)
	}
	for _, path := range executed {
		dir, name := filepath.Split(path)
		t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
			now, executed := readNotebook(t, filepath.Join(root, name)), readNotebook(t, path)
			if stale := staleProse(now, executed); *update && stale != "" {
				executed.Cells = withProse(now, executed)
				if err := executed.Write(path); err != nil {
					t.Fatal(err)
				}
			} else if stale != "" {
				t.Errorf("cell %s has other prose than the notebook: run %s", stale, updateProse)
			}
			compareExecution(t, now, executed, readChanges(t, dir, name))
		})
	}
}

func readNotebook(t *testing.T, path string) *Notebook {
	t.Helper()
	nb, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// readChanges returns the entries of a notebook; there may be no file.
func readChanges(t *testing.T, dir, notebook string) (changes []change) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "changes.json"))
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &changes)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(changes, func(c change) bool { return c.Notebook != notebook })
}

// compareExecution reports the differences that no change explains, and the
// changes that explain no difference. Cells that wait for a new execution are a
// skip, so that the list stays visible.
func compareExecution(t *testing.T, now, executed *Notebook, changes []change) {
	problems, waiting := unexplained(differences(now, executed), changes)
	for _, p := range problems {
		t.Error(p)
	}
	if len(waiting) > 0 && !t.Failed() {
		t.Skipf("needs an execution on the device: %s", strings.Join(waiting, "; "))
	}
}

func unexplained(found []difference, changes []change) (problems, waiting []string) {
	explained := map[string]bool{}
	for _, d := range found {
		i := slices.IndexFunc(changes, func(c change) bool { return c.Cell == d.cell && c.Change == d.hash() })
		if i < 0 || changes[i].Why == "" {
			problems = append(problems, fmt.Sprintf("cell %s is not the executed one: execute the notebook on the device again, or add it to changes.json with change %s and why it cannot affect results", d.cell, d.hash()))
			continue
		}
		explained[d.cell] = true
		if !changes[i].Same {
			waiting = append(waiting, d.cell+": "+changes[i].Why)
		}
	}
	for _, c := range changes {
		if !explained[c.Cell] {
			problems = append(problems, fmt.Sprintf("changes.json: cell %s, change %s: no such difference, remove the entry", c.Cell, c.Change))
		}
	}
	return problems, waiting
}

// differences compares code cells by their ids, and their order. It ignores parameters
// that a run injected.
func differences(now, executed *Notebook) (found []difference) {
	sources := func(nb *Notebook) (ids []string, text map[string]string) {
		text = map[string]string{}
		for _, c := range nb.Cells {
			if c.Type == Code && !c.HasTag(TagInjectedParameters) {
				ids, text[c.ID] = append(ids, c.ID), c.Source
			}
		}
		return ids, text
	}
	ids, sourceNow := sources(now)
	before, sourceThen := sources(executed)
	for _, id := range ids {
		if then, ok := sourceThen[id]; !ok || then != sourceNow[id] {
			found = append(found, difference{id, then, sourceNow[id]})
		}
	}
	for _, id := range before {
		if _, ok := sourceNow[id]; !ok {
			found = append(found, difference{id, sourceThen[id], ""})
		}
	}
	both := func(ids []string, other map[string]string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := other[id]; return !ok })
	}
	if a, b := both(ids, sourceThen), both(before, sourceNow); !slices.Equal(a, b) {
		found = append(found, difference{"(the order of cells)", strings.Join(b, " "), strings.Join(a, " ")})
	}
	return found
}

// staleProse is the first cell at which an execution differs from what withProse makes of
// it, "" if there is none.
func staleProse(now, executed *Notebook) string {
	want := withProse(now, executed)
	for i, c := range want {
		if i >= len(executed.Cells) {
			return c.ID
		}
		if e := executed.Cells[i]; e.ID != c.ID || e.Source != c.Source || !reflect.DeepEqual(shownAs(e), shownAs(c)) {
			return c.ID
		}
	}
	if len(executed.Cells) > len(want) {
		return executed.Cells[len(want)].ID
	}
	return ""
}

// withProse are the code cells of an execution, in their order and with their outputs, and
// around them the prose of today's notebook: before the first code cell behind it that ran.
// Prose of which no cell ran, up to the next prose, is left out: it has no output to explain.
func withProse(now, executed *Notebook) (cells []*Cell) {
	before, pending, missed := map[string][]*Cell{}, []*Cell(nil), false
	ran, today := map[string]bool{}, map[string]*Cell{}
	for _, c := range executed.Cells {
		ran[c.ID] = c.Type == Code
	}
	for _, c := range now.Cells {
		today[c.ID] = c
		switch {
		case c.Type != Code && missed:
			pending, missed = []*Cell{c}, false
		case c.Type != Code:
			pending = append(pending, c)
		case ran[c.ID]:
			before[c.ID], pending, missed = pending, nil, false
		default:
			missed = len(pending) > 0
		}
	}
	if missed {
		pending = nil
	}
	for _, c := range executed.Cells {
		if c.Type == Code {
			cells = append(append(cells, before[c.ID]...), likeToday(c, today[c.ID]))
		}
	}
	return append(cells, pending...)
}

// shownAs is how a cell is shown: its tags, and whether its source is hidden.
func shownAs(c *Cell) [2]any { return [2]any{c.Metadata["tags"], c.Metadata["jupyter"]} }

// likeToday is an executed cell, shown as today's is; that is nil for a cell that is gone.
func likeToday(c, today *Cell) *Cell {
	if today == nil || reflect.DeepEqual(shownAs(c), shownAs(today)) {
		return c
	}
	like := *c
	like.Metadata = maps.Clone(c.Metadata)
	for _, key := range []string{"tags", "jupyter"} {
		if value, ok := today.Metadata[key]; ok {
			like.Metadata[key] = value
		} else {
			delete(like.Metadata, key)
		}
	}
	return &like
}

// A notebook whose execution on a GPU has plots names its main one, which the execution has,
// and at most one other for reports of emulated runs.
func TestMainPlots(t *testing.T) {
	notebooks, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) == 0 {
		t.Fatalf("%d notebooks: %v", len(notebooks), err)
	}
	for _, path := range notebooks {
		count := map[string]int{}
		for _, c := range readNotebook(t, path).Cells {
			for _, tag := range []string{TagMainPlot, TagMainPlotEmulated} {
				if c.HasTag(tag) && c.Type != Code {
					t.Errorf("%s: cell %s is %s, and has the tag %s, expected code", filepath.Base(path), c.ID, c.Type, tag)
				} else if c.HasTag(tag) {
					count[tag]++
				}
			}
		}
		if count[TagMainPlot] > 1 || count[TagMainPlotEmulated] > count[TagMainPlot] {
			t.Errorf("%s: %v, expected at most one of each, and a plot of a GPU beside that of the emulation", filepath.Base(path), count)
		}
	}
	executed, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "results", "*", "*.ipynb"))
	if err != nil || len(executed) == 0 {
		t.Fatalf("%d executed notebooks: %v", len(executed), err)
	}
	for _, path := range executed {
		plots, main := 0, 0
		for _, c := range readNotebook(t, path).Cells {
			n := 0
			for _, o := range c.Outputs {
				if o.Data["image/svg+xml"] != nil || o.Data["image/png"] != nil {
					n++
				}
			}
			if plots += n; n > 0 && c.HasTag(TagMainPlot) {
				main++
			}
		}
		if plots > 0 && main != 1 {
			t.Errorf("%s: %d plots, and %d cells of them have the tag %s, expected one", path, plots, main, TagMainPlot)
		}
	}
}

// statesOnly reports whether code only states sentences of a lesson that are checked.
func statesOnly(source string) bool {
	states := regexp.MustCompile(`\b(Claim|Say|Find)\(`)
	lesson := regexp.MustCompile(`display\.(NewLesson|Lesson)\b`)
	other := regexp.MustCompile(`(?m)display\.|Chart\{|\.Compare\(|\.Check\(|\.Time\(|Explain|MustBench|Launch|^import|fmt\.Print|\.Count\(`)
	return states.MatchString(source) && !other.MatchString(lesson.ReplaceAllString(source, ""))
}

// A cell of Go has at most 40 lines, so that it fits a screen; set-ups are in packages. A
// kernel may be longer.
func TestCellsFitAScreen(t *testing.T) {
	const most = 40
	paths, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d notebooks, %v", len(paths), err)
	}
	for _, path := range paths {
		for _, c := range readNotebook(t, path).Cells {
			if lines := 1 + strings.Count(c.Source, "\n"); c.Type == Code && !strings.HasPrefix(c.Source, "%%") && lines > most {
				t.Errorf("%s: cell %s has %d lines of Go, expected at most %d: move its set-up to a package, or cut it where an idea ends", filepath.Base(path), c.ID, lines, most)
			}
		}
	}
}

// The source of a cell that only states checked sentences is hidden, in JupyterLab and in
// tools that know the tag: a reader would read each sentence twice.
func TestStatementsAreHidden(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	hidden := 0
	for _, path := range paths {
		for _, c := range readNotebook(t, path).Cells {
			jupyter, _ := c.Metadata["jupyter"].(map[string]any)
			folded, states := jupyter["source_hidden"] == true, c.Type == Code && statesOnly(c.Source)
			if states && !folded || c.HasTag(TagHideInput) != folded {
				t.Errorf("%s: cell %s: source_hidden %v, tag %s %v, states sentences alone: %v", filepath.Base(path), c.ID, folded, TagHideInput, c.HasTag(TagHideInput), states)
			}
			if states {
				hidden++
			}
		}
	}
	if hidden < 20 {
		t.Errorf("%d cells are hidden, expected those of notebooks 01 and 02 at least", hidden)
	}
}

// Prose that is new, changed, moved or gone follows today's notebook; code stays as it ran.
func TestWithProse(t *testing.T) {
	notebook := func(cells ...string) *Notebook {
		nb := &Notebook{}
		for _, s := range cells {
			id, source, _ := strings.Cut(s, "=")
			kind := Code
			if strings.HasPrefix(id, "m") {
				kind = Markdown
			}
			nb.Cells = append(nb.Cells, &Cell{Type: kind, ID: id, Source: source})
		}
		return nb
	}
	executed := notebook("m1=old", "c1=1", "m2=gone", "c2=2", "m3=end")
	now := notebook("m1=new", "c1=other", "m5=left out", "c9=not run", "m4=added", "c8=not run", "c2=2", "m3=end")
	if stale := staleProse(now, executed); stale != "m1" {
		t.Errorf("stale cell %q, expected m1", stale)
	}
	executed.Cells = withProse(now, executed)
	var got []string
	for _, c := range executed.Cells {
		got = append(got, c.ID+"="+c.Source)
	}
	if text := strings.Join(got, " "); text != "m1=new c1=1 m4=added c2=2 m3=end" {
		t.Errorf("cells %s", text)
	}
	if stale := staleProse(now, executed); stale != "" {
		t.Errorf("after the copy cell %s is stale", stale)
	}
}

func TestDifferences(t *testing.T) {
	cells := func(sources ...string) *Notebook {
		nb := &Notebook{}
		for _, s := range sources {
			id, source, _ := strings.Cut(s, "=")
			nb.Cells = append(nb.Cells, &Cell{Type: Code, ID: id, Source: source})
		}
		return nb
	}
	executed := cells("a=1", "b=2", "c=3")
	executed.Cells = append(executed.Cells, &Cell{Type: Code, ID: "p", Source: "n = 1", Metadata: map[string]any{"tags": []any{TagInjectedParameters}}},
		&Cell{Type: Markdown, ID: "m", Source: "old"})
	for name, test := range map[string]struct {
		now  *Notebook
		want string
	}{
		"same":    {cells("a=1", "b=2", "c=3"), ""},
		"changed": {cells("a=1", "b=4", "c=3"), "b"},
		"new":     {cells("a=1", "d=1", "b=2", "c=3"), "d"},
		"removed": {cells("a=1", "c=3"), "b"},
		"order":   {cells("b=2", "a=1", "c=3"), "(the order of cells)"},
	} {
		var got []string
		for _, d := range differences(test.now, executed) {
			got = append(got, d.cell)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: differences %q, expected %q", name, got, test.want)
		}
	}
}

func TestUnexplained(t *testing.T) {
	d := difference{"b", "2", "4"}
	again := difference{"b", "2", "5"}
	for name, test := range map[string]struct {
		found              []difference
		change             change
		problems, waitings int
	}{
		"explained":     {[]difference{d}, change{Cell: "b", Change: d.hash(), Same: true, Why: "a comment"}, 0, 0},
		"waits":         {[]difference{d}, change{Cell: "b", Change: d.hash(), Why: "a new table"}, 0, 1},
		"without a why": {[]difference{d}, change{Cell: "b", Change: d.hash(), Same: true}, 2, 0},
		"changed again": {[]difference{again}, change{Cell: "b", Change: d.hash(), Same: true, Why: "a comment"}, 2, 0},
		"executed":      {nil, change{Cell: "b", Change: d.hash(), Same: true, Why: "a comment"}, 1, 0},
	} {
		problems, waiting := unexplained(test.found, []change{test.change})
		if len(problems) != test.problems || len(waiting) != test.waitings {
			t.Errorf("%s: problems %q, waiting %q", name, problems, waiting)
		}
	}
}
