//go:build linux

package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/program/runtime"
	"warpbook/kernel/leaf/buildcache"
)

// Program is a program that is built. Its file is in the user's cache.
type Program struct {
	Name     string
	Warnings []string // of the compiler, one line each
	Sources  []Source

	nvidia bool // for a GPU, linked with NVIDIA's runtime
	path   string
	parts  parts
}

// parts are what the file of a program has behind its code, for its runs.
type parts struct {
	Units    []unit
	Headers  map[string]string // hashes of the user's headers, by path
	Warnings []string
}

// unit is the device code of a source.
type unit struct{ Name, PTX string }

// kept is how many programs of each first digit of their keys stay in the user's cache. Those
// of one digit are built one after the other.
const kept = 4

// Build compiles and links a program, or finds it in the user's cache. progress gets lines
// while a library is built. An error of a source is a *compile.Error.
func Build(ctx context.Context, sources []Source, o Options, progress io.Writer) (*Program, error) {
	if len(sources) == 0 {
		return nil, errors.New("program: no source")
	}
	flags, err := o.flags()
	if err != nil {
		return nil, err
	}
	tools, err := clang.Programs(ctx)
	if errors.Is(err, clang.ErrNoToolchain) {
		return nil, fmt.Errorf("program: %s: %w: %w: %s", title(sources), ErrUnavailable, err, remedy)
	}
	if err != nil {
		return nil, fmt.Errorf("program: %s: %w", title(sources), err)
	}
	b := &builder{tools: tools, sources: sources, flags: flags, progress: progress}
	if o.NVIDIA {
		if b.nvidia, err = NVIDIA(); err != nil {
			return nil, fmt.Errorf("program: %s: %w", title(sources), err)
		}
	}
	key := b.key()
	cached := buildcache.Program{Prefix: "program-" + key[:1] + "-", Key: key[1:], Title: title(sources), Keep: kept,
		Build: func(ctx context.Context, path string, _ io.Writer) error { return b.build(ctx, path) }}
	path, err := cached.Get(ctx, progress)
	if err != nil {
		return nil, err
	}
	p, err := open(path, sources)
	if err != nil || !current(p.parts.Headers) {
		if path, err = cached.Renew(ctx, progress); err != nil {
			return nil, err
		}
		p, err = open(path, sources)
	}
	if err == nil {
		p.nvidia = o.NVIDIA
	}
	return p, err
}

// plain is a program that needs the library of C++.
var plain = []Source{{Name: "prepare.cu", Text: "#include <iostream>\nint main() { std::cout << \"\"; }\n"}}

// Prepare builds what the first programs would build, which takes minutes: the libraries of C
// and C++. progress gets lines meanwhile.
func Prepare(ctx context.Context, progress io.Writer) error {
	if _, err := Build(ctx, plain, Options{}, progress); err != nil {
		return err
	}
	tools, err := clang.Programs(ctx)
	if err == nil {
		tools.NoteLinked() // the program may have been built before the note
	}
	return err
}

// Prepared reports whether the library of C++ was built; the error is that of Build where no
// program runs. It writes nothing.
func Prepared(ctx context.Context) (bool, error) {
	built, err := clang.Linked(ctx)
	if errors.Is(err, clang.ErrNoToolchain) {
		return false, fmt.Errorf("program: %w: %w: %s", ErrUnavailable, err, remedy)
	}
	return built, err
}

// remedy installs the toolchain.
const remedy = "run `python3 -m pip install ziglang==" + clang.Version + "`"

// builder makes one program.
type builder struct {
	tools    *clang.Toolchain
	sources  []Source
	flags    []string
	nvidia   string // the file of NVIDIA's runtime, "" for our library
	progress io.Writer
}

// key distinguishes programs by everything but the user's headers.
func (b *builder) key() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%s\n%s\n", b.tools.Identity(), b.flags, runtime.Hash(), b.nvidia)
	for _, s := range b.sources {
		fmt.Fprintf(h, "%q %d %q %d\n%s", s.Name, s.FirstLine, s.Folder, len(s.Text), s.Text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16]
}

