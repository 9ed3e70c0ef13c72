// The reruns command runs the cells of the corpora twice, and compares what they print with
// a compiled program that executes each statement twice:
//
//	go run ./kernel/cells/reruns [-order each,all] [-jobs 2] [-v] [PATTERN...]
//
// In the order each, a cell runs twice, one after the other; in the order all, all cells of
// a notebook run, and then all again.
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
	jobs := flag.Int("jobs", 0, "sessions at once; 0: one for each core")
	order := flag.String("order", "each,all", "each: each cell twice; all: all cells, then all again")
	verbose := flag.Bool("v", false, "print why a notebook is left")
	flag.Parse()
	if err := run(*order, *jobs, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "reruns:", err)
		os.Exit(1)
	}
}

func run(list string, jobs int, verbose bool, patterns []string) error {
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
	outcomes, left, err := corpus.Twice(program, dir, all, orders, jobs)
	if err != nil {
		return err
	}
	if verbose {
		for _, name := range slices.Sorted(maps.Keys(left)) {
			fmt.Printf("left: %s: %s\n", name, left[name])
		}
	}
	for _, order := range orders {
		fmt.Printf("%s: %d of %d notebooks have a compiled program that executes each statement twice\n", order, len(outcomes[order]), len(all))
		err = errors.Join(err, corpus.Report(os.Stdout, string(order)+" cells run twice, as compiled Go", outcomes[order], corpus.LeftTwice(), verbose))
	}
	return err
}
