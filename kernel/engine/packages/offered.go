package packages

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goplus/ixgo"

	"warpbook/kernel/engine/hint"
)

// Linked are the packages that the program links, by path.
func Linked() []string {
	return slices.DeleteFunc(ixgo.PackageList(), func(p string) bool {
		return slices.ContainsFunc(strings.Split(p, "/"), func(part string) bool { return part == "internal" }) ||
			strings.HasPrefix(p, "github.com/goplus/")
	})
}

// Missing are the packages of the standard library that cells cannot import, with the
// reasons.
var Missing = map[string]string{
	"expvar":         "it would publish the command line of the cells program on http.DefaultServeMux of every session, because packages are linked whether a cell imports them or not",
	"net/http/pprof": "it would publish profiles on http.DefaultServeMux of every session, because packages are linked whether a cell imports them or not",
	"plugin":         "it needs cgo, which the cells program is built without",
	"runtime/cgo":    "it needs cgo, which the cells program is built without",
	"runtime/race":   "it is for programs that are built with -race",
}

// NotOffered is the error for a package that cells cannot import.
func NotOffered(path string) error {
	if path == "C" {
		return errors.New("cgo does not run in cells: make the C code a program, and start it with os/exec")
	}
	msg := fmt.Sprintf("package %s is not offered to cells", path)
	if why := Missing[path]; why != "" {
		return errors.New(msg + ": " + why)
	}
	for version, names := range Newer {
		if slices.Contains(names, path) {
			return fmt.Errorf("%s: it is new in Go %s, and cells have the standard library of Go 1.26", msg, strings.TrimPrefix(version, "go"))
		}
	}
	if near := hint.Nearest(path, Linked()); len(near) > 0 {
		msg += "; nearest: " + strings.Join(near, ", ")
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return fmt.Errorf("%s; %%pkg %s adds it", msg, path)
	}
	return fmt.Errorf("%s; Tab in the path of an import lists those that are", msg)
}
