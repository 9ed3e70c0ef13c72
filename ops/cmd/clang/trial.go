package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/device"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
)

// trial is one run of the command.
type trial struct {
	ctx   context.Context
	all   bool
	own   bool // package llvm is the back end
	seed  uint64
	write string           // the folder of the PTX; "" keeps none
	made  map[string]*file // by path
	order []*file
}

// file is a .cu file of an operator, and what became of it.
type file struct {
	path    string
	ptx     map[string]string // by the name of the committed PTX file: what clang makes in its place
	rungs   map[string]bool   // that passed at every case
	reasons []string          // why it does not compile, or which rungs fail and how
	told    int               // of the reasons, those that were printed on the way
}

// String is the line that is printed.
func (f *file) String() string {
	if len(f.reasons) == 0 {
		return fmt.Sprintf("%-40s %d rungs pass", f.path, len(f.rungs))
	}
	return fmt.Sprintf("%-40s %s", f.path, strings.Join(f.reasons, "; "))
}

// operator compiles the modules of an operator and checks its rungs with them.
func (t *trial) operator(o *ladder.Operator) error {
	compiled := *o
	files := overlay{o.Files, fstest.MapFS{}}
	compiled.Files = files
	of := map[string]*file{} // by module
	for _, module := range o.Modules() {
		f, err := t.compile(o, module)
		if err != nil {
			return err
		}
		of[module] = f
		for name, text := range f.ptx {
			files.over[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	compiled.Variants = slices.DeleteFunc(slices.Clone(o.Variants), func(v ladder.Variant) bool {
		return v.Host != nil || len(of[o.ModuleOf(v)].ptx) == 0
	})
	if len(compiled.Variants) == 0 || len(of[o.ModuleOf(ladder.Variant{})].ptx) == 0 {
		return nil
	}
	for _, c := range t.cases(o) {
		if err := t.check(&compiled, of, c); err != nil {
			return err
		}
	}
	return nil
}

// compile makes the PTX of a module for every architecture that it is committed for.
func (t *trial) compile(o *ladder.Operator, module string) (*file, error) {
	name := path.Join(o.Folder, module+".cu")
	if f := t.made[name]; f != nil {
		return f, nil
	}
	f := &file{path: name, ptx: map[string]string{}, rungs: map[string]bool{}}
	t.made[name], t.order = f, append(t.order, f)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("clang: %w: run the command from the project's root", err)
	}
	committed, err := o.PTXFiles(module)
	if err != nil {
		return nil, fmt.Errorf("clang: %s: %w", name, err)
	}
	for _, p := range committed {
		arch := fmt.Sprintf("compute_%d%d", p.Target.Major, p.Target.Minor)
		if p.Feature {
			arch += "a"
		}
		run := clang.Run
		if t.own {
			run = clang.RunOwn
		}
		reply, err := run(t.ctx, compiler.Request{Name: module + ".cu", Text: string(text),
			Options: []string{"--gpu-architecture=" + arch, "--std=c++17", "--generate-line-info", "--include-path=" + o.Folder}})
		switch {
		case err != nil:
			return nil, err
		case reply.Missing:
			return nil, fmt.Errorf("clang: %s: run pip install --target DIR ziglang==%s, and set %s to DIR", reply.Error, clang.Version, clang.FolderVariable)
		case reply.Error != "":
			f.fail("%s: %s", arch, firstLine(reply.Log))
			return f, nil
		}
		f.ptx[p.Name] = reply.PTX
		if err := t.keep(p.Name, reply.PTX); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// keep writes the PTX of a module to the folder of -write, where there is one.
func (t *trial) keep(name, ptx string) error {
	if t.write == "" {
		return nil
	}
	if err := os.MkdirAll(t.write, 0o777); err != nil {
		return fmt.Errorf("clang: -write: %w", err)
	}
	return os.WriteFile(filepath.Join(t.write, strings.TrimSuffix(name, ".zst")), []byte(ptx), 0o666)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func (f *file) fail(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(f.reasons, text) {
		f.reasons = append(f.reasons, text)
	}
}

// quick is how many bytes a case has that takes seconds for all rungs.
const quick = 1 << 20

// cases are those of the suite that the emulator runs: the largest two that are quick, or all.
func (t *trial) cases(o *ladder.Operator) (list []ladder.Case) {
	for _, c := range o.Cases {
		if !c.Long && !c.OnGPU && (t.all || c.Profile == "" && o.Bytes(c.Size) < quick && o.Flops(c.Size) < 16*quick) {
			list = append(list, c)
		}
	}
	if t.all {
		return list
	}
	slices.SortStableFunc(list, func(a, b ladder.Case) int { return int(o.Bytes(b.Size) - o.Bytes(a.Size)) })
	return list[:min(2, len(list))]
}

// patience is how long a rung may take at a case: some wait for ever if they are compiled wrong.
const patience = 2 * time.Minute

// check runs the rungs at a case on the emulator.
func (t *trial) check(o *ladder.Operator, of map[string]*file, c ladder.Case) error {
	dev, err := device.Open("emu")
	if err != nil {
		return err
	}
	defer dev.Close()
	b, err := bench.New(dev, o, t.seed, c.Size...)
	if err != nil {
		of[o.ModuleOf(ladder.Variant{})].fail("at %v: %v", c.Size, err)
		return nil
	}
	defer b.Close()
	if c.Data != "" {
		if err := b.UseData(c.Data); err != nil {
			return err
		}
	}
	for _, operand := range append(o.Inputs(c.Size), o.Outputs(c.Size)...) {
		if c.Start > 0 {
			if err := b.Place(operand.Name, c.Start); err != nil {
				return err
			}
		}
	}
	for _, v := range o.Variants {
		f := of[o.ModuleOf(v)]
		late := time.AfterFunc(patience, dev.Interrupt)
		checks, err := b.Check(v.Name)
		late.Stop()
		switch {
		case errors.Is(err, gpu.ErrInterrupted):
			f.fail("%s at %v: did not end within %v", v.Name, c.Size, patience)
			return nil
		case errors.Is(err, gpu.ErrUnsupported): // at this size, for any compiler
			continue
		case err != nil:
			f.fail("%s at %v: %s", v.Name, c.Size, firstLine(err.Error()))
			continue
		}
		for _, r := range checks.Rows {
			if f.rungs[r.Name] = true; r.Verdict != ladder.Pass && r.Verdict != ladder.FailExpected {
				delete(f.rungs, r.Name)
				f.fail("%s at %v: %s %v %s", r.Name, c.Size, r.Verdict, r.Failed, firstLine(r.Detail))
			}
		}
	}
	return nil
}

// overlay is a folder with some files replaced.
type overlay struct {
	fs.FS
	over fstest.MapFS
}

func (o overlay) Open(name string) (fs.File, error) {
	if _, ok := o.over[name]; ok {
		return o.over.Open(name)
	}
	return o.FS.Open(name)
}