// build makes the program at a path.
func (b *builder) build(ctx context.Context, path string) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), "program")
	if err != nil {
		return fmt.Errorf("program: %w", err)
	}
	defer os.RemoveAll(dir)
	var all parts
	var objects []string
	for i, s := range b.sources {
		object := filepath.Join(dir, fmt.Sprintf("unit%d.o", i))
		halves, err := b.tools.Compile(ctx, b.unit(i), object)
		if err != nil {
			return fmt.Errorf("program: %w", err)
		}
		if list := diagnostics(s, halves); len(list) > 0 {
			return &compile.Error{Name: s.Name, Diagnostics: list}
		}
		all.add(s, halves)
		objects = append(objects, object)
	}
	library, err := b.runtimeFolder(ctx)
	if err != nil {
		return err
	}
	cxx, plain := needsCXX(objects)
	main := "program"
	if b.nvidia != "" {
		main = "nvidia"
	}
	objects = append(objects, filepath.Join(library, main+".o"))
	if plain {
		objects = append(objects, filepath.Join(library, "new.o"))
	}
	if err := b.tools.Link(ctx, clang.Linking{Objects: objects, CXX: cxx, Shared: b.nvidia, Out: path}, b.progress); err != nil {
		return b.unlinked(err)
	}
	return all.append(path)
}

// unit is a source as the compiler takes it.
func (b *builder) unit(i int) clang.Unit {
	s := b.sources[i]
	text := strings.Repeat("\n", max(0, s.FirstLine-1)) + joined(s.Text)
	folder := s.Folder
	if folder == "" {
		folder = "."
	}
	u := clang.Unit{Number: i, Request: compiler.Request{Name: s.Name, Text: text, Options: b.flags}, Folder: folder}
	if b.nvidia != "" {
		u.Binary = fatBinary
	}
	return u
}

// diagnostics are the errors of a source, and those of its headers at its first line.
func diagnostics(s Source, h clang.Halves) (list []compile.Diagnostic) {
	for _, m := range h.Messages {
		if !m.Error {
			continue
		}
		d := compile.Diagnostic{Line: m.Line, Col: m.Col, Text: explained(m.Text)}
		if m.File != s.Name {
			d = compile.Diagnostic{Line: max(1, s.FirstLine), Col: 1, Text: fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Col, explained(m.Text))}
		}
		list = append(list, d)
	}
	return list
}

func (p *parts) add(s Source, h clang.Halves) {
	p.Units = append(p.Units, unit{s.Name, h.PTX})
	for _, m := range h.Messages {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s:%d:%d: warning: %s", m.File, m.Line, m.Col, m.Text))
	}
	if p.Headers == nil {
		p.Headers = map[string]string{}
	}
	for _, path := range h.Headers {
		p.Headers[path] = fileHash(path)
	}
}

