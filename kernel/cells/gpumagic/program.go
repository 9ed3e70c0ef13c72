package gpumagic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"warpbook/gpu/compile"
	"warpbook/gpu/program"
	"warpbook/kernel/display"
	"warpbook/kernel/engine/magic"
)

// runProgram runs a cell that has main: a whole program, on an emulated GPU of its own. The
// cell declares nothing.
func runProgram(ctx context.Context, c *magic.Call, name, folder string) ([]magic.Declaration, error) {
	for _, flag := range []string{"instantiate", "committed", "compiler"} {
		if c.Flags[flag] != "" {
			return nil, c.Errorf(c.FlagAt(flag), "--%s: the cell has main and is a whole program, which has no such option", flag)
		}
	}
	source := program.Source{Name: name, Text: c.Body, FirstLine: c.BodyRow, Folder: folder}
	o := program.Options{Arch: c.Flags["arch"], Std: c.Flags["std"], FastMath: c.Flags["fast-math"] != ""}
	p, err := program.Build(ctx, []program.Source{source}, o, c.Out)
	if errors.Is(err, context.Canceled) {
		return nil, magic.ErrInterrupted
	}
	if errors.Is(err, program.ErrUnavailable) { // Go cells can do what the host code does
		fmt.Fprintln(c.Out, strings.TrimPrefix(err.Error(), "program: ")+"; in Go cells:")
		_, err = compile.CUDA(ctx, name, c.Body, compile.Options{FirstLine: c.BodyRow})
	}
	if err != nil {
		return nil, failure(c, err)
	}
	for _, w := range p.Warnings {
		fmt.Fprintln(c.Out, w)
	}
	// The descriptors themselves: output is not buffered.
	set := program.Settings{GPU: c.Flags["gpu"], Strict: c.Flags["strict"] != "", Sanitize: c.Flags["sanitize"] != "", Args: strings.Fields(c.Flags["args"])}
	var kernels program.Kernels
	if c.Flags["ncu"] != "" {
		set.Kernels = &kernels
	}
	err = runAsking(ctx, p, set)
	if len(kernels) > 0 {
		c.Show(kernels)
	}
	if errors.Is(err, context.Canceled) {
		return nil, magic.ErrInterrupted
	}
	if err != nil {
		return nil, c.Errorf(0, "%s", strings.TrimPrefix(err.Error(), "program: "))
	}
	return nil, nil
}

// runAsking runs a program. This goroutine, which is the cell's, asks the user for the lines
// that the program waits for.
func runAsking(ctx context.Context, p *program.Program, set program.Settings) error {
	type answer struct {
		line string
		err  error
	}
	questions, answers, ended := make(chan struct{}), make(chan answer), make(chan struct{})
	ask := func() (string, error) {
		select {
		case questions <- struct{}{}:
			a := <-answers
			return a.line, a.err
		case <-ended:
			return "", errors.New("the program has ended")
		}
	}
	result := make(chan error, 1)
	go func() { result <- p.Run(ctx, set, program.Streams{Out: os.Stdout, Err: os.Stderr, Ask: ask}) }()
	for {
		select {
		case err := <-result:
			close(ended)
			return err
		case <-questions:
			line, err := display.Ask("")
			answers <- answer{line, err}
		}
	}
}
