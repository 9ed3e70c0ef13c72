// The examples command runs the examples of Go's standard library as cells:
//
//	go run ./kernel/cells/examples [-form called,body,statements] [-times 1] [-jobs 2] [-v] [PATTERN...]
//
// It reads each function of $GOROOT/src whose output is known, as package testing does.
// An example is called as a function, its body is one cell, or each statement is a cell.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cells/corpus"
)

func main() {
	form := flag.String("form", "called,body,statements", "how each example runs")
	times := flag.Int("times", 1, "how often the cells that print run")
	jobs := flag.Int("jobs", 0, "sessions at once; 0: one for each core and another one")
	verbose := flag.Bool("v", false, "print what each failing example ends with")
	flag.Parse()
	if err := run(strings.Split(*form, ","), *times, *jobs, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(1)
	}
}

func run(forms []string, times, jobs int, verbose bool, patterns []string) error {
	root, err := corpus.GoRoot()
	if err != nil {
		return err
	}
	all, err := corpus.Examples(root)
	if err != nil {
		return err
	}
	if len(patterns) > 0 {
		all = slices.DeleteFunc(all, func(x corpus.Example) bool {
			return !slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(x.Name, p) })
		})
	}
	program, err := cellbuild.Cells(context.Background(), os.Stderr)
	if err != nil {
		return err
	}
	var list []corpus.Form
	for _, form := range forms {
		list = append(list, corpus.Form(form))
	}
	outcomes := corpus.TryAll(program, all, list, func(corpus.Form, corpus.Example) bool { return true }, times, jobs)
	for _, form := range list {
		err = errors.Join(err, corpus.Report(os.Stdout, string(form), outcomes[form], corpus.LeftExamples(form), verbose))
	}
	return err
}
