package compile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/loader"
	"warpbook/gpu/ptx"
	"warpbook/kernel/leaf/lazyregexp"
)

// Entry is a __global__ function of a cell, ready to launch on any device.
type Entry struct {
	module *Module
	name   string // in Go, in the PTX, in faults and in tables
	head   string // as C++ declares it, "" if that is not known
	params []parameter
	line   int // of its name in the cell; 0 if it is not known
	col    int
	source string // of the function, with the comment above
}

// loaded are the last devices that a module was used on, and the module there. The
// list is short, so that it does not keep replaced devices of a notebook alive.
type loaded struct {
	mu sync.Mutex
	on []there // the last first; guarded by mu
}

type there struct {
	device gpu.Device
	module gpu.Module
}

const maxLoaded = 2 // a GPU and the emulator beside it

// Name is the entry's name: that of its Go variable, its symbol in the PTX,
// and its row in tables. That of a template has its arguments: reduce_256.
func (e *Entry) Name() string { return e.name }

// Source is the kernel's function as the cell has it, with the comment above.
func (e *Entry) Source() string { return e.source }

// Module is the cell's module, with the other entries of the same source.
func (e *Entry) Module() *Module { return e.module }

// On loads the entry's module on a device, once, and returns the entry there,
// for a gpu.Launch with all that it offers.
func (e *Entry) On(dev gpu.Device) (gpu.Entry, error) {
	if e == nil {
		return nil, fmt.Errorf("compile: entry: %w: nil: run the cell that compiles it", gpu.ErrArgument)
	}
	m, err := e.module.On(dev)
	if err != nil {
		return nil, err
	}
	return m.Entry(e.name)
}

// On loads the module on a device, once.
func (m *Module) On(dev gpu.Device) (gpu.Module, error) {
	if dev == nil {
		return nil, fmt.Errorf("compile: load %s: %w: no device, expected one of device.Open", m.Name, gpu.ErrArgument)
	}
	m.loaded.mu.Lock()
	defer m.loaded.mu.Unlock()
	on := m.loaded.on
	i := slices.IndexFunc(on, func(t there) bool { return t.device == dev })
	if build := m.forDebugger(dev, i >= 0); build != nil {
		return build.On(dev)
	}
	if i >= 0 {
		return on[i].module, nil
	}
	module, err := dev.Load(m.ptxName(), m.ptx)
	if err != nil {
		return nil, err
	}
	if emulated, ok := module.(registerCounter); ok {
		emulated.CountRegisters(m.registersOn(dev.Info()))
	}
	m.loaded.on = slices.Insert(on[:min(len(on), maxLoaded-1)], 0, there{dev, module})
	return module, nil
}

// registerCounter is a module of the emulator, which asks for registers where it has to know
// how many blocks are resident.
type registerCounter interface {
	CountRegisters(count func(entry string) int)
}

// ptxName is the name of the PTX in faults.
func (m *Module) ptxName() string {
	return strings.TrimSuffix(strings.TrimSuffix(m.Name, ".cu"), ".ptx") + ".ptx"
}

// String names the module, its compiler and its contents.
func (m *Module) String() string {
	compiler := m.Compiler
	if compiler == "" {
		compiler = "given as PTX"
	}
	hash := sha256.Sum256([]byte(m.ptx))
	return fmt.Sprintf("%s (%s, sha256 %x)", m.ptxName(), compiler, hash[:6])
}

// Launch runs the entry and waits for it. The arguments are those of the
// kernel: a buffer for a pointer, for a number an int32, uint32, float32 and so
// on of its size.
func (e *Entry) Launch(dev gpu.Device, grid, block gpu.Dim, args ...any) error {
	return e.Run(dev, gpu.Launch{Grid: grid, Block: block, Args: args})
}

