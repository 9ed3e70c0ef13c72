// The clang command compiles every .cu file of the operators with clang, as package compile
// does where NVRTC is missing, and checks its rungs on the emulator. It prints a line for
// each file: the rungs that passed, or why the file does not compile or a rung fails. Run it
// from the project's root.
//
//	go run ./ops/cmd/clang                 the cases of each operator that take seconds
//	go run ./ops/cmd/clang -all            all its cases
//	go run ./ops/cmd/clang -own            with package gpu/llvm as the back end, as in a browser
//	go run ./ops/cmd/clang reduce softmax  these operators
//	go run ./ops/cmd/clang -write DIR reduce  keeps the PTX, for bench --with DIR/reduce.sm_75.ptx:ENTRY on a GPU
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"warpbook/ops"
	"warpbook/ops/ladder"
)

func main() {
	all := flag.Bool("all", false, "check all cases of the operators, which takes an hour")
	own := flag.Bool("own", false, "make PTX of clang's intermediate code with package gpu/llvm, as in a browser")
	write := flag.String("write", "", "`folder` that the PTX is written to")
	seed := flag.Uint64("seed", 1, "seed of the inputs")
	flag.Parse()
	operators, err := named(flag.Args())
	if err == nil {
		var files, passed int
		files, passed, err = try(os.Stdout, operators, trial{ctx: context.Background(), all: *all, own: *own, seed: *seed, write: *write})
		fmt.Printf("%d of %d files compile and pass, %.1f %%\n", passed, files, 100*float64(passed)/float64(max(1, files)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// named are the operators of some names, all for none.
func named(names []string) (list []*ladder.Operator, err error) {
	for _, o := range ops.Operators() {
		if len(names) == 0 || slices.Contains(names, o.Name) {
			list = append(list, o)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(o *ladder.Operator) bool { return o.Name == name }) {
			return nil, fmt.Errorf("clang: no operator %s", name)
		}
	}
	return list, nil
}

// try prints the result of every file of the operators. A file that several operators share
// is compiled once, and passes where all of them pass.
func try(out io.Writer, operators []*ladder.Operator, t trial) (files, passed int, err error) {
	t.made = map[string]*file{}
	for i, o := range operators {
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", i+1, len(operators), o.Name)
		if err := t.operator(o); err != nil {
			return 0, 0, err
		}
		for _, f := range t.order {
			if len(f.reasons) > f.told {
				fmt.Fprintln(os.Stderr, f)
				f.told = len(f.reasons)
			}
		}
	}
	for _, f := range t.order {
		files++
		if len(f.reasons) == 0 {
			passed++
		}
		fmt.Fprintln(out, f)
	}
	return files, passed, nil
}
