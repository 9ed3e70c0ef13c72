package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"warpbook/gpu/cuda"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/program"
	"warpbook/kernel/report"
)

// kernelName and language are what a notebook of ours names in its metadata.
const (
	kernelName = "warpbook"
	language   = "go"
)

// deviceEnv names the variable that tells the cells program which device to open.
const deviceEnv = "WARPBOOK_DEVICE"

type runOptions struct {
	notebook   string
	out        string
	parameters []nbformat.Parameter
	device     string
	timeout    time.Duration
	quiet      bool
}

func parseRun(args []string) (runOptions, error) {
	var o runOptions
	f := newFlags("run")
	f.StringVar(&o.out, "out", "report", "write the executed notebook, the report and the figures into `DIR`")
	f.Func("set", "set a variable of the cell tagged parameters to a Go expression, `NAME=VALUE`; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return errors.New("expected NAME=VALUE")
		}
		o.parameters = append(o.parameters, nbformat.Parameter{Name: name, Value: value})
		return nil
	})
	f.StringVar(&o.device, "device", "", "run on the device `NAME`, as in "+deviceEnv)
	f.DurationVar(&o.timeout, "timeout", 0, "interrupt a cell that runs longer than `TIME`, such as 90s")
	f.BoolVar(&o.quiet, "quiet", false, "show no output of cells")
	others, err := parse(f, args, 1)
	if err != nil {
		return o, err
	}
	o.notebook = others[0]
	return o, nil
}

// runCommand executes a notebook. Nothing is written before the input has been
// checked and the cells program is there; then the results are written whether
// a cell failed or not.
func runCommand(args []string) error {
	o, err := parseRun(args)
	if err != nil {
		return err
	}
	nb, err := o.load()
	if err != nil {
		return err
	}
	ctx, kill, stop := withSignals()
	defer stop()
	cells, err := program.Cells(ctx, os.Stderr)
	if err != nil {
		return orSignal(ctx, showBuild(err))
	}
	if err := checkFolder(o.out); err != nil {
		return err
	}
	if os.Getenv(deviceEnv) == "" && o.device == "" && cuda.Present() && !cuda.WorkerBuilt() {
		fmt.Fprintln(os.Stderr, "warpbook:", cuda.Remedy)
	}
	e := newExecution(nb, newScreen(os.Stdout, o.quiet), o.timeout, kill)
	if err := e.run(ctx, cells, o.environment()); err != nil {
		return orSignal(ctx, err)
	}
	return orSignal(ctx, o.finish(e))
}

// load reads the notebook and makes it ready to be executed from clean.
func (o *runOptions) load() (*nbformat.Notebook, error) {
	nb, err := nbformat.Read(o.notebook)
	if err != nil {
		return nil, err
	}
	if err := nb.CheckKernel(kernelName, language); err != nil {
		return nil, err
	}
	if err := nb.SetParameters(o.parameters); err != nil {
		return nil, err
	}
	if from, err := os.Stat(o.notebook); err == nil {
		if to, err := os.Stat(o.path(".ipynb")); err == nil && os.SameFile(from, to) {
			return nil, fmt.Errorf("run: --out %s: %s would be overwritten, expected another folder", o.out, o.notebook)
		}
	}
	nb.ClearOutputs()
	return nb, nil
}

// path is where a result goes: the notebook's name with another extension.
func (o *runOptions) path(extension string) string {
	base := filepath.Base(o.notebook)
	return filepath.Join(o.out, strings.TrimSuffix(base, filepath.Ext(base))+extension)
}

func (o *runOptions) environment() []string {
	env := os.Environ()
	if o.device != "" {
		env = append(env, deviceEnv+"="+o.device)
	}
	return env
}

// checkFolder makes the folder, and finds out before anything runs whether
// files can be written into it.
func checkFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("run: --out: %w", err)
	}
	f, err := os.CreateTemp(dir, ".warpbook-*")
	if err != nil {
		return fmt.Errorf("run: --out: %w", err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// finish writes the results and says how the run went.
func (o *runOptions) finish(e *execution) error {
	r := e.results(o.parameters)
	if err := e.nb.Write(o.path(".ipynb")); err != nil {
		return err
	}
	if err := r.write(o.path(".json")); err != nil {
		return err
	}
	if err := report.Write(o.path(".html"), e.nb); err != nil {
		return err
	}
	fmt.Printf("\n%s: %s\n", o.notebook, r.summary())
	fmt.Println("wrote", o.path(".html")+",", o.path(".ipynb")+",", o.path(".json"))
	if r.Passed {
		return nil
	}
	return runError{o.notebook, r.Failures}
}

// runError is a notebook that ran and did not pass.
type runError struct {
	notebook string
	failures []failure
}

func (e runError) Error() string {
	lines := make([]string, len(e.failures))
	for i, f := range e.failures {
		lines[i] = fmt.Sprintf("run: %s: %s", e.notebook, f)
	}
	return strings.Join(lines, "\nwarpbook: ")
}

// showBuild prints what the go command said of a build that it could not do.
func showBuild(err error) error {
	var failed *program.BuildError
	if errors.As(err, &failed) {
		fmt.Fprint(os.Stderr, failed.Output)
	}
	return err
}

// withSignals returns a context that the first SIGINT or SIGTERM cancels, with
// a signalError as its cause, and a channel that the second one closes.
func withSignals() (ctx context.Context, kill <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	again := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s, ok := <-signals
		if !ok {
			return
		}
		cancel(signalError{s.(syscall.Signal)})
		fmt.Fprintln(os.Stderr, "\nwarpbook: interrupting; once more to kill")
		if _, ok := <-signals; ok {
			close(again)
		}
	}()
	return ctx, again, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

// orSignal puts the signal that ended a run in front of what it led to.
func orSignal(ctx context.Context, err error) error {
	var stopped signalError
	if err != nil && errors.As(context.Cause(ctx), &stopped) {
		return stopped
	}
	return err
}