// Run is Launch with all fields of a launch: dynamic shared memory, counters,
// checks. The launch names no entry.
func (e *Entry) Run(dev gpu.Device, l gpu.Launch) error {
	there, err := e.On(dev)
	if err != nil {
		return err
	}
	if err := e.checkTypes(l.Args); err != nil {
		return err
	}
	l.Entry, l.Source = there, e.words()
	if err := dev.Launch(l); err != nil {
		if earlier := dev.Sync(); earlier != nil {
			return e.quote(earlier)
		}
		if errors.Is(err, gpu.ErrArgument) && e.head != "" { // the PTX has no names of parameters
			return fmt.Errorf("%w: the kernel is %v", err, e)
		}
		return e.quote(err)
	}
	return e.quote(dev.Sync())
}

// quote adds to a fault the text of the line that it names.
func (e *Entry) quote(err error) error {
	fault := (*gpu.Fault)(nil)
	if !errors.As(err, &fault) {
		return err
	}
	if fault.Cause != nil {
		fault = fault.Cause
	}
	if line := e.lineAt(fault.At()); line != "" {
		return fmt.Errorf("%w: %s", err, line)
	}
	return err
}

// words are facts about the source that the entry's PTX does not contain.
func (e *Entry) words() *gpu.Source {
	s := &gpu.Source{Line: e.lineAt, Text: e.module.Source}
	for _, p := range e.params {
		s.Params = append(s.Params, p.name)
	}
	return s
}

// lineAt is the text of a line of the source or the PTX, or "".
func (e *Entry) lineAt(at string) string {
	for _, text := range e.Module().Texts() {
		number, ok := strings.CutPrefix(at, text.Name+":")
		line, _ := strconv.Atoi(number) // 0 for a place in a header
		lines := strings.Split(text.Text, "\n")
		if ok && line > 0 && line <= len(lines) {
			return strings.TrimSpace(lines[line-1])
		}
	}
	return ""
}

// elementTypes are the types of C++ that a buffer can hold.
var elementTypes = map[string]gpu.Type{
	"float": gpu.Float32, "float2": gpu.Float32, "float4": gpu.Float32, "double": gpu.Float64, "double2": gpu.Float64,
	"int": gpu.Int32, "int32_t": gpu.Int32, "int4": gpu.Int32, "unsigned": gpu.Uint32, "unsigned int": gpu.Uint32, "uint": gpu.Uint32, "uint32_t": gpu.Uint32,
	"long long": gpu.Int64, "int64_t": gpu.Int64, "unsigned long long": gpu.Uint64, "uint64_t": gpu.Uint64, "size_t": gpu.Uint64,
	"char": gpu.Int8, "signed char": gpu.Int8, "int8_t": gpu.Int8, "unsigned char": gpu.Uint8, "uint8_t": gpu.Uint8,
	"short": gpu.Int16, "int16_t": gpu.Int16, "unsigned short": gpu.Uint16, "uint16_t": gpu.Uint16, "__half": gpu.Float16, "half": gpu.Float16, "half2": gpu.Float16, "__half2": gpu.Float16,
	"__nv_bfloat16": gpu.BFloat16,
}

var qualifier = lazyregexp.New(`\b(?:const|volatile|__restrict__|__restrict|restrict)\b`)

// element is the type that a pointer parameter points to, if it is known.
func (p parameter) element() (gpu.Type, bool) {
	base, pointer := strings.CutSuffix(strings.Join(strings.Fields(qualifier().ReplaceAllString(p.typ, " ")), " "), "*")
	t, known := elementTypes[strings.TrimSpace(base)]
	return t, pointer && known
}

// checkTypes compares the types of buffers with the pointers of the source, because
// PTX has no types of pointers. The device checks the other arguments.
func (e *Entry) checkTypes(args []any) error {
	if len(args) != len(e.params) && e.head != "" {
		return fmt.Errorf("compile: launch %s: %w: %d arguments, expected %d: %v", e.name, gpu.ErrArgument, len(args), len(e.params), e)
	}
	if len(args) != len(e.params) { // the device reports it
		return nil
	}
	for i, p := range e.params {
		b, ok := args[i].(gpu.Buffer)
		want, known := p.element()
		if ok && b != nil && known && b.Type() != want {
			return fmt.Errorf("compile: launch %s: argument %d, %s: %w: a buffer of %v, expected %v: the kernel has %s",
				e.name, i, p.name, gpu.ErrArgument, b.Type(), want, p)
		}
		if err := e.checkStruct(p, args[i]); err != nil {
			return fmt.Errorf("compile: launch %s: argument %d, %s: %w", e.name, i, p.name, err)
		}
	}
	return nil
}

