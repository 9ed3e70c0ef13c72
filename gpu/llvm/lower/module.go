package lower

import (
	"fmt"
	"sort"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// Options are what the intermediate code does not say.
type Options struct {
	Arch    int    // 75
	Target  string // "sm_75", "sm_90a"
	Version string // of PTX: "6.3"
	Fast    bool   // approximate division and square roots of floats
}

// module lowers the functions of a module.
type module struct {
	*ir.Module
	options Options
	flush   bool // of numbers below the normal ones
	index   int  // of the function
	files   map[string]int
	uses    map[string]map[string]bool // symbols by function
	current string
}

// PTX returns the text of a module. The error is an *Error.
func PTX(m *ir.Module, options Options) (ptx string, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			ptx, err = "", e
		}
	}()
	mod := &module{Module: m, options: options, files: map[string]int{}, uses: map[string]map[string]bool{}, flush: m.Flags["nvvm-reflect-ftz"] != 0}
	var texts []functionText
	for _, of := range m.Funcs {
		if len(of.Blocks) > 0 {
			texts = append(texts, mod.function(of))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target %s\n.address_size 64\n\n", options.Version, options.Target)
	variables := mod.variables() // whose initial values use functions, as tables of virtual ones do
	mod.declarations(&b)
	b.WriteString(variables)
	for _, t := range texts {
		b.WriteString("\n" + t.head + "{\n" + mod.owned(t.name) + t.body + "}\n")
	}
	b.WriteString(mod.fileTable())
	return b.String(), nil
}

// functionText is a function as text, without the variables that only it uses.
type functionText struct{ name, head, body string }

// file is the number of a source file.
func (m *module) file(name string) int {
	if m.files[name] == 0 {
		m.files[name] = len(m.files) + 1
	}
	return m.files[name]
}

func (m *module) fileTable() string {
	names := make([]string, len(m.files))
	for name, i := range m.files {
		names[i-1] = name
	}
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, "\t.file\t%d %q\n", i+1, name)
	}
	return b.String()
}

// note records that the current function uses a symbol.
func (m *module) note(name string) {
	if m.uses[name] == nil {
		m.uses[name] = map[string]bool{}
	}
	m.uses[name][m.current] = true
}

// function lowers a function.
func (m *module) function(of *ir.Func) functionText {
	m.index++
	m.current = of.Name
	f := &fn{module: m, ir: of, symbol: symbol(of.Name), out: machine.New(fmt.Sprint(m.index)),
		values: map[*ir.Value]value{}, known: map[string][]known{}, clean: map[reg]int{}, products: map[reg]*ir.Value{}, merged: map[*ir.Value]bool{}}
	defer f.located()
	f.lower()
	return functionText{of.Name, m.head(of) + "\n" + m.directives(of), strings.Join(f.locals, "") + f.out.String()}
}

// head is the signature of a function.
func (m *module) head(of *ir.Func) string {
	word := ".visible "
	if of.Internal {
		word = ""
	}
	name := symbol(of.Name)
	var params []string
	for i, p := range of.Params {
		var byval *ir.Type
		if p.Elem != nil && hasWord(p, "byval") {
			byval = p.Elem
		}
		at := fmt.Sprintf("%s_param_%d", name, i)
		if of.Kernel {
			params = append(params, kernelParam(p, byval, at))
		} else {
			params = append(params, declared(p.Type, byval, p.Align, at))
		}
	}
	list := "(\n\t" + strings.Join(params, ",\n\t") + "\n)"
	if len(params) == 0 {
		list = "()"
	}
	switch {
	case of.Kernel:
		return word + ".entry " + name + list
	case of.Result.Kind == ir.Void:
		return word + ".func " + name + list
	}
	return word + ".func (" + declared(of.Result, nil, 0, "func_retval0") + ") " + name + list
}

func hasWord(v *ir.Value, word string) bool {
	for _, w := range v.Words {
		if w == word {
			return true
		}
	}
	return false
}

func kernelParam(p *ir.Value, byval *ir.Type, name string) string {
	t := p.Type
	switch {
	case byval != nil || t.IsAggregate() || t.Kind == ir.Vector:
		return declared(t, byval, p.Align, name)
	case t.Kind == ir.Pointer:
		return ".param .u64 .ptr .align 1 " + name
	case t.Kind == ir.Float || t.Kind == ir.Double:
		return fmt.Sprintf(".param .f%d %s", t.Width(), name)
	case t.Kind == ir.Int:
		return fmt.Sprintf(".param .u%d %s", t.Size()*8, name)
	}
	return fmt.Sprintf(".param .b%d %s", t.Width(), name)
}

// directives are the limits of a kernel.
func (m *module) directives(of *ir.Func) string {
	var b strings.Builder
	for _, d := range []struct{ attribute, directive string }{
		{"nvvm.maxntid", ".maxntid"}, {"nvvm.reqntid", ".reqntid"}, {"nvvm.minctasm", ".minnctapersm"}, {"nvvm.maxnreg", ".maxnreg"}, {"nvvm.maxclusterrank", ".maxclusterrank"},
	} {
		if value := of.Attrs[d.attribute]; value != "" {
			fmt.Fprintf(&b, "%s %s\n", d.directive, value)
		}
	}
	if size := of.Attrs["nvvm.cluster_dim"]; size != "" {
		fmt.Fprintf(&b, ".explicitcluster\n.reqnctapercluster %s\n", size)
	}
	return b.String()
}

// symbol is a name as PTX allows it.
func symbol(name string) string {
	return strings.NewReplacer(".", "_$_", "@", "_$_").Replace(name)
}

// declarations are the functions that are used before they are defined, or never are.
func (m *module) declarations(b *strings.Builder) {
	for _, of := range m.Funcs {
		if m.uses[of.Name] == nil || of.Kernel {
			continue
		}
		head := m.head(of)
		if len(of.Blocks) == 0 {
			head = ".extern " + strings.TrimPrefix(head, ".visible ")
		}
		b.WriteString(head + ";\n")
	}
}

// sortedNames are the keys of a set in order.
func sortedNames(set map[string]bool) (list []string) {
	for name := range set {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}
