//go:build !windows

package main

import (
	"context"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"warpbook/gpu/compile"
	"warpbook/gpu/program"
)

// mayLink is mayReplace for an executable, which takes the place of another one: -o a.cu b.cu
// lacks the name, and a.cu is a source.
func mayLink(path string, force bool, inputs ...string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // -o /dev/null would lose the device
		return fmt.Errorf("%s: a folder or a device, expected the name of a file", path)
	}
	f, err := elf.Open(path)
	if err == nil {
		f.Close()
	}
	return mayReplace(path, force || err == nil, inputs...)
}

// cudaCommand compiles a CUDA program and runs it on an emulated GPU.
func cudaCommand(args []string) error {
	var own []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, own = args[:i], args[i+1:]
	}
	f := newFlags("cuda")
	var o program.Options
	set := program.Settings{Args: own}
	device := f.String("device", "", "run on the device `NAME`: emu, emu:t4 or another GPU that is emulated, or cuda:1, a GPU of this machine, with NVIDIA's runtime (emu)")
	out := f.String("o", "", "write an executable for GPUs of NVIDIA to this `FILE`, with NVIDIA's runtime beside it, and do not run it")
	f.StringVar(&set.GPU, "gpu", "", "emulate this `GPU`: h200, h100, a100, rtx3090, rtx4060, rtx4090, t4 (h200)")
	f.StringVar(&o.Arch, "arch", "", "compile kernels for this `SM` and later (sm_75)")
	f.StringVar(&o.Std, "std", "", "`language` standard, such as c++20 (c++17)")
	f.BoolVar(&o.FastMath, "fast-math", false, "shorter and less exact division, roots, exponentials in kernels")
	f.BoolVar(&set.Strict, "strict", false, "end the program at what is undefined and yet runs on a GPU, such as a read of uninitialised memory")
	f.BoolVar(&set.Sanitize, "sanitize", false, "look for races in shared memory in launches of any size, which may take twice as long")
	f.Func("I", "look for headers in this `FOLDER`, too; may be repeated", func(s string) error { o.Include = append(o.Include, s); return nil })
	f.Func("D", "define a `MACRO`, as NAME or NAME=VALUE; may be repeated", func(s string) error { o.Define = append(o.Define, s); return nil })
	ncu := f.Bool("ncu", false, "print what each kernel counted after the program's end")
	report := f.String("report", "", "write a page with the source, the output and what each kernel counted to `FILE`.html, to share")
	force := f.Bool("force", false, forceUsage)
	calls := f.Bool("calls", false, "print the calls of CUDA's runtime API that a program can make, and end")
	files, err := parseAny(f, apart(args))
	if err != nil {
		return err
	}
	if err := checkReport(f, *report); err != nil {
		return err
	}
	if *calls {
		fmt.Println(strings.Join(program.Calls(), "\n"))
		return nil
	}
	if len(files) == 0 {
		return usageError{errors.New("cuda: no source, expected FILE.cu, see warpbook cuda --help")}
	}
	if err := mayReplace(*report, *force, files...); err != nil {
		return fmt.Errorf("cuda: --report %w", err)
	}
	if *out == "" && isSet(f, "o") {
		return usageError{errors.New(`cuda: -o "": expected the name of a file`)}
	}
	if err := mayLink(*out, *force, files...); err != nil {
		return fmt.Errorf("cuda: -o %w", err)
	}
	if o.NVIDIA, err = set.On(*device); err != nil {
		return usageError{fmt.Errorf("cuda: --device %w", err)}
	}
	o.NVIDIA = o.NVIDIA || *out != ""
	if refused := set.Refused(*ncu, *report != ""); o.NVIDIA && refused != "" {
		return usageError{fmt.Errorf("cuda: %s on the emulator only, expected it without --device and -o", refused)}
	}
	sources, err := readSources(files)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := program.Build(ctx, sources, o, os.Stderr)
	if err != nil {
		return cudaFailure(err)
	}
	for _, w := range p.Warnings {
		fmt.Fprintln(os.Stderr, w)
	}
	if *out != "" {
		return p.Write(*out)
	}
	run := &cudaRun{program: p, set: set, report: *report}
	err = run.run(ctx, *ncu)
	if exit := (*program.ExitError)(nil); errors.As(err, &exit) {
		return exitError{exit}
	}
	if errors.Is(err, context.Canceled) {
		return signalError{syscall.SIGINT}
	}
	return err
}

// apart puts the values of -I and -D, which compilers take without a space, behind their flags.
func apart(args []string) (list []string) {
	for _, a := range args {
		if len(a) > 2 && (strings.HasPrefix(a, "-I") || strings.HasPrefix(a, "-D")) && a[2] != '=' {
			list = append(list, a[:2], a[2:])
			continue
		}
		list = append(list, a)
	}
	return list
}

// checkReport returns an error for a report that cannot be written, before the program runs.
func checkReport(f *flag.FlagSet, path string) error {
	if !isSet(f, "report") {
		return nil
	}
	if filepath.Ext(path) != ".html" {
		return usageError{fmt.Errorf("cuda: --report %q: expected a name that ends in .html", path)}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("cuda: --report %s: there is no folder %s: make it first", path, filepath.Dir(path))}
	}
	return nil
}

// exitError is the status of a program that warpbook ran, which becomes its own.
type exitError struct{ *program.ExitError }

// readSources reads the files of a program.
func readSources(files []string) (sources []program.Source, err error) {
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cuda: %w", err)
		}
		if kind := binary(text); kind != "" {
			return nil, fmt.Errorf("cuda: %s: %s, expected CUDA C++: the emulator runs PTX, which `cuobjdump -ptx` shows where the file has it", path, kind)
		}
		sources = append(sources, program.Source{Name: path, Text: string(text), Folder: filepath.Dir(path)})
	}
	return sources, nil
}

// binary names a file that is compiled, "" for a text.
func binary(data []byte) string {
	head := string(data[:min(len(data), 64)])
	switch {
	case strings.HasPrefix(head, "\x7fELF") && len(head) > 19 && head[18] == 190: // EM_CUDA
		return "a cubin"
	case strings.HasPrefix(head, "\x7fELF"):
		return "an ELF file"
	case strings.HasPrefix(head, "\x50\xed\x55\xba"):
		return "a fat binary of CUDA"
	case strings.ContainsRune(head, 0):
		return "no text"
	}
	return ""
}

// cudaFailure writes all but the last of the errors of a source, and returns that.
func cudaFailure(err error) error {
	wrong := (*compile.Error)(nil)
	if !errors.As(err, &wrong) {
		return err
	}
	for _, d := range wrong.Diagnostics {
		fmt.Fprintf(os.Stderr, "%s:%d:%d: error: %s\n", wrong.Name, d.Line, d.Col, d.Text)
	}
	return fmt.Errorf("cuda: %s: %s", wrong.Name, wrong.Count())
}

// isSet reports whether a flag was given, if only as its default.
func isSet(f *flag.FlagSet, name string) (set bool) {
	f.Visit(func(given *flag.Flag) { set = set || given.Name == name })
	return set
}
