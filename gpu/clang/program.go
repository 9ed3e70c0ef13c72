//go:build !js

package clang

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/compile/include"
	"warpbook/kernel/leaf/buildcache"
	"warpbook/kernel/leaf/lazyregexp"
)

// Toolchain makes whole programs: their host code is compiled against the headers of C and
// C++ that ziglang has, and linked by it. A clang of another origin lacks both. One goroutine
// uses it.
type Toolchain struct {
	compiler *Compiler
	zig      string
	target   string   // as zig names it
	triple   string   // as clang names it
	system   []string // flags of the headers of C and C++
	headers  string   // of CUDA
	cache    string   // folder of the user's cache, for zig's own files
}

// ErrNoToolchain is the error where ziglang is not found.
var ErrNoToolchain = errors.New("they need the pip wheel ziglang")

// Programs returns the toolchain of this machine.
func Programs(ctx context.Context) (*Toolchain, error) {
	t, err := toolchain(ctx)
	if err == nil {
		t.headers, err = include.Dir()
	}
	return t, err
}

// Linked reports whether a program was linked with the library of C++ here, or returns the
// error of Programs. It writes nothing.
func Linked(ctx context.Context) (bool, error) {
	t, err := toolchain(ctx)
	if err != nil {
		return false, err
	}
	_, err = os.Stat(t.marker())
	return err == nil, nil
}

// toolchain is that of this machine, without the headers of CUDA.
func toolchain(ctx context.Context) (*Toolchain, error) {
	c, err := Find(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(c.command) != 2 { // zig clang
		return nil, ErrNoToolchain
	}
	t := &Toolchain{compiler: c, zig: c.command[0], target: hostTarget()}
	t.triple, _, _ = strings.Cut(t.target, ".")
	cache, err := buildcache.Dir()
	t.cache = filepath.Join(cache, "zig")
	return t, err
}

// Name is the compiler's name and version.
func (t *Toolchain) Name() string { return t.compiler.Name }

// Identity distinguishes toolchains and the headers of programs.
func (t *Toolchain) Identity() string {
	hash := sha256.Sum256([]byte(t.zig + t.Name() + t.target + t.headers + fmt.Sprint(common, deviceOnly)))
	return fmt.Sprintf("%x", hash[:6])
}

// hostTarget is this machine. The C library is the system's: rand and qsort of another
// one give other results than users know. Programs made for an old one run on a new one.
func hostTarget() string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if loaders, _ := filepath.Glob("/lib/ld-musl-*"); len(loaders) > 0 { // errs on a malformed pattern only
		return arch + "-linux-musl"
	}
	return arch + "-linux-gnu.2.28"
}

var quotedFlag = lazyregexp.New(`-isystem \S+|-D_LIBCPP\S+|-D_LIBCXXABI\S+|-D__GLIBC_MINOR__=\d+`)

// ask takes the flags of the system's headers from the commands that zig runs itself, unless
// they are known. A program that is built needs none.
func (t *Toolchain) ask(ctx context.Context) error {
	if len(t.system) > 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "warpbook-clang")
	if err != nil {
		return fmt.Errorf("clang: %w", err)
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, "x.cpp")
	if err := os.WriteFile(source, nil, 0o666); err != nil {
		return fmt.Errorf("clang: %w", err)
	}
	run := t.command(ctx, "c++", "-target", t.target, "-c", source, "-o", filepath.Join(dir, "x.o"))
	run.Env = append(run.Env, "ZIG_VERBOSE_CC=1")
	out, err := run.CombinedOutput()
	if err != nil {
		return fmt.Errorf("clang: zig c++ for %s: %w: %s", t.target, err, firstLine(string(out)))
	}
	for _, flag := range quotedFlag().FindAllString(string(out), -1) {
		if !slices.Contains(t.system, strings.TrimPrefix(flag, "-isystem ")) {
			t.system = append(t.system, strings.Fields(flag)...)
		}
	}
	if len(t.system) == 0 {
		return fmt.Errorf("clang: zig c++ names no headers of C++, expected ziglang %s", Version)
	}
	return nil
}

