//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"warpbook/gpu/cuda"
	"warpbook/kernel/cellbuild"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/console"
	"warpbook/kernel/messages"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
	"warpbook/kernel/runs"
	"warpbook/kernel/sweep"
)

// kernelName and language identify our notebooks in their metadata.
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
	force      bool
}

func parseRun(args []string) (runOptions, error) {
	var o runOptions
	f := newFlags("run")
	f.StringVar(&o.out, "out", "report", "write the executed notebook, the report and the figures into `DIR`")
	f.Func("set", "set a variable of the cell tagged parameters: `NAME=VALUE`, with a Go expression; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		switch {
		case !ok || name == "":
			return errors.New("expected NAME=VALUE")
		case slices.ContainsFunc(o.parameters, func(p nbformat.Parameter) bool { return p.Name == name }):
			return fmt.Errorf("%s is set twice, expected once", name)
		}
		o.parameters = append(o.parameters, nbformat.Parameter{Name: name, Value: value})
		return nil
	})
	f.StringVar(&o.device, "device", "", "run on the device `NAME`, such as emu, emu:rtx4060 or cuda:1 (default "+deviceEnv+", or else the GPU, or else the emulator)")
	f.Func("timeout", "interrupt a cell that runs longer than `TIME`, such as 90s", func(s string) (err error) {
		if o.timeout, err = time.ParseDuration(s); err != nil || o.timeout <= 0 {
			return errors.New("expected a time such as 90s or 10m")
		}
		return nil
	})
	f.BoolVar(&o.force, "force", false, forceUsage)
	f.BoolVar(&o.quiet, "quiet", false, "show no output of cells")
	others, err := parse(f, args, 1)
	if err != nil {
		return o, err
	}
	o.notebook = others[0]
	if _, err := os.Stat(o.out); err != nil && !isFolder(o.out) {
		return o, usageError{fmt.Errorf("run: --out %s: expected a folder; a new one of this name is %[1]s/", o.out)}
	}
	return o, nil
}

// runCommand executes a notebook. It writes nothing before it has checked the input and
// found or built the cells program; then it writes the results whether a cell failed or
// not.
func runCommand(args []string) error {
	o, err := parseRun(args)
	if err != nil {
		return err
	}
	nb, err := o.load()
	if err != nil {
		return err
	}
	notices := console.New(os.Stderr, 0)
	ctx, kill, stop := withSignals(notices)
	defer stop()
	enough := console.After(ctx.Done(), blockedGrace)
	defer notices.Flush(enough)
	cells, err := cellbuild.Cells(ctx, notices)
	if err != nil {
		return orSignal(ctx, showBuild(notices, err))
	}
	if err := o.checkFolder(); err != nil {
		return err
	}
	if os.Getenv(deviceEnv) == "" && o.device == "" && cuda.Present() && !cuda.WorkerBuilt() {
		fmt.Fprintln(notices, "warpbook:", cuda.Remedy)
	}
	out := console.New(os.Stdout, 0)
	e := newExecution(nb, newScreen(os.Stdout, out, o.quiet), o.timeout, kill)
	e.notices = notices
	if err := e.run(ctx, cells, o.environment(nb)); err != nil {
		return orSignal(ctx, err)
	}
	said, err := o.finish(e)
	fmt.Fprint(out, said)
	if !out.Flush(enough) {
		fmt.Fprint(notices, "warpbook: standard output takes no more"+said)
	}
	return orSignal(ctx, err)
}

// blockedGrace is how long the end of an interrupted run waits for standard output.
const blockedGrace = 500 * time.Millisecond

// load reads the notebook and prepares it for an execution from clean.
func (o *runOptions) load() (*nbformat.Notebook, error) {
	nb, err := nbformat.Read(o.notebook)
	if err != nil {
		return nil, err
	}
	if err := nb.CheckKernel(kernelName, language); err != nil {
		return nil, err
	}
	if err := nb.SetParameters(o.parameters); err != nil {
		for _, p := range o.parameters {
			if axis, _ := sweep.ParseAxis(p.Name + "=" + p.Value); len(axis.Values) > 1 {
				err = fmt.Errorf("%w; warpbook sweep runs a notebook at several values", err)
			}
		}
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

// name returns a result's file name: the notebook's with another extension.
func (o *runOptions) name(extension string) string {
	base := filepath.Base(o.notebook)
	return strings.TrimSuffix(base, filepath.Ext(base)) + extension
}

// path returns the path of a result.
func (o *runOptions) path(extension string) string { return filepath.Join(o.out, o.name(extension)) }

// environment is that of the cells program. A notebook that names its language has its
// texts in that language.
func (o *runOptions) environment(nb *nbformat.Notebook) []string {
	env := os.Environ()
	if _, named := nb.Metadata["lang"]; named {
		env = append(env, messages.Variable+"="+nb.Language())
	}
	if o.device != "" {
		env = append(env, deviceEnv+"="+o.device)
	}
	return env
}

// checkFolder makes the folder, and checks before the run that files can be written
// into it.
func (o *runOptions) checkFolder() error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return fmt.Errorf("run: --out: %w", err)
	}
	f, err := os.CreateTemp(o.out, ".warpbook-*")
	if err != nil {
		return fmt.Errorf("run: --out: %w", err)
	}
	f.Close()
	for _, part := range []string{"", partial} {
		for _, extension := range extensions {
			path := o.path(part + extension)
			err := atomicfile.Replaceable(path)
			if err == nil {
				err = mayReplace(path, o.force)
			}
			if err != nil {
				return errors.Join(fmt.Errorf("run: --out: %w", err), os.Remove(f.Name()))
			}
		}
	}
	return os.Remove(f.Name())
}

