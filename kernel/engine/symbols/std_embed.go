package symbols

import (
	"embed"
	"reflect"

	"github.com/goplus/ixgo"
)

// Package embed of the engine brings a processor of //go:embed and its modules. A cell
// has no folder to embed from: it gets only the type, by which packages take files.
func init() {
	ixgo.RegisterPackage(&ixgo.Package{
		Name: "embed", Path: "embed",
		Deps:       map[string]string{"io/fs": "fs"},
		NamedTypes: map[string]reflect.Type{"FS": reflect.TypeFor[embed.FS]()},
	})
}