// String is the entry as its source declares it.
func (e *Entry) String() string {
	if e == nil {
		return "an entry that is not compiled: run its cell"
	}
	var params []string
	for _, p := range e.params {
		params = append(params, p.String())
	}
	return fmt.Sprintf("%s(%s)", e.name, strings.Join(params, ", "))
}

// addEntries finds the entries of the PTX and gives them Go names. lowered are the
// symbols of templates.
func (m *Module) addEntries(s *source, lowered map[string]string) error {
	parsed, err := ptx.Parse(m.Name, m.ptx)
	if err != nil {
		return fmt.Errorf("compile: %s: the compiler's own PTX: %w", m.Name, err)
	}
	expressions := map[string]string{} // by symbol
	for expression, symbol := range lowered {
		expressions[symbol] = expression
	}
	var wrong []Diagnostic
	for _, f := range parsed.Functions {
		if !f.Entry {
			continue
		}
		e := m.newEntry(s, f.Name, expressions[f.Name])
		if i := slices.IndexFunc(m.Entries, func(o *Entry) bool { return o.name == e.name }); i >= 0 {
			wrong = append(wrong, Diagnostic{max(e.line, m.firstLine), max(e.col, 1),
				fmt.Sprintf("kernel %s is declared twice, and its Go variable can hold one: give it another name", e.name)})
		}
		wrong = append(wrong, m.checkMemory(e, f)...)
		m.ptx = rename(m.ptx, f.Name, e.name)
		m.Entries = append(m.Entries, e)
	}
	if len(wrong) == 0 {
		wrong = m.misspeltAssembly(s, parsed)
	}
	if len(m.Entries) == 0 {
		wrong = append(wrong, Diagnostic{m.firstLine, 1, "no kernel: expected a __global__ function"})
	}
	if len(wrong) > 0 {
		return &Error{m.Name, wrong}
	}
	slices.SortStableFunc(m.Entries, func(a, b *Entry) int { return a.line - b.line })
	for _, e := range m.Entries {
		if types.Universe.Lookup(e.name) != nil {
			m.Warnings = append(m.Warnings, Diagnostic{max(e.line, m.firstLine), max(e.col, 1),
				fmt.Sprintf("kernel %s hides Go's builtin %s in later cells: give it another name, such as %s_kernel", e.name, e.name, e.name)})
		}
	}
	return nil
}

// newEntry is the entry of a symbol.
func (m *Module) newEntry(s *source, symbol, expression string) *Entry {
	plain := ptx.Demangle(symbol)
	if expression != "" {
		plain = expression
	}
	e := &Entry{module: m, name: identifier(plain)}
	base, _, _ := strings.Cut(plain, "<")
	base = strings.TrimSpace(base[strings.LastIndexByte(base, ':')+1:])
	for _, f := range s.functions {
		if f.has("global") && f.name == base {
			e.head, e.params = f.head, f.params
			e.line, e.col = s.place(f.at)
			e.source = s.own(f)
		}
	}
	return e
}

// checkMemory refuses static shared memory and local memory that no launch could have;
// ptxas refuses it, too.
func (m *Module) checkMemory(e *Entry, f *ptx.Function) (wrong []Diagnostic) {
	bytes := map[ptx.Space]int{}
	for _, v := range f.Variables {
		if !v.Extern {
			bytes[v.Space] += v.Bytes()
		}
	}
	refuse := func(have, most int, what, remedy string) {
		if have > most {
			wrong = append(wrong, Diagnostic{max(e.line, m.firstLine), max(e.col, 1),
				fmt.Sprintf("kernel %s: %d bytes of %s, expected at most %d: %s", e.name, have, what, most, remedy)})
		}
	}
	const static = 48 << 10 // of any GPU, without opting in
	refuse(bytes[ptx.Shared], static, "static shared memory", "declare it extern __shared__ and give its size at the launch")
	refuse(bytes[ptx.Local], ptx.MostLocal, "local memory per thread", "use a buffer with a part for each thread")
	return wrong
}

