package flow

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// StackBytes is the size of a thread's stack of frames (recursion.go). DefaultStack is what a
// GPU gives a thread unless the program sets cudaLimitStackSize: a deeper recursion is a warning.
const StackBytes, DefaultStack = 32 << 10, 1 << 10

// OnGPU is how many bytes frames take on a GPU at most: there they are up to 1.6 times as large.
func OnGPU(bytes uint64) uint64 { return bytes * 8 / 5 }

// Unasked is what a recursion may take here before it is compared with the limit.
const Unasked = DefaultStack * 5 / 8

// calls ends the names of the tables of places that a recursive function returns to.
const calls = ".calls"

// Returns reports whether a brx.idx with a table returns from a recursive function.
func Returns(table string) bool { return strings.HasSuffix(table, calls) }

// mostInlined bounds the size of an entry with all functions that it calls.
const mostInlined = 1 << 20

// Inline replaces every call of an entry by the function's code, so that lanes that
// return at different places reconverge after the call as they do after a branch.
// Parameters of calls are local memory. A call through a pointer becomes a choice among
// its possible targets (indirect.go), and recursion a loop with a stack (recursion.go).
func Inline(text *ptx.Module, entry *ptx.Function) (*ptx.Function, error) {
	if !slices.ContainsFunc(entry.Code, func(in ptx.Instruction) bool { return in.Opcode == "call" }) {
		return entry, nil
	}
	for heads := map[string]bool{}; ; {
		flat := *entry
		flat.Registers, flat.Variables, flat.Code = nil, nil, nil
		flat.Labels, flat.Tables = map[string]int{}, map[string][]string{}
		i := &inliner{text: text, addresses: Addresses(text), flat: &flat, recursion: newRecursion(heads)}
		i.begin(entry)
		err := i.body(entry, map[string]string{}, "")
		if errors.Is(err, errRecursion) {
			continue
		}
		if err == nil {
			err = i.finish()
		}
		if err != nil {
			return nil, err
		}
		return &flat, nil
	}
}

// errRecursion is the error of a pass that found another function that calls itself.
var errRecursion = errors.New("recursion")

type inliner struct {
	text      *ptx.Module
	addresses map[string]uint64 // of functions
	flat      *ptx.Function
	stack     []string // functions that are being inlined
	calls     int
	within    *ptx.Function // whose code is being inlined
	prefix    string        // of its labels
	recursion
}

// body appends the code of a function. names maps its parameters to their names at the
// call; control goes to after on return, or out of the entry if it is "".
func (i *inliner) body(f *ptx.Function, names map[string]string, after string) error {
	prefix := ""
	if after != "" {
		prefix = after + "."
	}
	outer, outside := i.within, i.prefix
	i.stack, i.within, i.prefix = append(i.stack, f.Name), f, prefix
	defer func() { i.stack, i.within, i.prefix = i.stack[:len(i.stack)-1], outer, outside }()
	base, from := len(i.flat.Registers), len(i.flat.Code)
	i.flat.Registers = append(i.flat.Registers, f.Registers...)
	names = maps.Clone(names)
	i.variables(f, names, prefix)
	at := map[int][]string{}
	for label, n := range f.Labels {
		at[n] = append(at[n], prefix+label)
	}
	for name, labels := range f.Tables {
		for _, l := range labels {
			i.flat.Tables[prefix+name] = append(i.flat.Tables[prefix+name], prefix+l)
		}
		names[name] = prefix + name
	}
	for n := range len(f.Code) + 1 {
		for _, label := range at[n] {
			i.flat.Labels[label] = len(i.flat.Code)
		}
		if n == len(f.Code) {
			break
		}
		in := moved(f.Code[n], base, prefix, names)
		if err := i.instruction(in, after); err != nil {
			return err
		}
	}
	if after != "" {
		i.flat.Inlined = append(i.flat.Inlined, ptx.Inlined{Function: f, Prefix: prefix, From: from, To: len(i.flat.Code)})
	}
	return nil
}

// variables adds the variables of a function under unique names; shared variables are
// the same at each call.
func (i *inliner) variables(f *ptx.Function, names map[string]string, prefix string) {
	inFrame := i.placer(f)
	for _, v := range f.Variables {
		if v.Space == ptx.Shared {
			if !slices.Contains(i.flat.Variables, v) {
				i.flat.Variables = append(i.flat.Variables, v)
			}
			continue
		}
		own := *v
		own.Name = prefix + v.Name
		names[v.Name] = own.Name
		if inFrame(v, own.Name) {
			continue
		}
		i.flat.Variables = append(i.flat.Variables, &own)
	}
}

// Instruction appends one instruction; a call is followed by the code of its function.
func (i *inliner) instruction(in ptx.Instruction, after string) error {
	if in.Opcode == "ret" && after != "" {
		in.Operands = []ptx.Operand{{Kind: ptx.LabelOperand, Symbol: after}}
	}
	if in.Opcode == "call" {
		return i.call(in)
	}
	if !i.framed(in) {
		i.flat.Code = append(i.flat.Code, in)
	}
	return nil
}

