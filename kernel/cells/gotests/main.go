// The gotests command runs the run-tests of the Go distribution as cells:
//
//	go run ./kernel/cells/gotests [-jobs 2] [-limit 30s] [-again] [-cut] [-v] [PATTERN...]
//
// It runs each program below $GOROOT/test that begins with "// run" and whose build
// constraints hold here. A program is one cell, with a call of main as its last line, in a
// session that has forgotten the programs before it, or, if it fails there, in a new one. It passes if the cell ends without an error or with os.Exit(0), and if
// its output equals the .out file beside it, where there is one. With -again the cell runs
// twice in the session, and must print the same both times, where no address is printed.
// With -cut each declaration is a cell, and main() is the last one.
//
// The command prints the number of programs that pass and the programs that fail, with
// the reason from corpus/gotests.txt. The command fails if a program fails without a reason.
//
// The distributions of go.dev/dl contain the folder test. The toolchains that the go
// command fetches as modules do not: for those, -root names a distribution's folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cells/corpus"
)

// options are how programs run.
type options struct {
	corpus.GoTest
	jobs    int
	verbose bool
}

func main() {
	var o options
	flag.IntVar(&o.jobs, "jobs", 0, "programs that run at once; 0: one for each core and another one")
	flag.DurationVar(&o.Limit, "limit", 30*time.Second, "longest time of a cell")
	root := flag.String("root", "", "folder of a Go distribution; that of the go command if empty")
	again := flag.Bool("again", false, "run the cells of each program twice, where they pass once")
	flag.BoolVar(&o.Cut, "cut", false, "cut each program into a cell for each declaration")
	flag.BoolVar(&o.verbose, "v", false, "print what each program that is left ends with")
	flag.Parse()
	o.Runs = 1
	if *again {
		o.Runs = 2
	}
	if err := run(*root, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gotests:", err)
		os.Exit(1)
	}
}

func run(root string, o options, patterns []string) (err error) {
	if root == "" {
		if root, err = corpus.GoRoot(); err != nil {
			return err
		}
	}
	dir := filepath.Join(root, "test")
	names, err := corpus.GoTests(dir, patterns)
	if err != nil {
		return fmt.Errorf("%w: expected the folder test of a Go distribution from go.dev/dl, which -root names", err)
	}
	cells, err := cellbuild.Cells(context.Background(), os.Stderr)
	if err != nil {
		return err
	}
	outcomes := o.TryAll(cells, dir, names, o.jobs)
	return corpus.Report(os.Stdout, "programs of $GOROOT/test as cells", outcomes, corpus.LeftGoTests(o.Cut), o.verbose)
}
