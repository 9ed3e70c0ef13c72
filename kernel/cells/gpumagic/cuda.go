package gpumagic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"warpbook/gpu/compile"
	"warpbook/gpu/program"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/leaf/lazyregexp"
)

var cuda = &magic.Magic{
	Name: "cuda", Cell: true, Args: "[NAME]", Language: "CUDA C++", Words: cudaWords,
	Short: "Compile the lines below as CUDA C++; each kernel becomes a Go variable.",
	Long: `The variable has the kernel's name, a template's with its arguments: reduce_256
for reduce<256>. It is a *compile.Entry: reduce.Launch(dev, gpu.Dim{X: 64},
gpu.Dim{X: 256}, x, y, uint32(n)) runs it on a GPU or on the emulator,
reduce.PTX() and reduce.SASS() show its code, reduce.Resources(dev) what it
takes, and ops.Reduce.With puts it into a ladder. NAME is the source's in
messages; without it, it is that of the cell. #include "x.cuh" finds headers in the
folder of the notebook, or in that of --file FILE. NVRTC compiles, or clang where NVRTC
is missing: neither a GPU nor a toolkit is needed. WARPBOOK_COMPILER chooses, too.

A cell that defines main is a whole program, host code included: it is compiled
by the clang of ziglang and runs as a process of its own on an emulated GPU, with
--gpu and --args. It declares no variables. --ncu shows what each of its kernels
counted. --device cuda:0 runs it on a GPU in place of that, with NVIDIA's runtime:
times are the GPU's, and what the emulator checks is not checked.`,
	Flags: []magic.Flag{
		{Name: "arch", Value: "SM", Help: "lowest compute capability that the code runs on (sm_75)"},
		{Name: "std", Value: "C++", Help: "language standard, such as c++20 (c++17)"},
		{Name: "fast-math", Help: "shorter and less exact division, roots, exponentials"},
		{Name: "instantiate", Value: "'NAME<ARGS>'", Help: "compile this instance of a template; may be repeated", Many: true},
		{Name: "committed", Value: "FILE", Help: "PTX that was made of these lines, for where NVRTC is missing; the recorded run of a whole program"},
		{Name: "debug", Help: "code without optimisation that names its variables, for %debug and bench.Watch"},
		{Name: "compiler", Value: "NAME", Help: "nvrtc or clang (NVRTC where it is found)"},
		{Name: "file", Value: "FILE", Help: "compile this file in place of lines below", File: true},
		{Name: "gpu", Value: "NAME", Help: "GPU that a whole program runs on, such as a100 (h200)"},
		{Name: "device", Value: "NAME", Help: "run a whole program on cuda:0 or another GPU of this machine, or on emu:a100 or another that is emulated (emu)"},
		{Name: "strict", Help: "end a whole program at what is undefined and yet runs on a GPU"},
		{Name: "args", Value: "'WORDS'", Help: "arguments of a whole program"},
		{Name: "sanitize", Help: "look for races in every launch of a whole program, also in large ones"},
		{Name: "ncu", Help: "show what each kernel of a whole program counted"},
	},
	Declare: func(ctx context.Context, c *magic.Call) ([]magic.Declaration, error) {
		name, err := sourceName(c, ".cu")
		if err != nil {
			return nil, err
		}
		folder := "."
		if path := c.Flags["file"]; path != "" {
			if name, folder, err = readFile(c, path); err != nil {
				return nil, err
			}
		}
		if program.HasMain(c.Body) {
			if c.Flags["debug"] != "" {
				return nil, c.Errorf(c.FlagAt("debug"), "--debug is for a cell without main: a debugger for whole programs is not there yet")
			}
			return runProgram(ctx, c, name, folder)
		}
		for _, flag := range []string{"gpu", "device", "strict", "args", "sanitize", "ncu"} {
			if c.Flags[flag] != "" {
				return nil, c.Errorf(c.FlagAt(flag), "--%s is for a cell with main", flag)
			}
		}
		o := compile.Options{Arch: c.Flags["arch"], Std: c.Flags["std"], FastMath: c.Flags["fast-math"] != "", FirstLine: c.BodyRow,
			Committed: c.Flags["committed"], Compiler: c.Flags["compiler"], Debug: c.Flags["debug"] != ""}
		if quoted().MatchString(c.Body) {
			o.Include = []string{folder}
		}
		if list := c.Flags["instantiate"]; list != "" {
			o.Instantiate = strings.Split(list, "\n")
		}
		m, err := compile.CUDA(ctx, name, c.Body, o)
		if err == nil && m.Note != "" {
			fmt.Fprintln(c.Out, m.Note)
		}
		return declare(c, m, err)
	},
}

