package main

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"warpbook/kernel/cells/corpus"
)

var (
	goRoot       = sync.OnceValues(corpus.GoRoot)
	readExamples = sync.OnceValues(func() ([]corpus.Example, error) {
		root, err := goRoot()
		if err != nil {
			return nil, err
		}
		return corpus.Examples(root)
	})
)

// examples are the folder of the Go distribution and the examples of its library, which it
// reads once.
func examples(t *testing.T) (root string, all []corpus.Example) {
	t.Helper()
	root, err := goRoot()
	if err != nil {
		t.Fatal(err)
	}
	if all, err = readExamples(); err != nil || len(all) < 700 {
		t.Fatalf("%d examples in %s, expected more than 700; %v", len(all), root, err)
	}
	return root, slices.Clone(all)
}

// TestExamples: the examples of Go's standard library print as cells what they print as
// compiled functions, as a function and as a cell, and also when all their cells run again;
// TestCellsTwice has each statement in a cell. Those that have a reason not to pass do not
// run, and are few.
func TestExamples(t *testing.T) {
	t.Parallel() // so that no core waits for the last session of a corpus
	_, all := examples(t)
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
	want := func(form corpus.Form, x corpus.Example) bool { return left[form][x.Name] == "" }
	for form, outcomes := range corpus.TryAll(program, some, []corpus.Form{corpus.Called, corpus.Body}, want, 2, 0) {
		t.Logf("%s: %d examples", form, len(outcomes))
		for _, o := range outcomes {
			if o.Failure != "" {
				t.Errorf("%s, %s: %s", o.Name, form, o.Failure)
			}
		}
	}
}

// TestCellsTwice: cells of the corpora that run twice, one after the other or all and then
// all again, print what a compiled program prints that executes each statement twice; and
// all cells of an example with a statement in each, or of a run-test with a declaration in
// each, print each time what the example or the run-test says. Notebooks without a compiled
// program are few enough; those that differ for a listed reason do not run, or run without it.
func TestCellsTwice(t *testing.T) {
	t.Parallel()
	root, examples := examples(t)
	all, err := corpus.Notebooks(root, examples, "testdata")
	if err != nil || len(all) < 1000 {
		t.Fatalf("%d notebooks, expected more than 1000; %v", len(all), err)
	}
	switch tests := len(slices.DeleteFunc(slices.Clone(all), func(n corpus.Notebook) bool { return !strings.HasPrefix(n.Name, "run-test ") })); {
	case tests == 0:
		t.Log("without Go's run-tests: toolchains that the go command fetches lack the folder test, distributions of go.dev/dl have it")
	case tests < 850:
		t.Fatalf("%d run-tests, expected more than 850", tests)
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	known, err := corpus.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	n := 40
	if testing.Short() { // with the race detector
		n = 15
	}
	some := sample(t, all, n)
	compiled := 1 // a small sample may have few that Go compiles as a program
	if len(some) == len(all) {
		compiled = len(all) / 2
	}
	known.Forget(choose(t, slices.Clone(some), 4)) // so the record is compared with compiled Go, too
	r, err := corpus.Twice{Program: program, Dir: t.TempDir(), Orders: corpus.Orders, Known: known, Without: corpus.LeftTwice()}.Run(some)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range corpus.Orders {
		for _, o := range r.Outcomes[order] {
			if o.Failure != "" {
				t.Errorf("%s, %s twice: %s", o.Name, order, o.Failure)
			}
		}
		t.Logf("%s twice: %d notebooks, %d beside compiled Go", order, len(r.Outcomes[order]), r.Compiled[order])
		if r.Compiled[order] < compiled || r.Compiled[order]+len(r.Left) < len(some) {
			t.Errorf("%d of %d notebooks have a compiled program, expected at least %d, and a reason for each of the others: %v", r.Compiled[order], len(some), compiled, r.Left)
		}
	}
	for name, reason := range r.Left {
		if left := corpus.LeftTwice(); left[name] == "" && !strings.HasPrefix(name, "example ") && !strings.HasPrefix(name, "run-test ") {
			t.Errorf("%s: there is no compiled program, and no reason in twice.txt: %s", name, reason)
		}
	}
	t.Logf("%d answers of compiled Go are not recorded: go run ./kernel/cells/reruns -record", r.Fresh)
}
