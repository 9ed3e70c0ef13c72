package compile

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/leaf/lazyregexp"
)

// Options are the options of a compilation of CUDA C++. The zero value compiles C++17 for
// every GPU since Turing, and for the emulator.
type Options struct {
	Arch        string   // lowest compute capability that the PTX runs on, such as "sm_90a"; "" is sm_75
	Std         string   // language, such as "c++20"; "" is c++17
	FastMath    bool     // shorter, less exact division, square root and transcendental functions
	Instantiate []string // templates to compile, such as "reduce<256>"
	Committed   string   // file with the PTX of exactly this source, used where its compiler is missing; "" is none
	Compiler    string   // "nvrtc" or "clang"; "" is the one of CompilerVariable, else NVRTC where it is found
	Include     []string // folders of headers that the source includes in "quotes"
	FirstLine   int      // number of the first line of the text, in messages and faults; 0 is 1
	Debug       bool     // code without optimisation whose PTX names variables, by clang where it is found
}

// DefaultArch is also the architecture of the committed PTX.
const DefaultArch = "sm_75"

// maxSource bounds a source in bytes.
const maxSource = 1 << 20

// Module is the result of compiling one source.
type Module struct {
	Name     string // in faults, such as "cell5.cu"
	Source   string // CUDA C++ or PTX, as it was given
	Compiler string // "NVRTC 12.0" or "clang 22.1.8", or "" for PTX that was given
	Note     string // that clang compiled, and how that matters; "" for NVRTC
	Warnings []Diagnostic
	Entries  []*Entry // in the order of the source

	ptx       string
	firstLine int
	options   *Options // of CUDA; nil for PTX that was given
	debugging debugging
	loaded    loaded
	structs   sync.Map // []member by name
}

// Diagnostic is one complaint about a source. Line and Col count from 1.
type Diagnostic struct {
	Line, Col int
	Text      string
}

// Error is a source that cannot be compiled, with every complaint.
type Error struct {
	Name        string
	Diagnostics []Diagnostic // at least one
}

func (e *Error) Error() string {
	d := e.Diagnostics[0]
	text := fmt.Sprintf("compile: %s:%d:%d: %s", e.Name, d.Line, d.Col, d.Text)
	if n := len(e.Diagnostics) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// Count is the number of errors in words: "1 error" or "2 errors".
func (e *Error) Count() string {
	if len(e.Diagnostics) == 1 {
		return "1 error"
	}
	return fmt.Sprintf("%d errors", len(e.Diagnostics))
}

// OptionError reports an invalid option: Arch, Std, Instantiate or Compiler.
type OptionError struct {
	Option string // "arch", "std", "instantiate" or "compiler"
	Text   string
}

func (e *OptionError) Error() string { return "compile: " + e.Option + ": " + e.Text }

var archForm = lazyregexp.New(`^sm_\d+[af]?$`)

// checkArch returns an error for an unknown architecture.
func checkArch(arch string) error {
	if !archForm().MatchString(arch) {
		return &OptionError{"arch", arch + ": not a compute capability, expected the form sm_75"}
	}
	return nil
}

// CUDA compiles CUDA C++. An error in the source is an *Error; any other error
// means that the compiler is missing, ended, or was stopped by ctx.
func CUDA(ctx context.Context, name, text string, o Options) (*Module, error) {
	m := &Module{Name: name, Source: text, firstLine: max(1, o.FirstLine), options: &o}
	if err := m.checkSize(); err != nil {
		return nil, err
	}
	s := scan(strings.Repeat("\n", m.firstLine-1) + text)
	s.folders = o.Include
	if diagnostics := s.host(); len(diagnostics) > 0 {
		return nil, &Error{name, diagnostics}
	}
	if at := s.openComment(); at >= 0 {
		return nil, &Error{name, []Diagnostic{s.diagnostic(at, "/* is never closed")}}
	}
	if diagnostics := s.noKernel(); len(diagnostics) > 0 {
		return nil, &Error{name, diagnostics}
	}
	absent, all := s.missingInstances(o.Instantiate)
	if all {
		return nil, &Error{name, absent}
	}
	options, err := o.flags()
	if err != nil {
		return nil, err
	}
	request := compiler.Request{Name: name, Text: s.text, Options: append(options, s.permits()...), Names: o.Instantiate}
	run := func(ctx context.Context, r compiler.Request) (compiler.Reply, error) { return o.run(ctx, text, r) }
	reply, err := s.compile(ctx, run, request)
	if err != nil {
		if wrong := s.brackets(); len(wrong) > 0 && ctx.Err() == nil { // too many for the compiler's stack
			return nil, &Error{name, wrong}
		}
		return nil, err
	}
	s.needs = s.newerArch(ctx, run, request, reply)
	complaints := s.complaints(name, reply)
	if reply.Error != "" {
		return nil, s.failure(name, reply, complaints)
	}
	if diagnostics := s.undefined(reply.PTX); len(diagnostics) > 0 {
		return nil, &Error{name, diagnostics}
	}
	m.Compiler, m.Warnings, m.ptx = reply.Compiler, slices.Concat(absent, s.unsynced(complaints, reply.PTX), s.aliases()), reply.PTX
	m.Note = o.note(reply)
	return m, m.addEntries(s, reply.Lowered)
}

var lambda = lazyregexp.New(`[=(,&{]\s*\[[\w\s=&*,]*\]\s*(?:\([^(){};]*\)[^(){};]*)?\{`)

// permits are flags without which NVRTC refuses __int128, and lambdas outside of
// kernels and generic ones as host code. They change no other code, so the hash of
// committed PTX leaves them out. A source without lambdas keeps NVRTC's answer to
// variables of the host.
func (s *source) permits() []string {
	flags := []string{"--device-int128"}
	if lambda().MatchString(s.code) {
		flags = append(flags, "--device-as-default-execution-space")
	}
	return flags
}

// flags are the options as NVRTC's flags.
func (o Options) flags() ([]string, error) {
	arch, std := o.Arch, o.Std
	if arch == "" {
		arch = DefaultArch
	}
	if std == "" {
		std = "c++17"
	}
	if err := checkArch(arch); err != nil {
		return nil, err
	}
	flags := []string{"--gpu-architecture=compute_" + strings.TrimPrefix(arch, "sm_"), "--std=" + std, "--generate-line-info"}
	if o.FastMath {
		flags = append(flags, "--use_fast_math")
	}
	if o.Debug {
		flags = append(flags, "--device-debug")
	}
	for _, dir := range o.Include {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
		flags = append(flags, "--include-path="+path)
	}
	return flags, nil
}

// failure is the error for a source that was not compiled.
func (s *source) failure(name string, reply compiler.Reply, complaints []Diagnostic) error {
	if reply.Missing {
		return fmt.Errorf("compile: %s: %s", name, strings.TrimPrefix(reply.Error, "nvrtc: "))
	}
	if err := optionError(reply.Log); err != nil && len(complaints) == 0 {
		return err
	}
	if wrong := s.brackets(); len(wrong) > 0 {
		return &Error{name, wrong}
	}
	if len(complaints) == 0 { // of the library
		text := strings.TrimSpace(reply.Log)
		if text == "" {
			text = reply.Error
		}
		text, _, _ = strings.Cut(text, "\n")
		return fmt.Errorf("compile: %s: %s", name, text)
	}
	return &Error{name, complaints}
}

func (m *Module) checkSize() error {
	if len(m.Source) > maxSource {
		return &Error{m.Name, []Diagnostic{{m.firstLine, 1, fmt.Sprintf("source of %d bytes, expected at most %d", len(m.Source), maxSource)}}}
	}
	return nil
}