// Entry finds an entry by name; the error for an unknown name lists the
// nearest ones.
func (m *Module) Entry(name string) (*Entry, error) {
	var names []string
	for _, e := range m.Entries {
		if e.name == name {
			return e, nil
		}
		names = append(names, e.name)
	}
	return nil, fmt.Errorf("compile: entry %s of %s: %w, %s", name, m.Name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// PTX makes a Module of PTX without compiling it. firstLine is the number of its first
// line in messages and faults. An error in the PTX is an *Error.
func PTX(name, text string, firstLine int) (*Module, error) {
	m := &Module{Name: name, Source: text, firstLine: max(1, firstLine)}
	if err := m.checkSize(); err != nil {
		return nil, err
	}
	m.ptx = strings.Repeat("\n", m.firstLine-1) + text
	parsed, err := ptx.Parse(name, m.ptx)
	if e := (*ptx.Error)(nil); errors.As(err, &e) {
		s := &source{text: m.ptx, code: blank(m.ptx)}
		if wrong := s.brackets(); len(wrong) > 0 && strings.HasSuffix(wrong[0].Text, "never closed") {
			return nil, &Error{name, wrong}
		}
		return nil, &Error{name, []Diagnostic{{e.Pos.Line, e.Pos.Col, e.Text}}}
	}
	if err != nil {
		return nil, fmt.Errorf("compile: %s: %w", name, err)
	}
	wrong := m.misspelt(parsed)
	for _, f := range parsed.Functions {
		if f.Entry {
			e := &Entry{module: m, name: f.Name, line: f.Pos.Line, col: f.Pos.Col, source: strings.TrimSpace(text)}
			for _, p := range f.Params {
				e.params = append(e.params, parameter{"." + string(p.Type), p.Name})
			}
			wrong = append(wrong, m.checkMemory(e, f)...)
			m.Entries = append(m.Entries, e)
		}
	}
	if len(m.Entries) == 0 {
		wrong = append(wrong, Diagnostic{m.firstLine, 1, "no entry: expected .visible .entry name(...)"})
	}
	if len(wrong) > 0 {
		return nil, &Error{name, wrong}
	}
	return m, nil
}

// misspeltAssembly complains of opcodes and modifiers in asm statements that PTX does not
// have, at the lines of the source. The compiler copies the text of asm statements unchanged.
func (m *Module) misspeltAssembly(s *source, parsed *ptx.Module) (wrong []Diagnostic) {
	for _, f := range parsed.Functions {
		for i := range f.Code {
			in := &f.Code[i]
			word, text := loader.Unknown(parsed, in)
			if word == "" || !strings.Contains(s.text, word) { // the compiler knows its own words
				continue
			}
			at := in.Source
			if parsed.Files[at.File] != m.Name { // of a function of a header
				at = in.Inlined
			}
			line := max(at.Line, m.firstLine)
			col := max(0, strings.Index(s.textLine(line), word))
			wrong = append(wrong, Diagnostic{line, col + 1, text})
		}
	}
	return wrong
}

// misspelt complains of opcodes and modifiers that PTX does not have. Otherwise
// only the launch would report them.
func (m *Module) misspelt(parsed *ptx.Module) (wrong []Diagnostic) {
	lines := strings.Split(m.ptx, "\n")
	for _, f := range parsed.Functions {
		for i := range f.Code {
			in := &f.Code[i]
			word, text := loader.Unknown(parsed, in)
			if word == "" {
				continue
			}
			col := in.Pos.Col
			if line := lines[in.Pos.Line-1]; col <= len(line) {
				col += max(0, strings.Index(line[col-1:], word))
			}
			wrong = append(wrong, Diagnostic{in.Pos.Line, col, text})
		}
	}
	return wrong
}
