// Package symbols offers compiled packages to cells: the standard library, as it comes
// with the engine, and the packages that generate/main.go lists, with their
// documentation. It links all of them. The engine registers them when it starts; the
// other files of this folder are generated. The package must not import the engine.
package symbols

import (
	"github.com/goplus/ixgo"

	// Room for 30 720 methods of cell types that compiled code can call.
	_ "github.com/goplus/reflectx/icall/icall10240"
	_ "github.com/goplus/reflectx/icall/icall20480"
)

// offer is a generated package: its objects, made at its first import, and its
// documentation by object name.
type offer struct {
	path    string
	symbols func() *ixgo.Package
	docs    map[string]string
}

// Register makes the packages importable.
func Register() {
	for _, o := range generated {
		ixgo.RegisterPackageLazy(o.path, o.symbols)
	}
}

// Doc is the declaration and the comment of an object, "" if there is none.
// Methods and fields have names such as "Plot.Add".
func Doc(path, name string) string {
	for _, o := range generated {
		if o.path == path {
			return o.docs[name]
		}
	}
	return stdDoc(path, name)
}