// partial marks the file names of a run that did not execute every cell, so that the
// files of a whole run are kept.
const partial = ".partial"

// extensions are those of a run's files.
var extensions = []string{".html", ".ipynb", ".json"}

// files are the files that a run writes.
func (o *runOptions) files(e *execution, r *results, part string) []atomicfile.File {
	origin := report.Origin{Ran: true, Executed: r.executed(), Cells: len(r.Cells)}
	fill := map[string]func(io.Writer) error{
		".html":  func(w io.Writer) error { return report.Render(w, e.nb, origin) },
		".ipynb": e.nb.EncodeTo,
		".json":  r.write,
	}
	var files []atomicfile.File
	for _, extension := range extensions {
		files = append(files, atomicfile.File{Name: o.name(part + extension), Fill: fill[extension]})
	}
	return files
}

// finish writes the results and returns the run's error.
func (o *runOptions) finish(e *execution) (said string, err error) {
	r := e.results(o.parameters)
	part := ""
	if !r.Complete {
		part = partial
	}
	files := o.files(e, r, part)
	said = fmt.Sprintf("\n%s: %s\n", o.notebook, r.summary())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-e.kill:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := atomicfile.Together(ctx, o.out, files); err != nil {
		return said, fmt.Errorf("run: %w: %s", err, o.salvage(files))
	}
	written := time.Since(e.started.Add(e.elapsed))
	e.keep(r)
	said += fmt.Sprintf("wrote %s, %s, %s in %.1f s\n", o.path(part+".html"), o.path(part+".ipynb"), o.path(part+".json"), written.Seconds())
	if r.Passed {
		return said, nil
	}
	return said, runError{o.notebook, r.Failures}
}

// keep adds the record of a run to the user's runs. A failure to do so does not fail
// the run.
func (e *execution) keep(r *results) {
	data, err := kernelspec.DataDir()
	if folder := runs.Folder(data); err == nil && folder != "" {
		_, err = runs.Keep(folder, r.Notebook, r.Started, r.write)
	}
	if err != nil {
		fmt.Fprintln(e.notices, "warpbook: the run is not kept for later comparisons:", err)
	}
}

// salvage writes the files that could not go to --out into another folder, as far as
// there is room, and names that folder.
func (o *runOptions) salvage(files []atomicfile.File) string {
	dir, err := os.MkdirTemp("", "warpbook-"+o.name("")+"-*")
	if err != nil {
		return fmt.Sprintf("this run's files are lost: %v", err)
	}
	text := "this run's files are in " + dir
	for _, f := range files {
		if err := atomicfile.Write(filepath.Join(dir, f.Name), f.Fill); err != nil {
			text += fmt.Sprintf(", without %s: %v", f.Name, err)
		}
	}
	return text
}

// runError is the error of a notebook that ran and did not pass.
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

// showBuild prints the go command's output of a failed build.
func showBuild(w io.Writer, err error) error {
	var failed *cellbuild.BuildError
	if errors.As(err, &failed) {
		fmt.Fprint(w, failed.Output)
	}
	return err
}

// withSignals returns a context that the first SIGINT or SIGTERM cancels, with
// a signalError as its cause, and a channel that the second one closes.
func withSignals(notices io.Writer) (ctx context.Context, kill <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	again := make(chan struct{})
	// A reader that has ended, such as head, must not end the run: a write returns an
	// error instead. The signal is not ignored, because children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s, ok := <-signals
		if !ok {
			return
		}
		cancel(signalError{s.(syscall.Signal)})
		fmt.Fprintln(notices, "\nwarpbook: interrupting; once more to kill")
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

// orSignal reports the signal that ended a run before the errors that it caused.
func orSignal(ctx context.Context, err error) error {
	var stopped signalError
	if err != nil && errors.As(context.Cause(ctx), &stopped) {
		return stopped
	}
	return err
}
