package lower

import (
	"encoding/binary"
	"fmt"
	"strings"

	"warpbook/gpu/llvm/ir"
)

// variables are the variables of the module. A shared one that only one function uses
// belongs to it, as others need no memory for it.
func (m *module) variables() string {
	var b strings.Builder
	for _, g := range m.Globals {
		if m.owner(g) == "" {
			b.WriteString(m.variable(g))
		}
	}
	return b.String()
}

// owner is the function that alone uses an internal shared variable.
func (m *module) owner(g *ir.Global) string {
	users := sortedNames(m.uses[g.Name])
	if g.Internal && g.Space == shared && len(users) == 1 {
		return users[0]
	}
	return ""
}

// owned are the shared variables of a function.
func (m *module) owned(function string) string {
	var b strings.Builder
	for _, g := range m.Globals {
		if m.owner(g) == function {
			b.WriteString("\t" + m.variable(g))
		}
	}
	return b.String()
}

// variable is the declaration of a variable.
func (m *module) variable(g *ir.Global) string {
	word := ".visible "
	switch {
	case g.Init == nil:
		word = ".extern "
	case g.Internal:
		word = ""
	}
	align := g.Align
	if align == 0 {
		align = g.Type.Align()
	}
	head := fmt.Sprintf("%s%s .align %d ", word, spaceNames[spaceOf(g)], align)
	head = strings.TrimPrefix(head, " ")
	name := symbol(g.Name)
	plain := g.Init == nil || g.Init.Kind == ir.Zero || g.Init.Kind == ir.Undef
	switch {
	case plain && g.Type.Size() == 0:
		return head + ".b8 " + name + "[];\n"
	case plain && (g.Type.IsAggregate() || g.Type.Kind == ir.Vector):
		return head + fmt.Sprintf(".b8 %s[%d];\n", name, g.Type.Size())
	case plain:
		return head + fmt.Sprintf(".b%d %s;\n", g.Type.Size()*8, name)
	}
	image := &image{m: m, bytes: make([]byte, g.Type.Size()), symbols: map[int]string{}, name: g.Name}
	image.write(0, g.Type, g.Init)
	if len(image.symbols) > 0 {
		return head + image.words(name)
	}
	list := make([]string, len(image.bytes))
	for i, c := range image.bytes {
		list[i] = fmt.Sprint(c)
	}
	return head + fmt.Sprintf(".b8 %s[%d] = {%s};\n", name, len(list), strings.Join(list, ", "))
}

// image is the memory that a variable begins with.
type image struct {
	m       *module
	name    string
	bytes   []byte
	symbols map[int]string // addresses of 8 bytes, by place
}

func (i *image) write(at int, t *ir.Type, v *ir.Value) {
	switch {
	case v.Kind == ir.Zero || v.Kind == ir.Undef:
	case v.Kind == ir.Aggregate && t.Kind == ir.Vector:
		for k, o := range v.Operands {
			i.write(at+k*t.Elem.Width()/8, t.Elem, o)
		}
	case v.Kind == ir.Aggregate:
		for k, o := range v.Operands {
			i.write(at+t.Offset(k), t.Part(k), o)
		}
	case v.Kind == ir.Constant && t.Size() <= 8:
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], v.Bits)
		copy(i.bytes[at:at+t.Size()], number[:])
	case t.Kind == ir.Pointer:
		i.symbols[at] = i.address(v, t.Space)
	default:
		panic(&Error{Line: v.Line, Fact: fmt.Sprintf("the initial value of %s is not supported", i.name)})
	}
}

// address is a constant address as an initial value.
func (i *image) address(v *ir.Value, space int) string {
	offset := int64(0)
	for v.Kind == ir.Expression {
		if v.Op == "getelementptr" {
			n, ok := constantOffset(v)
			if !ok {
				break
			}
			offset += n
		} else if v.Op != "addrspacecast" && v.Op != "bitcast" {
			break
		}
		v = v.Operands[0]
	}
	if v.Kind != ir.Symbol {
		panic(&Error{Line: v.Line, Fact: fmt.Sprintf("the address in the initial value of %s is not supported", i.name)})
	}
	i.m.current = ""
	i.m.note(v.Name)
	name := symbol(v.Name)
	if i.m.Vars[v.Name] != nil && space == generic {
		name = "generic(" + name + ")"
	}
	if offset != 0 {
		name += fmt.Sprintf("+%d", offset)
	}
	return name
}

// words writes an image with addresses as numbers of 8 bytes.
func (i *image) words(name string) string {
	for len(i.bytes)%8 != 0 {
		i.bytes = append(i.bytes, 0)
	}
	var list []string
	for at := 0; at < len(i.bytes); at += 8 {
		if s := i.symbols[at]; s != "" {
			list = append(list, s)
			continue
		}
		list = append(list, fmt.Sprint(binary.LittleEndian.Uint64(i.bytes[at:])))
	}
	if len(list) == 1 {
		return fmt.Sprintf(".u64 %s = %s;\n", name, list[0])
	}
	return fmt.Sprintf(".u64 %s[%d] = {%s};\n", name, len(list), strings.Join(list, ", "))
}
