//go:build edited

package engine

import (
	"slices"
	"testing"

	"github.com/goplus/ixgo"
)

// TestImportsAreLazy: an import makes the types that the package's exported names have, and
// no other package whole. One whose types were met has its name already.
func TestImportsAreLazy(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run := func(n int, code, want string) {
		t.Helper()
		r := evaluate(t.Context(), e, n, code)
		if r.Err != nil {
			t.Fatalf("%s: %v", code, r.Err.Traceback)
		}
		if len(r.Values) != 1 || r.Values[0] != want {
			t.Errorf("%s: %v, want %s", code, r.Values, want)
		}
	}
	run(1, "import (\"bufio\"; \"fmt\")\nr := bufio.NewReader(nil)\nfmt.Sprintf(\"%T\", r)", "*bufio.Reader")
	for _, p := range e.Ctx.Loader.Packages() {
		if p.Complete() && !slices.Contains([]string{"bufio", "fmt", "unsafe", "cellrt"}, p.Path()) {
			t.Errorf("package %s is whole after imports of bufio and fmt", p.Path())
		}
	}
	run(2, "import \"io\"\nvar in io.Reader = r\nfmt.Sprintf(\"%T\", in)", "*bufio.Reader")
	for _, path := range e.Importer.Packages() {
		if p, err := e.Importer.Import(path); err != nil || p.Name() != ixgo.NameOf(path) {
			t.Errorf("package %s: %v has another name than its path tells, %v", path, p, err)
		}
	}
}
