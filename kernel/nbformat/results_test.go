package nbformat

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// TestCommittedResults compares the code of each notebook with that of its
// committed executions. A changed cell fails, until the notebook is executed on
// the device again or changes.json says why the change cannot affect results.
func TestCommittedResults(t *testing.T) {
	root := filepath.Join("..", "..", "notebooks")
	executed, err := filepath.Glob(filepath.Join(root, "results", "*", "*.ipynb"))
	if err != nil || len(executed) == 0 {
		t.Fatalf("%d executed notebooks: %v", len(executed), err)
	}
	for _, path := range executed {
		dir, name := filepath.Split(path)
		t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
			compareExecution(t, readNotebook(t, filepath.Join(root, name)), readNotebook(t, path), readChanges(t, dir, name))
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
