package namespace

import (
	"go/types"
	"reflect"
)

// Global is a variable of the cells.
type Global struct {
	Name, Type string
	Value      reflect.Value // can be set
}

// Local is a variable that an expression of the debugger names beside those of the
// session.
type Local struct {
	Name string
	Type types.Type
	At   reflect.Value // a pointer to the variable
}
