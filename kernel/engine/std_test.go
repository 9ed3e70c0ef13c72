//go:build edited

package engine

import (
	"bytes"
	goimporter "go/importer"
	"go/token"
	goversion "go/version"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/engine/packages"
	"warpbook/kernel/engine/symbols"
	_ "warpbook/kernel/engine/symbols"
)

// tablesOf is the Go version from whose standard library the engine's tables were
// generated.
const tablesOf = "go1.26"

// TestStandardLibrary: cells can import each package of the standard library, but for
// those whose reason is listed, and each has all exported names. A newer Go has names
// that the tables lack: these are listed, and are no failure.
func TestStandardLibrary(t *testing.T) {
	newer := goversion.Compare(goversion.Lang(runtime.Version()), tablesOf) > 0
	var newNames []string
	out, err := exec.Command("go", "list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "std").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	compiled := goimporter.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		data, err := os.ReadFile(exports[path])
		return io.NopCloser(bytes.NewReader(data)), err
	})
	symbols.Register()
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	offered, names := 0, 0
	for path := range exports {
		switch {
		case strings.HasPrefix(path, "vendor/") || slices.Contains(strings.Split(path, "/"), "internal"):
			continue
		case packages.Missing[path] != "":
			continue
		}
		offered++
		have, err := e.Importer.Import(path)
		if err != nil && newer {
			newNames = append(newNames, path)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want, err := compiled.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range want.Scope().Names() {
			if !token.IsExported(name) {
				continue
			}
			if names++; have.Scope().Lookup(name) != nil {
				continue
			}
			if newer {
				newNames = append(newNames, path+"."+name)
				continue
			}
			t.Errorf("%s.%s is missing", path, name)
		}
	}
	missing := slices.Collect(maps.Keys(packages.Missing))
	out, err = exec.Command("go", slices.Concat([]string{"list", "-e", "-find", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}"}, missing)...).Output() // without cgo, std leaves out runtime/cgo
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range missing {
		if packages.Offered(path) {
			t.Errorf("%s is offered, and is listed as missing", path)
		}
		if !slices.Contains(strings.Fields(string(out)), path) {
			t.Errorf("%s is listed as missing, and is no package of the standard library", path)
		}
	}
	if listed, ok := packages.Newer[goversion.Lang(runtime.Version())]; newer && ok {
		for _, name := range newNames {
			if !slices.Contains(listed, name) {
				t.Errorf("%s is missing, and packages.Newer does not list it", name)
			}
		}
		for _, name := range listed {
			if !slices.Contains(newNames, name) {
				t.Errorf("%s is listed in packages.Newer, and is no name that cells lack", name)
			}
		}
	} else if newer {
		slices.Sort(newNames)
		t.Logf("%s has %d names and packages that the tables of %s lack: %s", runtime.Version(), len(newNames), tablesOf, strings.Join(newNames, " "))
	}
	t.Logf("%d packages, %d names, %d packages missing", offered, names, len(packages.Missing))
}