// quoted matches a directive that includes a header of the user.
var quoted = lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*"`)

// mostSource bounds a file in bytes.
const mostSource = 1 << 20

// readFile makes a file the body of the call, and returns its name in messages and its folder.
func readFile(c *magic.Call, path string) (name, folder string, err error) {
	at := c.FlagAt("file")
	if strings.TrimSpace(c.Body) != "" {
		return "", "", c.Errorf(at, "--file %s, and lines below: expected one of them", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", "", c.Errorf(at, "--file: %v", err)
	}
	if !info.Mode().IsRegular() || info.Size() > mostSource {
		return "", "", c.Errorf(at, "--file %s: not a file of at most %d bytes", path, mostSource)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", c.Errorf(at, "--file: %v", err)
	}
	c.Body, c.BodyRow = string(text), 1
	if c.Rest == "" {
		return filepath.Base(path), filepath.Dir(path), nil
	}
	name, err = sourceName(c, ".cu")
	return name, filepath.Dir(path), err
}

var ptx = &magic.Magic{
	Name: "ptx", Cell: true, Args: "[NAME]", Language: "PTX", Words: ptxWords,
	Short: "Take the lines below as PTX; each entry becomes a Go variable.",
	Long: `As %%cuda, without a compiler: the variable is a *compile.Entry with the name of
the entry. Faults name the line of the cell.`,
	Declare: func(_ context.Context, c *magic.Call) ([]magic.Declaration, error) {
		name, err := sourceName(c, ".ptx")
		if err != nil {
			return nil, err
		}
		m, err := compile.PTX(name, c.Body, c.BodyRow)
		return declare(c, m, err)
	},
}

// sourceName is the file name for the lines of the cell in messages.
func sourceName(c *magic.Call, suffix string) (string, error) {
	switch {
	case c.Rest == "":
		return fmt.Sprintf("cell%d%s", c.Number, suffix), nil
	case strings.ContainsAny(c.Rest, " \t\"\\/()"):
		return "", c.Errorf(c.RestAt, "%s: expected one name", c.Rest)
	}
	return strings.TrimSuffix(c.Rest, suffix) + suffix, nil
}

// declare prints the compiled entries and returns their declarations.
func declare(c *magic.Call, m *compile.Module, err error) (list []magic.Declaration, _ error) {
	if errors.Is(err, context.Canceled) {
		return nil, magic.ErrInterrupted
	}
	if err != nil {
		return nil, failure(c, err)
	}
	for _, d := range m.Warnings {
		fmt.Fprintf(c.Out, "%s:%d:%d: warning: %s\n", m.Name, d.Line, d.Col, d.Text)
	}
	for _, e := range m.Entries {
		fmt.Fprintln(c.Out, e)
		list = append(list, magic.Declaration{Name: e.Name(), Value: e})
	}
	return list, nil
}

// failure places an error of the compiler at its line of the cell.
func failure(c *magic.Call, err error) error {
	wrong := (*compile.Error)(nil)
	if errors.As(err, &wrong) && c.Flags["file"] != "" { // its lines are not the cell's
		for _, d := range wrong.Diagnostics {
			fmt.Fprintf(c.Out, "%s:%d:%d: %s\n", c.Flags["file"], d.Line, d.Col, d.Text)
		}
		return c.Errorf(c.FlagAt("file"), "%s does not compile: %s", c.Flags["file"], wrong.Count())
	}
	if wrong != nil {
		var list magic.Diagnostics
		for _, d := range wrong.Diagnostics {
			list = append(list, magic.Diagnostic{Line: d.Line, Col: d.Col, Text: d.Text})
		}
		return list
	}
	at := 0
	if wrong := (*compile.OptionError)(nil); errors.As(err, &wrong) {
		at = c.FlagAt(wrong.Option)
	}
	return c.Errorf(at, "%s", strings.TrimPrefix(err.Error(), "compile: "))
}
