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

// runProgram runs a cell that has main: a whole program, on an emulated GPU of its own or on a
// GPU. The cell declares nothing.
func runProgram(ctx context.Context, c *magic.Call, name, folder string) ([]magic.Declaration, error) {
	for _, flag := range []string{"instantiate", "compiler"} {
		if c.Flags[flag] != "" {
			return nil, c.Errorf(c.FlagAt(flag), "--%s: the cell has main and is a whole program, which has no such option", flag)
		}
	}
	source := program.Source{Name: name, Text: c.Body, FirstLine: c.BodyRow, Folder: folder}
	o := program.Options{Arch: c.Flags["arch"], Std: c.Flags["std"], FastMath: c.Flags["fast-math"] != ""}
	set := program.Settings{GPU: c.Flags["gpu"], Strict: c.Flags["strict"] != "", Sanitize: c.Flags["sanitize"] != "", Args: strings.Fields(c.Flags["args"])}
	nvidia, err := set.On(c.Flags["device"])
	if err != nil {
		return nil, c.Errorf(c.FlagAt("device"), "--device %v", err)
	}
	o.NVIDIA = nvidia
	if refused := set.Refused(c.Flags["ncu"] != "", false); nvidia && refused != "" {
		return nil, c.Errorf(c.FlagAt("device"), "%s on the emulator only, expected it without --device %s", refused, c.Flags["device"])
	}
	if c.Flags["committed"] != "" && c.Flags["ncu"] != "" {
		return nil, c.Errorf(c.FlagAt("ncu"), "--ncu: a recorded run has no counters, expected --ncu or --committed")
	}
	p, err := program.Build(ctx, []program.Source{source}, o, c.Out)
	if errors.Is(err, context.Canceled) {
		return nil, magic.ErrInterrupted
	}
	if path := c.Flags["committed"]; path != "" && errors.Is(err, program.ErrUnavailable) {
		return nil, showRecord(c, path, source, o, set, err)
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

// showRecord shows the recorded run of a program that cannot be built here.
func showRecord(c *magic.Call, path string, source program.Source, o program.Options, set program.Settings, unavailable error) error {
	r, err := program.ReadRecord(path, source, o, set)
	if err != nil {
		return c.Errorf(c.FlagAt("committed"), "%s; %s", strings.TrimPrefix(err.Error(), "program: "), strings.TrimPrefix(unavailable.Error(), "program: "))
	}
	fmt.Fprintf(c.Out, "not run: what it printed on %s (%s)\n", r.Made, strings.TrimPrefix(unavailable.Error(), "program: "))
	os.Stdout.WriteString(r.Out)
	os.Stderr.WriteString(r.Err)
	if err := r.Exit(source.Name); err != nil {
		return c.Errorf(0, "%v", err)
	}
	return nil
}

// runAsking runs a program. It is given the descriptors themselves, so that output is not
// buffered. This goroutine, which is the cell's, asks the user for the lines
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
