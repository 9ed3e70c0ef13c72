package main

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"warpbook/kernel/cells/corpus"
)

// TestExamples: the examples of Go's standard library print as cells what they print as
// compiled functions, in each form and also when all their cells run again. Those that have
// a reason not to pass do not run, and are few.
func TestExamples(t *testing.T) {
	root, err := corpus.GoRoot()
	if err != nil {
		t.Fatal(err)
	}
	all, err := corpus.Examples(root)
	if err != nil || len(all) < 700 {
		t.Fatalf("%d examples in %s, expected more than 700; %v", len(all), root, err)
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	left := map[corpus.Form]map[string]string{}
	for form, most := range map[corpus.Form]int{corpus.Called: 10, corpus.Body: 15, corpus.Statements: 25} {
		if left[form] = corpus.LeftExamples(form); len(left[form]) > most {
			t.Errorf("%s: %d examples have a reason not to pass, expected at most %d", form, len(left[form]), most)
		}
	}
	some := sample(t, all, 25)
	slices.SortStableFunc(some, func(a, b corpus.Example) int { return cmp.Compare(a.Dir, b.Dir) })
	want := func(form corpus.Form, x corpus.Example) bool { return left[form][x.Name] == "" }
	for form, outcomes := range corpus.TryAll(program, some, corpus.Forms, want, 2, 0) {
		for _, o := range outcomes {
			if o.Failure != "" {
				t.Errorf("%s, %s: %s", o.Name, form, o.Failure)
			}
		}
	}
}

// TestGoTests: the run-tests of the Go distribution pass with each declaration in a cell of
// its own, and print the same when all their cells run again. Those that have a reason not
// to pass do not run: some take minutes.
func TestGoTests(t *testing.T) {
	root, err := corpus.GoRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "test")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the Go toolchain has no folder test: those that the go command fetches lack it, distributions of go.dev/dl have it")
	}
	names, err := corpus.GoTests(dir, nil)
	if err != nil || len(names) < 900 {
		t.Fatalf("%d run-tests in %s, expected more than 900; %v", len(names), dir, err)
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	left := corpus.LeftGoTests(true)
	names = slices.DeleteFunc(names, func(name string) bool { return left[name] != "" })
	some := sample(t, names, 25)
	try := corpus.GoTest{Cut: true, Runs: 2, Limit: patience}
	slices.SortFunc(some, func(a, b string) int { return cmp.Or(cmp.Compare(path.Dir(a), path.Dir(b)), cmp.Compare(a, b)) })
	for _, o := range try.TryAll(program, dir, some, 0) {
		if o.Failure != "" {
			t.Errorf("%s: %s", o.Name, o.Failure)
		}
	}
}

// TestCellsTwice: cells of the corpora that run twice, one after the other or all and then
// all again, print what a compiled program prints that executes each statement twice.
// Notebooks without such a program are few enough; those that differ for a listed reason do
// not run.
func TestCellsTwice(t *testing.T) {
	all, err := corpus.Notebooks("testdata")
	if err != nil || len(all) < 1000 {
		t.Fatalf("%d notebooks, expected more than 1000; %v", len(all), err)
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	differ := corpus.LeftTwice()
	all = slices.DeleteFunc(all, func(n corpus.Notebook) bool { return differ[n.Name] != "" })
	some := sample(t, all, 15)
	slices.SortStableFunc(some, func(a, b corpus.Notebook) int { return cmp.Compare(a.Dir, b.Dir) })
	orders := []corpus.Order{corpus.Each2, corpus.All2}
	outcomes, left, err := corpus.Twice(program, t.TempDir(), some, orders, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range orders {
		for _, o := range outcomes[order] {
			if o.Failure != "" {
				t.Errorf("%s, %s twice: %s", o.Name, order, o.Failure)
			}
		}
		if len(outcomes[order]) < len(some)/2 {
			t.Errorf("%d of %d notebooks have a compiled program, expected half of them; the others: %v", len(outcomes[order]), len(some), left)
		}
	}
}