// command is a command of zig that keeps its own files in the user's cache: a folder that all
// users share would belong to the first, and zig trusts what it finds there.
func (t *Toolchain) command(ctx context.Context, args ...string) *exec.Cmd {
	run := exec.CommandContext(ctx, t.zig, args...)
	run.WaitDelay = killGrace
	run.Env = append(os.Environ(), "ZIG_LOCAL_CACHE_DIR="+t.cache)
	return run
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// Unit is one source of a whole program.
type Unit struct {
	Number  int              // of the unit in its program, by which it is registered
	Request compiler.Request // its name, text and NVRTC's options
	Folder  string           // of its own headers

	// Binary, if not nil, makes what the host's half carries for NVIDIA's runtime of the PTX as
	// the compiler wrote it, so that the halves are compiled one after the other.
	Binary func(ptx string) ([]byte, error)
}

// Halves are a compiled unit.
type Halves struct {
	PTX      string
	Messages []Message // of both compilations
	Headers  []string  // files that it includes, other than the system's and CUDA's
}

// Message is one message of the compiler.
type Message struct {
	File      string
	Line, Col int
	Error     bool
	Text      string
}

// Wrong reports whether a message is an error.
func (h Halves) Wrong() bool {
	return slices.ContainsFunc(h.Messages, func(m Message) bool { return m.Error })
}

// common are the flags of both halves.
var common = []string{
	"--no-default-config", "-x", "cuda", "-nostdinc", "-nostdinc++", "-nocudainc", "-nocudalib", "-Xclang", "-target-sdk-version=12.0", "-D__WB_PROGRAM",
	"-fno-crash-diagnostics", "-fdiagnostics-format=msvc", "-fno-diagnostics-show-line-numbers", "-fno-color-diagnostics", "-fno-diagnostics-fixit-info", "-fno-caret-diagnostics",
	"-ferror-limit=100", "-Wno-unknown-pragmas", "-Wno-unused-command-line-argument", "-Wno-unknown-cuda-version", "-Wno-unused-value", "-Wno-format-security", "-Wno-implicit-const-int-float-conversion", "-Wno-pass-failed",
}

// deviceOnly are the flags of the kernels' half.
var deviceOnly = slices.Concat([]string{"--cuda-device-only", "-S", "-Wunused-variable"}, optimizer, lanes, heap)

// Compile makes both halves of a unit, at the same time unless the host's half carries the
// other: its kernels as PTX, and its host code as an object file. An error of the source is a
// message.
func (t *Toolchain) Compile(ctx context.Context, u Unit, object string) (Halves, error) {
	if err := t.ask(ctx); err != nil {
		return Halves{}, err
	}
	carried := object + ".carried"
	if err := os.WriteFile(carried, []byte(strconv.Itoa(u.Number)+"\x00"), 0o666); err != nil {
		return Halves{}, fmt.Errorf("clang: %w", err)
	}
	flags, _ := translate(u.Request.Options)
	source := fmt.Sprintf("# 1 %q\n%s\n", u.Request.Name, doubled(u.Request.Text))
	shared := slices.Concat(common, t.system, []string{"--target=" + t.triple, "-I", t.headers, "-I", filepath.Join(t.headers, include.Program), "-iquote", u.Folder, "-idirafter", u.Folder, "-include", include.Implicit})
	if u.Binary != nil {
		shared = append(shared, "-D__WB_NVIDIA")
	}
	device := slices.Concat(shared, deviceOnly, flags)
	host := slices.Concat(shared, []string{"--cuda-host-only", "-c", "-O1", "-fwrapv", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks", "-fno-pic", "-fno-pie", "-fno-omit-frame-pointer", "-gline-tables-only",
		"-Xclang", "-fcuda-include-gpubinary", "-Xclang", carried, "-MD", "-MF", object + ".d"}, hostFlags(flags), []string{"-w"})
	var ptx, object1 half
	done := make(chan struct{})
	go func() {
		defer close(done)
		ptx = t.half(ctx, source, append(device, "-o", "-", "-"))
		if u.Binary != nil && ptx.err == nil {
			ptx.err = carry(u, ptx.out, carried)
		}
	}()
	if u.Binary != nil {
		<-done
	}
	object1 = t.half(ctx, source, append(host, "-o", object, "-"))
	<-done
	h := Halves{Messages: both(object1.messages, ptx.messages), Headers: dependencies(object+".d", t)}
	if h.Wrong() {
		return h, nil
	}
	if err := errors.Join(object1.err, ptx.err); err != nil {
		return h, fmt.Errorf("%s: %w", u.Request.Name, err)
	}
	h.PTX, _ = tidy(ptx.out, nil)
	return h, nil
}

// carry writes what the host's half carries.
func carry(u Unit, ptx, path string) error {
	data, err := u.Binary(declared().ReplaceAllString(ptx, ""))
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// hostFlags are those flags of a device that the host understands too. The host's code is
// optimised less: nvcc leaves it as it is, and sources of courses rely on what C++ leaves
// undefined.
func hostFlags(flags []string) (list []string) {
	for i, f := range flags {
		if strings.HasPrefix(f, "-std=") || strings.HasPrefix(f, "-D") {
			list = append(list, f)
		}
		if f == "-I" {
			list = append(list, flags[i:i+2]...)
		}
	}
	return list
}

// half is the result of one compilation.
type half struct {
	out      string
	messages []Message
	err      error
}

func (t *Toolchain) half(ctx context.Context, source string, flags []string) (h half) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := bounded(append(append([]string{}, t.compiler.command...), flags...))
	run := exec.CommandContext(limited, command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	run.Stdin, run.Stdout, run.Stderr, run.WaitDelay = strings.NewReader(source), &stdout, &stderr, killGrace
	err := run.Run()
	h.out, h.messages = stdout.String(), messages(stderr.String())
	switch {
	case ctx.Err() != nil:
		h.err = ctx.Err()
	case limited.Err() != nil:
		h.err = fmt.Errorf("%s did not end within %v and was killed: make the source smaller, or its templates less deep", t.Name(), limit)
	case err != nil:
		h.err = fmt.Errorf("%s ended: %w%s; nothing else is lost", t.Name(), err, reason(stderr.String()))
	}
	return h
}

// messages are the messages of a log, in the order of the log, without notes.
func messages(log string) (list []Message) {
	for line := range strings.Lines(log) {
		m := message().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || m[4] == "note" {
			continue
		}
		row, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		list = append(list, Message{m[1], row, max(col, 1), strings.HasSuffix(m[4], "error"), flagOf().ReplaceAllString(m[5], "")})
	}
	return list
}

// both joins the messages of the two halves: errors alone, if there are any, each once.
func both(lists ...[]Message) (all []Message) {
	wrong := false
	for _, m := range slices.Concat(lists...) {
		wrong = wrong || m.Error
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	if wrong {
		all = slices.DeleteFunc(all, func(m Message) bool { return !m.Error })
	}
	return all
}

// dependencies are the files of a rule of make that are the user's.
func dependencies(rule string, t *Toolchain) (files []string) {
	text, err := os.ReadFile(rule)
	if err != nil {
		return nil // the compilation has failed
	}
	names := ruleNames(string(text))
	for _, f := range names[min(1, len(names)):] { // after the rule's target
		if f != "-" && f != "<stdin>" && !strings.HasPrefix(f, t.headers) && !strings.HasPrefix(f, filepath.Dir(t.zig)) {
			files = append(files, f)
		}
	}
	return files
}

var (
	ruleName  = lazyregexp.New(`(?:\\[^\n]|[^\s\\])+`)
	unescaped = strings.NewReplacer(`\ `, " ", `\#`, "#", "$$", "$")
)

// ruleNames are the names of a rule of make, without clang's escapes.
func ruleNames(rule string) (names []string) {
	for _, name := range ruleName().FindAllString(rule, -1) {
		names = append(names, unescaped.Replace(name))
	}
	return names
}

// Object compiles C.
func (t *Toolchain) Object(ctx context.Context, source, folder, object string) error {
	if err := t.ask(ctx); err != nil {
		return err
	}
	flags := slices.Concat([]string{"--no-default-config", "-x", "c", "-nostdinc", "--target=" + t.triple, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fno-pic", "-fno-pie", "-I", folder}, t.system,
		[]string{"-I", t.headers, "-include", "stddef.h", "-c", "-o", object, filepath.Join(folder, source)})
	out, err := exec.CommandContext(ctx, t.compiler.command[0], append(t.compiler.command[1:], flags...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("clang: %s: %w: %s", source, err, firstError(string(out)))
	}
	return nil
}

// firstError is the first line of a log that has an error.
func firstError(log string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "error:") {
			return strings.TrimSpace(line)
		}
	}
	return firstLine(log)
}

// slow is how long a link may take before Link tells the user that it builds a library.
const slow = 2 * time.Second

// Linking is a program to link.
type Linking struct {
	Objects []string
	CXX     bool   // with the library of C++
	Shared  string // library that the program needs, beside it or in this place; "" for none
	Out     string
}

// Link makes a program of object files. A compiler of the system links what needs the library
// of C alone. The first link by zig on a machine builds the libraries, which takes a minute or
// two. A program with a shared library is for other machines, too, whose library of C may be
// older than the system's.
func (t *Toolchain) Link(ctx context.Context, l Linking, progress io.Writer) error {
	flags := slices.Concat(l.Objects, []string{"-lm", "-lpthread", "-ldl", "-o", l.Out})
	if l.Shared != "" {
		flags = append(flags, l.Shared, "-Wl,-rpath,$ORIGIN", "-Xlinker", "-rpath", "-Xlinker", filepath.Dir(l.Shared)) // which may have a comma
	} else if cc, err := exec.LookPath("cc"); err == nil && !l.CXX {
		flags := append([]string{"-no-pie"}, flags...)
		if exec.CommandContext(ctx, cc, flags...).Run() == nil {
			return nil
		}
	}
	driver, library := "cc", "C"
	if l.CXX {
		driver, library = "c++", "C++"
	}
	defer tell(progress, library, t.target)()
	text, err := t.command(ctx, append([]string{driver, "-target", t.target}, flags...)...).CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &LinkError{undefined(string(text)), firstError(string(text))}
	}
	if l.CXX {
		t.NoteLinked()
	}
	return nil
}

// NoteLinked notes for Linked that the library of C++ was built.
func (t *Toolchain) NoteLinked() {
	os.WriteFile(t.marker(), nil, 0o666) // without the file the library is offered again, and linked in a moment
}

// marker is a file that says that the library of C++ was built.
func (t *Toolchain) marker() string {
	sum := sha256.Sum256([]byte(t.zig + t.Name() + t.target))
	return filepath.Join(t.cache, fmt.Sprintf("linked-%x", sum[:6]))
}

// again is the time between two lines of a link that builds a library.
const again = 15 * time.Second

// tell writes lines while a link takes long, until stop is called.
func tell(progress io.Writer, library, target string) (stop func()) {
	ended, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		started := time.Now()
		for wait := slow; ; wait = again {
			select {
			case <-ended:
				return
			case <-time.After(wait):
			}
			if wait == slow {
				fmt.Fprintf(progress, "warpbook: zig builds its library of %s for %s, once: this takes a minute or two\n", library, target)
				continue
			}
			fmt.Fprintf(progress, "warpbook: library of %s: %.0fs\n", library, time.Since(started).Seconds())
		}
	}()
	return func() {
		close(ended)
		<-told
	}
}

// LinkError is a program that does not link.
type LinkError struct {
	Missing []string // names that no source defines
	Text    string
}

func (e *LinkError) Error() string {
	if len(e.Missing) > 0 {
		return "undefined: " + strings.Join(e.Missing, ", ")
	}
	return "link: " + e.Text
}

var undefinedSymbol = lazyregexp.New(`undefined symbol: (.*)`)

func undefined(log string) (names []string) {
	for _, m := range undefinedSymbol().FindAllStringSubmatch(log, -1) {
		if name := strings.TrimSpace(m[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