func fileHash(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// current reports whether headers are as they were. One that could not be read counts as
// changed.
func current(headers map[string]string) bool {
	for path, hash := range headers {
		if hash == "" || fileHash(path) != hash {
			return false
		}
	}
	return true
}

// needsCXX reports whether objects need the library of C++, and whether they need no more
// of it than new and delete.
func needsCXX(objects []string) (cxx, plain bool) {
	for _, path := range objects {
		f, err := elf.Open(path)
		if err != nil {
			return true, false // the linker reports it
		}
		symbols, _ := f.Symbols() // an object without any needs nothing
		f.Close()
		for _, s := range symbols {
			switch {
			case s.Section != elf.SHN_UNDEF:
			case slices.Contains(newAndDelete, s.Name):
				plain = true
			case s.Name == "__cxa_atexit": // of the library of C
			case strings.HasPrefix(s.Name, "_ZNSt") || strings.HasPrefix(s.Name, "_ZNKSt") || strings.HasPrefix(s.Name, "_ZSt") || strings.HasPrefix(s.Name, "_ZT") ||
				strings.HasPrefix(s.Name, "_Zn") || strings.HasPrefix(s.Name, "_Zd") || strings.HasPrefix(s.Name, "__cxa_") || s.Name == "__gxx_personality_v0":
				cxx = true
			}
		}
	}
	return cxx, plain && !cxx
}

var newAndDelete = []string{"_Znwm", "_Znam", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm"}

// runtimeFolder is the folder with the compiled library of package runtime.
func (b *builder) runtimeFolder(ctx context.Context) (string, error) {
	cache, err := buildcache.Dir()
	if err != nil {
		return "", fmt.Errorf("program: %w", err)
	}
	dir := filepath.Join(cache, "cuda-runtime-"+runtime.Hash()+"-"+b.tools.Identity())
	if _, err := os.Stat(filepath.Join(dir, "program.o")); err == nil {
		return dir, nil
	}
	fresh, err := os.MkdirTemp(cache, ".cuda-runtime")
	if err != nil {
		return "", fmt.Errorf("program: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := runtime.Write(fresh); err != nil {
		return "", fmt.Errorf("program: %w", err)
	}
	for _, name := range []string{"new", "nvidia", "program"} {
		if err := b.tools.Object(ctx, name+".c", fresh, filepath.Join(fresh, name+".o")); err != nil {
			return "", fmt.Errorf("program: the runtime library: %w", err)
		}
	}
	if err := os.Rename(fresh, dir); err != nil { // another process may have made it meanwhile
		if _, there := os.Stat(filepath.Join(dir, "program.o")); there != nil {
			return "", fmt.Errorf("program: %w", err)
		}
	}
	return dir, nil
}

// trailer ends the file of a program, after the length of its parts.
const trailer = "warpbook program"

// append writes the parts behind the code.
func (p parts) append(path string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("program: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("program: %w", err)
	}
	_, err = f.Write(append(binary.LittleEndian.AppendUint64(text, uint64(len(text))), trailer...))
	return errors.Join(err, f.Close())
}

// open reads the parts of a program's file.
func open(path string, sources []Source) (*Program, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	p := &Program{Name: title(sources), Sources: sources, path: path}
	_, text, ok := split(data)
	if !ok {
		return nil, fmt.Errorf("program: %s is no program", path)
	}
	if err := json.Unmarshal(text, &p.parts); err != nil {
		return nil, fmt.Errorf("program: %s: %w", path, err)
	}
	p.Warnings = p.parts.Warnings
	return p, nil
}

// split returns the code of a program's file, and the parts behind it.
func split(data []byte) (code, parts []byte, ok bool) {
	rest, ok := bytes.CutSuffix(data, []byte(trailer))
	if !ok || len(rest) < 8 {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint64(rest[len(rest)-8:])
	rest = rest[:len(rest)-8]
	if n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:len(rest)-int(n)], rest[len(rest)-int(n):], true
}

// unlinked is the error of a program that does not link.
func (b *builder) unlinked(err error) error {
	link := (*clang.LinkError)(nil)
	if !errors.As(err, &link) {
		return fmt.Errorf("program: %s: %w", title(b.sources), err)
	}
	var list []string
	for _, name := range link.Missing {
		switch {
		case name == "main":
			list = append(list, "no main: a program defines int main()")
		case b.nvidia != "" && strings.HasPrefix(name, "cuda"):
			list = append(list, "NVIDIA's runtime "+b.nvidia+" has no "+name)
		case strings.HasPrefix(name, "cuda") || strings.HasPrefix(name, "__cuda"):
			list = append(list, "warpbook's runtime library has no "+name+": warpbook cuda --calls prints what it has")
		default:
			list = append(list, name+" is declared and not defined")
		}
	}
	if len(list) == 0 {
		list = []string{"it does not link: " + link.Text}
	}
	return &compile.Error{Name: title(b.sources), Diagnostics: []compile.Diagnostic{{Line: max(1, b.sources[0].FirstLine), Col: 1, Text: strings.Join(list, "; ")}}}
}
