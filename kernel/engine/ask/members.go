package ask

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"warpbook/kernel/engine/docs"
	"warpbook/kernel/engine/namespace"
)

// owner is the type whose declaration has a field that was selected from a type, or is
// written in a literal of it: the type itself, or one that it embeds. It is nil for a field
// of an unnamed struct.
func owner(field *types.Var, t types.Type) types.Type {
	seen := map[types.Type]bool{}
	var find func(t types.Type) types.Type
	find = func(t types.Type) types.Type {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok || seen[t] {
			return nil
		}
		seen[t] = true
		for f := range st.Fields() {
			if f.Origin() == field.Origin() {
				return t
			}
		}
		for f := range st.Fields() {
			if f.Embedded() {
				if found := find(f.Type()); found != nil {
					return found
				}
			}
		}
		return nil
	}
	if t == nil {
		return nil
	}
	return find(t)
}

// tag is the tag of a field of a type, as it is written.
func tag(field *types.Var, t types.Type) string {
	if t == nil {
		return ""
	}
	st := t.Underlying().(*types.Struct)
	for i := range st.NumFields() {
		if text := st.Tag(i); text != "" && st.Field(i).Origin() == field.Origin() {
			if strconv.CanBackquote(text) {
				return " `" + text + "`"
			}
			return " " + strconv.Quote(text)
		}
	}
	return ""
}

// memberComment is the comment of a field, or of a method of an interface, in the
// declaration of its type by a cell, if there is one.
func memberComment(d *namespace.Declaration, typ, member string) (text string) {
	if d == nil {
		return ""
	}
	f, _ := parser.ParseFile(token.NewFileSet(), "", "package p\n"+d.Source(), parser.ParseComments|parser.SkipObjectResolution)
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != typ {
			return text == ""
		}
		for _, m := range docs.Members(spec.Type) {
			for _, name := range m.Names {
				if comment := docs.Comment(m.Doc, m.Comment); name.Name == member && comment != "" {
					text = "\n\n" + strings.TrimSpace(comment)
				}
			}
		}
		return false
	})
	return text
}
