//go:build ignore && !llgo

package reflectx

import (
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// Package reflect makes structs without embedded fields and with one blank field at most,
// and keeps them. Fields of such structs are changed, so that a struct needs one of its own:
// struct { A } is not struct { A A }. A tag makes the difference until then.
const embeddedTag = ` embedded:"here"`

// embed makes a field of a new struct the embedded one that it stands for.
func embed(f *structField, name string, tag reflect.StructTag) {
	f.Name = newName(name, string(tag), token.IsExported(name))
	setEmbedded(f)
}

// nameStruct gives a struct whose fields were changed the text that it has in Go.
func nameStruct(rt *rtype, fields []reflect.StructField) {
	var b strings.Builder
	b.WriteString("struct {")
	for i, f := range fields {
		if i > 0 {
			b.WriteString(";")
		}
		b.WriteString(" ")
		if !f.Anonymous {
			b.WriteString(f.Name + " ")
		}
		b.WriteString(f.Type.String())
		if f.Tag != "" {
			b.WriteString(" " + strconv.Quote(string(f.Tag)))
		}
	}
	rt.Str = resolveReflectName(newName(b.String()+" }", "", false))
}