func (i *inliner) call(in ptx.Instruction) error {
	c := callOf(in)
	if c.target.Kind == ptx.SymbolOperand && builtins[c.target.Symbol] {
		i.flat.Code = append(i.flat.Code, c.builtin())
		return nil
	}
	functions, err := i.callees(c)
	if err != nil {
		return fmt.Errorf("emu: %s at %s: %w", in.Name(), i.text.Place(&in), err)
	}
	i.calls++
	after := fmt.Sprintf("call %d", i.calls)
	in.Operands = nil
	if in.Guard >= 0 { // lanes without the guard skip the call
		in.Negated = !in.Negated
		in.Operands = []ptx.Operand{{Kind: ptx.LabelOperand, Symbol: after}}
	}
	i.flat.Code = append(i.flat.Code, in)
	if c.target.Kind == ptx.RegisterOperand {
		err = i.choose(c, functions, after)
	} else {
		err = i.enter(functions[0], c, after)
	}
	i.flat.Labels[after] = len(i.flat.Code)
	return err
}

// enter inlines the code of a function with its arguments.
func (i *inliner) enter(f *ptx.Function, c called, after string) error {
	if i.recursive(f) {
		return i.descend(f, c.in, after)
	}
	names := map[string]string{}
	for n, p := range slices.Concat(f.Returns, f.Params) {
		names[p.Name] = c.args[n]
	}
	return i.body(f, names, after)
}

// called is a decomposed call: its target and the variables that are passed, those for
// its results first.
type called struct {
	in        ptx.Instruction
	target    ptx.Operand
	args      []string
	prototype string // of a call through a pointer
}

func callOf(in ptx.Instruction) called {
	c := called{in: in, target: ptx.Operand{Kind: ptx.IgnoreOperand}}
	for _, o := range in.Operands {
		switch {
		case o.Kind == ptx.ListOperand:
			for _, e := range o.Elems {
				c.args = append(c.args, e.Symbol)
			}
		case c.target.Kind == ptx.IgnoreOperand:
			c.target = o
		default:
			c.prototype = o.Symbol
		}
	}
	return c
}

// builtins are the functions that the emulator implements.
var builtins = map[string]bool{"vprintf": true, "__assertfail": true, "malloc": true, "free": true}

// builtin is a call of one as an instruction of its own, whose opcode no PTX text can
// contain. Its operands are the variables with results and arguments.
func (c called) builtin() ptx.Instruction {
	in := c.in
	in.Opcode, in.Modifiers, in.Operands = "call "+c.target.Symbol, nil, nil
	for _, name := range c.args {
		in.Operands = append(in.Operands, ptx.Operand{Kind: ptx.AddressOperand, Reg: -1, Symbol: name})
	}
	return in
}

// callees are the possible functions of a call.
func (i *inliner) callees(c called) ([]*ptx.Function, error) {
	if slices.Contains(c.args, "") {
		return nil, fmt.Errorf("%w: a call with registers as arguments, expected .param variables: run this entry on a GPU", gpu.ErrUnsupported)
	}
	var functions []*ptx.Function
	if c.target.Kind == ptx.RegisterOperand {
		functions = i.pointed(c)
	} else if f := function(i.text, c.target.Symbol); f != nil {
		functions = []*ptx.Function{f}
	}
	if len(functions) == 0 {
		name := ptx.Demangle(c.target.Symbol)
		if c.target.Kind == ptx.RegisterOperand {
			name = "a function of type " + c.prototype
		}
		return nil, fmt.Errorf("%w: a call of %s, which the module does not define", gpu.ErrUnsupported, name)
	}
	// One variable has an argument for all functions, which frames have elsewhere: all get one.
	some := slices.ContainsFunc(functions, i.recursive)
	for _, f := range functions {
		switch want := len(f.Returns) + len(f.Params); {
		case (some || slices.Contains(i.stack, f.Name)) && !i.recursive(f):
			return nil, i.found(f)
		case len(i.flat.Code) > mostInlined:
			return nil, fmt.Errorf("%w: more than %d instructions with all calls: run this entry on a GPU", gpu.ErrUnsupported, mostInlined)
		case len(c.args) != want:
			return nil, fmt.Errorf("%w: %d results and arguments, expected %d of %s", gpu.ErrMalformed, len(c.args), want, f.Name)
		case slices.ContainsFunc(slices.Concat(f.Returns, f.Params), func(v *ptx.Variable) bool { return v.Space != ptx.Parameter }):
			return nil, fmt.Errorf("%w: %s, which takes registers, expected .param variables: run this entry on a GPU", gpu.ErrUnsupported, f.Name)
		}
	}
	return functions, nil
}

// moved is an instruction with its registers, labels and variables renamed.
func moved(in ptx.Instruction, base int, prefix string, names map[string]string) ptx.Instruction {
	if in.Guard >= 0 {
		in.Guard += base
	}
	in.Operands = movedOperands(in.Operands, base, prefix, names)
	return in
}

func movedOperands(from []ptx.Operand, base int, prefix string, names map[string]string) []ptx.Operand {
	to := slices.Clone(from)
	for n := range to {
		o := &to[n]
		o.Elems = movedOperands(o.Elems, base, prefix, names)
		switch o.Kind {
		case ptx.RegisterOperand, ptx.PairOperand, ptx.AddressOperand:
			if o.Reg >= 0 {
				o.Reg += base
			}
			if o.Kind == ptx.PairOperand && o.Second >= 0 {
				o.Second += base
			}
		case ptx.LabelOperand:
			o.Symbol = prefix + o.Symbol
			continue
		}
		if name, ok := names[o.Symbol]; ok {
			o.Symbol = name
		}
	}
	return to
}
