// The reruns command runs the cells of the corpora twice, and compares what they print with
// a compiled program that executes each statement twice:
//
//	go run ./kernel/cells/reruns [-order each,all] [-jobs 2] [-v] [-compile] [PATTERN...]
//	go run ./kernel/cells/reruns -record
//
// In the order each, a cell runs twice, one after the other; in the order all, all cells of
// a notebook run, and then all again.
//
// Answers of compiled programs are recorded in kernel/cells/corpus/twins.txt, with the Go
// that compiled them; -compile compares with compiled programs only. -record compiles the
// programs without an answer, removes the answers of others, and runs no cells.
//
// The corpora are the examples of Go's standard library with each statement in a cell, the
// run-tests of the Go distribution with each declaration in a cell, and the sequences of
// kernel/cells/testdata. With -v it names those for which there is no compiled program, each
// with its reason.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cells/corpus"
)

func main() {
	jobs := flag.Int("jobs", 0, "sessions at once; 0: one for each core and another one")
	order := flag.String("order", "each,all", "each: each cell twice; all: all cells, then all again")
	verbose := flag.Bool("v", false, "print why a notebook is left")
	compile := flag.Bool("compile", false, "compile each program, also one whose answer is recorded")
	record := flag.Bool("record", false, "record the answers of compiled programs")
	flag.Parse()
	var err error
	if *record {
		err = recordAnswers(*jobs, *compile)
	} else {
		err = run(*order, *jobs, *verbose, *compile, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reruns:", err)
		os.Exit(1)
	}
}

// recordAnswers records the answers of all corpora.
func recordAnswers(jobs int, compile bool) error {
	at, err := cellbuild.Locate(context.Background())
	if err != nil {
		return err
	}
	folder := filepath.Join(at.Root, "kernel", "cells")
	all, err := corpus.Notebooks(filepath.Join(folder, "testdata"))
	if err != nil {
		return err
	}
	known, err := recorded(compile)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "twins")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := known.Add(dir, all, jobs); err != nil {
		return err
	}
	return known.Write(filepath.Join(folder, "corpus", corpus.RecordName))
}

// recorded is the record, an empty one to compile each program.
func recorded(compile bool) (corpus.Record, error) {
	if compile {
		return corpus.Record{}, nil
	}
	return corpus.Recorded()
}

func run(list string, jobs int, verbose, compile bool, patterns []string) error {
	var orders []corpus.Order
	for name := range strings.SplitSeq(list, ",") {
		order := corpus.Order(name)
		if order != corpus.Each2 && order != corpus.All2 {
			return fmt.Errorf("-order %s: expected each, all, or both with a comma", list)
		}
		orders = append(orders, order)
	}
	at, err := cellbuild.Locate(context.Background())
	if err != nil {
		return err
	}
	all, err := corpus.Notebooks(filepath.Join(at.Root, "kernel", "cells", "testdata"))
	if err != nil {
		return err
	}
	if len(patterns) > 0 {
		all = slices.DeleteFunc(all, func(n corpus.Notebook) bool {
			return !slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(n.Name, p) })
		})
	}
	program, err := cellbuild.Cells(context.Background(), os.Stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "twins")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	known, err := recorded(compile)
	if err != nil {
		return err
	}
	r, err := corpus.Twice{Program: program, Dir: dir, Orders: orders, Jobs: jobs, Known: known}.Run(all)
	if err != nil {
		return err
	}
	if verbose {
		for _, name := range slices.Sorted(maps.Keys(r.Left)) {
			fmt.Printf("left: %s: %s\n", name, r.Left[name])
		}
	}
	for _, order := range orders {
		fmt.Printf("%s: %d of %d notebooks have a compiled program that executes each statement twice\n", order, r.Compiled[order], len(all))
		err = errors.Join(err, corpus.Report(os.Stdout, string(order)+" cells run twice, as compiled Go and as they say", r.Outcomes[order], corpus.LeftTwice(), verbose))
	}
	return err
}
