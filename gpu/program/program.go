// Package program builds and runs whole CUDA programs: kernels and host code with main, as
// textbooks and courses print them. Package clang compiles both halves, and a small library
// in C, in the folder runtime, answers the calls of CUDA's runtime API. The program runs as a
// process of its own; the device is an emulator in this process, to which the library speaks
// by package wire.
//
// Its main types are Program, which Build makes, and Run. The cells program and the command
// call it. It must not import ops or kernel.
//
// A program runs on Linux with the pip wheel ziglang; elsewhere Build says so. Libraries of
// NVIDIA for the host, such as cuBLAS, and kernels that launch kernels are not there.
package program

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu/compile"
	"warpbook/gpu/device"
	"warpbook/gpu/program/runtime"
	"warpbook/kernel/leaf/lazyregexp"
)

// Source is one source of a program.
type Source struct {
	Name      string // in messages and faults, such as "cell5.cu"
	Text      string
	FirstLine int    // number of the first line of the text; 0 is 1
	Folder    string // of its own headers; "" is the current one
}

// ErrUnavailable is the error where whole programs do not run: on another system than Linux,
// in a browser tab, without ziglang.
var ErrUnavailable = errors.New("whole CUDA programs do not run here")

// Options are the options of a compilation.
type Options struct {
	Arch     string // lowest compute capability of the kernels' code; "" is sm_75
	Std      string // language, such as "c++20"; "" is c++17
	FastMath bool   // shorter, less exact mathematics of kernels

	// NVIDIA links the program with NVIDIA's runtime, for a GPU, in place of our library, for the
	// emulator.
	NVIDIA bool

	Include []string // folders of headers, searched after a source's own for "quotes"
	Define  []string // macros, as NAME or NAME=VALUE
}

var defineForm = lazyregexp.New(`^[A-Za-z_]\w*(?:=.*)?$`)

var archForm = lazyregexp.New(`^sm_\d+[af]?$`)

// flags are the options as NVRTC's flags.
func (o Options) flags() ([]string, error) {
	arch, std := cmp.Or(o.Arch, compile.DefaultArch), cmp.Or(o.Std, "c++17")
	if !archForm().MatchString(arch) {
		return nil, &compile.OptionError{Option: "arch", Text: arch + ": not a compute capability, expected the form sm_75"}
	}
	flags := []string{"--gpu-architecture=" + arch, "--std=" + std, "--generate-line-info"}
	if o.FastMath {
		flags = append(flags, "--use_fast_math")
	}
	for _, dir := range o.Include {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("program: %w", err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("program: -I %s: not a folder, expected that of the headers", dir)
		}
		flags = append(flags, "--include-path="+path)
	}
	for _, d := range o.Define {
		if !defineForm().MatchString(d) {
			return nil, fmt.Errorf("program: -D %s: not a macro, expected NAME or NAME=VALUE", d)
		}
		flags = append(flags, "--define-macro="+d)
	}
	return flags, nil
}

// Calls are the functions of CUDA's runtime API that programs can call, in order. Headers
// define a few more, such as cudaOccupancyMaxPotentialBlockSize.
func Calls() []string { return runtime.Calls() }

// Settings are those of one run.
type Settings struct {
	GPU    string // that the emulator stands for, such as "a100"; "" is the default
	Number int    // of the GPU that a program with NVIDIA's runtime runs on
	Args   []string
	Strict bool // what is undefined, and a GPU may run, ends the program

	// Sanitize looks for races in shared memory in launches of any size, and not in small
	// ones alone: such launches take up to twice as long.
	Sanitize bool

	// Sequential runs one block at a time, in an order that is always the same: what a program
	// with a race computes then does not depend on the load.
	Sequential bool

	// Kernels, if not nil, is filled with the counts of each kernel, in the order of the
	// first launches. With Profiles, the first launch of each counts every instruction, too,
	// which takes some times longer.
	Kernels  *Kernels
	Profiles bool
}

// On sets the device of a run by its name, as package device has them: "" and emu are the
// emulator, emu:a100 that of another GPU, cuda:1 a GPU of this machine. It reports whether it is
// a GPU, for which Options.NVIDIA is set.
func (set *Settings) On(name string) (nvidia bool, err error) {
	kind, which, _ := strings.Cut(name, ":")
	if name == "" || kind == "emu" {
		set.GPU = cmp.Or(set.GPU, which)
		return false, nil
	}
	if name == "cuda" {
		which = "0"
	}
	if kind != "cuda" {
		return false, fmt.Errorf("%s: no such device, expected emu, emu:a100 or cuda:0", name)
	}
	if !slices.Contains(device.Names(), "cuda:"+which) {
		return false, fmt.Errorf("%s: this machine has no such GPU of NVIDIA: the emulator, which is the default, needs none", name)
	}
	set.Number, err = strconv.Atoi(which)
	return true, err
}

// Refused names the first of the settings that a GPU has nothing for, "" if there is none.
func (set Settings) Refused(ncu, report bool) string {
	switch {
	case set.Sanitize:
		return "--sanitize: races are found"
	case set.Strict:
		return "--strict: what is undefined is found"
	case report || set.Profiles:
		return "--report: instructions are counted"
	case ncu || set.Kernels != nil:
		return "--ncu: events are counted"
	case set.GPU != "":
		return "--gpu " + set.GPU + ": another GPU is imitated"
	}
	return ""
}

// ExitError is a program that ended with another status than 0.
type ExitError struct {
	Name   string
	Status int
	Signal string // that ended it, "" for none
}

func (e *ExitError) Error() string {
	if e.Signal != "" {
		return fmt.Sprintf("%s: the program ended by a signal: %s", e.Name, e.Signal)
	}
	return fmt.Sprintf("%s: the program ended with status %d", e.Name, e.Status)
}

var (
	hidden = lazyregexp.New(`(?s)//[^\n]*|/\*.*?(?:\*/|$)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'`)
	main   = lazyregexp.New(`(?:^|[\s;}])(?:int|void|auto|signed)\s+main\s*\(`)
)

// HasMain reports whether a text defines main, and so is a program. It is not parsed.
func HasMain(text string) bool { return main().MatchString(hidden().ReplaceAllString(text, " ")) }

// title names a program of several sources.
func title(sources []Source) string {
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}
