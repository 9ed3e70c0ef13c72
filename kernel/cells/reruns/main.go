// The reruns command runs the cells of the corpora twice, and compares what they print with
// a compiled program that executes each statement twice:
//
//	go run ./kernel/cells/reruns [-order each,all,7] [-jobs 2] [-v] [-compile] [PATTERN...]
//	go run ./kernel/cells/reruns -record
//	go run ./kernel/cells/reruns -notebooks [PATTERN...]
//
// In the order each, a cell runs twice, one after the other; in the order all, all cells of
// a notebook run, and then all again. A number is the seed of an order in which cells run at
// random, as in a session in which somebody runs cells here and there.
//
// Answers of compiled programs are recorded in kernel/cells/corpus/twins.txt, with the Go
// that compiled them; -compile compares with compiled programs only. -record compiles the
// programs without an answer, removes the answers of others, and runs no cells.
//
// The corpora are the examples of Go's standard library with each statement in a cell, the
// run-tests of the Go distribution with each declaration in a cell, and the sequences of
// kernel/cells/testdata. With -v it names those for which there is no compiled program, each
// with its reason.
//
// With -notebooks the notebooks of this repository run on the emulator, all cells and then all
// again, and what they print and show is compared with compiled programs, but for times.
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
	"strconv"
	"strings"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cells/corpus"
)

func main() {
	jobs := flag.Int("jobs", 0, "sessions at once; 0: one for each core and another one")
	order := flag.String("order", "each,all", "each: each cell twice; all: all cells, then all again; a number: cells at random by that seed")
	verbose := flag.Bool("v", false, "print why a notebook is left")
	compile := flag.Bool("compile", false, "compile each program, also one whose answer is recorded")
	record := flag.Bool("record", false, "record the answers of compiled programs")
	own := flag.Bool("notebooks", false, "run the notebooks of this repository")
	flag.Parse()
	var err error
	switch {
	case *record:
		err = recordAnswers(*jobs, *compile)
	case *own:
		err = runNotebooks(flag.Args())
	default:
		err = run(*order, *jobs, *verbose, *compile, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reruns:", err)
		os.Exit(1)
	}
}

// notebooks are those of all corpora, and the sequences of the folder of package cells.
func notebooks(folder string) ([]corpus.Notebook, error) {
	root, err := corpus.GoRoot()
	if err != nil {
		return nil, err
	}
	examples, err := corpus.Examples(root)
	if err != nil {
		return nil, err
	}
	return corpus.Notebooks(root, examples, filepath.Join(folder, "testdata"))
}

// recordAnswers records the answers of all corpora.
func recordAnswers(jobs int, compile bool) error {
	at, err := cellbuild.Locate(context.Background())
	if err != nil {
		return err
	}
	folder := filepath.Join(at.Root, "kernel", "cells")
	all, err := notebooks(folder)
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
		if seed, err := strconv.Atoi(name); err == nil {
			order, compile = corpus.Shuffled(seed), true
		} else if order != corpus.Each2 && order != corpus.All2 {
			return fmt.Errorf("-order %s: expected each, all and numbers, with commas", list)
		}
		orders = append(orders, order)
	}
	at, err := cellbuild.Locate(context.Background())
	if err != nil {
		return err
	}
	all, err := notebooks(filepath.Join(at.Root, "kernel", "cells"))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(n corpus.Notebook) bool { return !fits(n.Name, patterns) })
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

// fits reports whether a name contains one of some patterns, if there are any.
func fits(name string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(name, p) })
}

// runNotebooks compares notebooks of this repository with compiled programs.
func runNotebooks(patterns []string) error {
	at, err := cellbuild.Locate(context.Background())
	if err != nil {
		return err
	}
	program, err := cellbuild.Cells(context.Background(), os.Stderr)
	if err != nil {
		return err
	}
	if err := os.Setenv("WARPBOOK_DEVICE", "emu"); err != nil {
		return err
	}
	differ := 0
	for _, n := range corpus.OwnNotebooks {
		if !fits(n.Name, patterns) {
			continue
		}
		c, err := compareNotebook(program, at.Root, n)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d cells, %d lines equal, %d without times, %d differences\n", n.Name, c.Cells, c.Lines, c.WithoutTimes, len(c.Differences))
		for _, i := range slices.Sorted(maps.Keys(c.Left)) {
			fmt.Printf("    left: cell %d: %s\n", i, c.Left[i])
		}
		for _, d := range c.Differences {
			differ++
			fmt.Println(d)
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d cells differ from compiled Go", differ)
	}
	return nil
}

func compareNotebook(program, root string, n corpus.OwnNotebook) (c corpus.Compared, err error) {
	notebook, err := corpus.ReadOwn(filepath.Join(root, "notebooks"), n)
	if err != nil {
		return c, err
	}
	dir, err := os.MkdirTemp("", "notebooks")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	return notebook.Compare(program, dir)
}
