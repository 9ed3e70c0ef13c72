package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/edited"
	"warpbook/kernel/engine/module/moduletest"
)

// TestPkg: packages of an added module are interpreted, with their dependencies.
func TestPkg(t *testing.T) {
	if _, err := built(); err != nil { // while other modules are available
		t.Fatal(err)
	}
	ownToolchain(t)
	moduletest.Serve(t, map[string]map[string]string{
		"example.com/geo@v1.2.0": {
			"go.mod": "module example.com/geo\n\ngo 1.24\n\nrequire example.com/base v0.3.0\n",
			"geo.go": `// Package geo measures.
package geo

import (
	"fmt"
	"example.com/base"
)

type Point struct{ X, Y float64 }

func (p Point) String() string { return fmt.Sprintf("(%g %g)", p.X, p.Y) }

func Sum[T Number](xs ...T) T { return base.Fold(xs, func(a, b T) T { return a + b }) }

type Number interface{ ~int | ~float64 }

var Count = start()

func start() int { return base.Start * 10 }

func init() { Count++ }

// Next counts
// calls.
func Next() int { Count++; return Count }
`,
			"deep/deep.go": `package deep

var Log []int

func Walk(n int) (err any) {
	if n == 0 { panic("bottom") }
	if n > 5 { return Walk(n - 5) }
	defer func() { Log = append(Log, n) }()
	return Walk(n - 1)
}

func Try(f func()) (v any) { defer func() { v = recover() }(); f(); return }

func Each(yield func(int) bool) { _ = yield(1) && yield(2) }

func Range() {
	for i := range Each { defer func() { Log = append(Log, 10*i) }() }
	func() { for i := range Each { defer func() { Log = append(Log, 100*i) }() } }()
}
`,
			"iface/iface.go": "package iface\n\ntype I interface{ M() string; Add(a, b float64) float64 }\n\nfunc Call(i I) string { return i.M() }\n",
			"state/state.go": `package state

import (
	"example.com/geo/iface"
	"example.com/geo/impl"
)

var V iface.I = impl.T{N: 1}
var P iface.I = &impl.P{N: 2}
var All = map[string]iface.I{"t": impl.T{N: 3}, "p": &impl.P{N: 4}}

func Call() string { return V.M() + P.M() + All["t"].M() + All["p"].M() }
func Use(v iface.I) { V = v }
func Sum(x []float64) (s float64) { for _, v := range x { s = V.Add(s, v) }; return }
`,
			"impl/impl.go": `package impl

import "fmt"

type T struct{ N int }
func (t T) M() string { return fmt.Sprint("T", t.N) }
func (T) Add(a, b float64) float64 { return a + b }

type P struct{ N int }
func (p *P) M() string { p.N++; return fmt.Sprint("P", p.N) }
func (*P) Add(a, b float64) float64 { return a - b }
`,
			"fast/fast.go": "package fast\n\nfunc Add(a, b int) int\n", "fast/add.s": "// nothing\n",
			"wrong/wrong.go": "package wrong\n\nfunc F() { defer F(); var _ int = \"text\" }\n",
		},
		"example.com/base@v0.3.0": {"go.mod": "module example.com/base\n", "base.go": "package base\n\nconst Start = 4\n\nfunc Fold[T any](xs []T, f func(a, b T) T) (t T) {\n\tfor _, x := range xs {\n\t\tt = f(t, x)\n\t}\n\treturn t\n}\n"},
	})
	c := start(t)
	c.value("%pkg example.com/geo@v1.2.0")
	if got, want := c.out.take(), "import \"example.com/geo\" // example.com/geo@v1.2.0\nimport \"example.com/geo/deep\" // example.com/geo@v1.2.0\nimport \"example.com/geo/iface\" // example.com/geo@v1.2.0\nimport \"example.com/geo/impl\" // example.com/geo@v1.2.0\nimport \"example.com/geo/state\" // example.com/geo@v1.2.0\nimport \"example.com/geo/wrong\" // example.com/geo@v1.2.0\n"; got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
	c.value("import (\"fmt\"; \"example.com/geo\")\np := geo.Point{X: 1, Y: 2}")
	for _, x := range [][2]string{
		{"geo¦", "package geo // import example.com/geo\n\nPackage geo measures."}, {"geo.Next¦", "func Next() int\n\nNext counts\ncalls."},
		{"p.X¦", "Point.X float64"}, {"p.String¦", "func (p Point) String() string"}, {"geo.Number¦", "type Number interface{ ~int | ~float64 }"},
		{"impl.T¦", "import \"example.com/geo/impl\"\n\ntype T struct{ N int }"}, {"impl¦", "import \"example.com/geo/impl\"\n\npackage impl // import example.com/geo/impl"}, {"impl.M¦", ""},
	} {
		if got := c.inspect(x[0]); got != x[1] {
			t.Errorf("%s: %q, want %q", x[0], got, x[1])
		}
	}
	for code, want := range map[string]string{"impl.": "P T", "deep.W": "Walk", "geo.N": "Next Number"} {
		var got []string
		for _, m := range c.wait(c.send(cellproto.Request{Type: cellproto.Complete, Code: code, Cursor: len(code)})).Matches {
			got = append(got, m.Text)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s is completed by %v, expected %s", code, got, want)
		}
	}
	for _, x := range [][2]string{
		{"geo.Sum(1, 2, 3)", "6"}, {"fmt.Sprint(p, []geo.Point{p})", "(1 2) [(1 2)]"},
		{"import \"example.com/geo/deep\"\ndeep.Try(func() { deep.Walk(3) })", "bottom"}, {"fmt.Sprint(deep.Log)", "[1 2 3]"},
		{"deep.Log = nil\ndeep.Range()\nfmt.Sprint(deep.Log)", "[200 100 20 10]"},
		{"import \"example.com/geo/state\"\nstate.V.M() + state.P.M() + state.All[\"t\"].M()", "T1P3T3"},
		{"state.Call() + fmt.Sprint(state.Sum([]float64{1, 2, 3}))", "T1P4T3P56"},
		{"import \"example.com/geo/impl\"\nstate.Use(&impl.P{N: 7})\nstate.Call()", "P8P5T3P6"},
		{"import \"example.com/geo/iface\"\niface.Call(state.V) + iface.Call(impl.T{N: 9}) + fmt.Sprint(state.Sum([]float64{1, 2}))", "P9T9-3"},
		{"geo.Count", "41"}, {"geo.Next()", "42"}, {"geo.Next() + geo.Count", "86"},
	} {
		if got := c.value(x[0]); got != x[1] {
			t.Errorf("%s is %s, want %s", x[0], got, x[1])
		}
	}
	for code, want := range map[string]string{
		"import \"example.com/geo/fast\"":  "1:8: could not import example.com/geo/fast (module: package example.com/geo/fast of example.com/geo@v1.2.0 cannot run in cells: it has assembly (add.s))",
		"import \"example.com/geo/wrong\"": "wrong.go:3:35: cannot use \"text\"",
		"%pkg  example.com/none@v1.0.0":    "1:7: %pkg: go get example.com/none@v1.0.0: ",
		"%pkg example.com/geo@":            "1:22: %pkg: expected a version after the @",
		"%pkg geo":                         "1:6: %pkg: geo: expected the path of a module",
	} {
		for range 2 { // the second run is like the first
			if e := c.run(code); e.Error == nil || !strings.Contains(e.Error.Value, want) {
				t.Errorf("%s: %v, want %s", code, e.Error, want)
			}
		}
	}
}

// TestPkgInitialises: a package that is imported for its effects runs its init functions,
// after those of the packages that it imports, and once.
func TestPkgInitialises(t *testing.T) {
	if _, err := built(); err != nil { // while other modules are available
		t.Fatal(err)
	}
	ownToolchain(t)
	moduletest.Serve(t, map[string]map[string]string{"example.com/drivers@v1.0.0": {
		"go.mod":      "module example.com/drivers\n\ngo 1.24\n",
		"names/n.go":  "package names\n\nvar All []string\n\nfunc Add(s string) bool { All = append(All, s); return true }\n",
		"blank/b.go":  "package blank\n\nimport \"example.com/drivers/names\"\n\nvar _ = names.Add(\"blank\")\n",
		"plain/p.go":  "package plain\n\nimport _ \"example.com/drivers/blank\"\n",
		"driver/d.go": "package driver\n\nimport (\n\t\"example.com/drivers/names\"\n\t_ \"example.com/drivers/plain\"\n)\n\nfunc init() { names.Add(\"driver\") }\n",
	}})
	c := start(t)
	c.value("%pkg example.com/drivers@v1.0.0")
	for range 2 {
		if got := c.value("import (\"fmt\"; _ \"example.com/drivers/driver\"; \"example.com/drivers/names\")\nfmt.Sprint(names.All)"); got != "[blank driver]" {
			t.Errorf("initialised are %s, expected [blank driver]", got)
		}
	}
}

// TestPkgEmbeds: a package of a module reads the files that it embeds, by each kind of
// variable and pattern.
func TestPkgEmbeds(t *testing.T) {
	if _, err := built(); err != nil { // while other modules are available
		t.Fatal(err)
	}
	ownToolchain(t)
	moduletest.Serve(t, map[string]map[string]string{"example.com/site@v1.0.0": {
		"go.mod": "module example.com/site\n\ngo 1.24\n",
		"site.go": `package site

import "embed"

//go:embed a.txt
var Text string

type Page []byte

var (
	//go:embed "static/b.txt"
	Bytes []byte
	//go:embed a.txt
	Own Page

	Size = len(Text) + len(Bytes) // initialised after them
)

//go:embed static
//go:embed *.txt all:hidden
var Files embed.FS

func Line() int { return line }
`,
		"line.go": "package site\n\nvar line = 3\n",
		"a.txt":   "text \"of\" a", "static/b.txt": "of b", "static/deep/c.txt": "of c", "static/.no": "", "static/_no/d.txt": "", "hidden/.yes": "",
	}})
	c := start(t)
	c.value("%pkg example.com/site@v1.0.0")
	c.value("import (\"fmt\"; \"io/fs\"; \"example.com/site\")")
	for _, x := range [][2]string{
		{"site.Text", "text \"of\" a"}, {"string(site.Bytes)", "of b"}, {"string(site.Own)", "text \"of\" a"}, {"site.Size", "15"},
		{"names := []string{}\nerr := fs.WalkDir(site.Files, \".\", func(name string, _ fs.DirEntry, err error) error { names = append(names, name); return err })\nfmt.Sprint(names, err)",
			"[. a.txt hidden hidden/.yes static static/b.txt static/deep static/deep/c.txt] <nil>"},
		{"b, err := site.Files.ReadFile(\"static/deep/c.txt\")\nfmt.Sprint(string(b), \" \", err)", "of c <nil>"},
	} {
		if got := c.value(x[0]); got != x[1] {
			t.Errorf("%s is %s, want %s", x[0], got, x[1])
		}
	}
}

// ownToolchain puts the go command of the program's toolchain first in PATH: with an
// empty module cache, no go command can switch to that toolchain.
func ownToolchain(t *testing.T) {
	env := exec.Command("go", "env", "GOROOT")
	env.Env = append(os.Environ(), "GOTOOLCHAIN="+edited.Toolchain(runtime.Version()))
	root, err := env.Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(strings.TrimSpace(string(root)), "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestPkgWithoutToolchain: %pkg fails, and its error gives the reason.
func TestPkgWithoutToolchain(t *testing.T) {
	if _, err := built(); err != nil { // the build needs the toolchain
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	c := start(t)
	if e := c.run("%pkg example.com/geo"); e.Error == nil || e.Error.Value != "cell 1:1:6: %pkg: no Go toolchain: the go command is not in PATH, and modules are downloaded with it" {
		t.Errorf("the answer is %v", e.Error)
	}
}

// TestPkgBrokenDependency: a package that does not compile stays refused after another
// package has imported it, and so does each package that imports it.
func TestPkgBrokenDependency(t *testing.T) {
	if _, err := built(); err != nil { // while other modules are available
		t.Fatal(err)
	}
	ownToolchain(t)
	moduletest.Serve(t, map[string]map[string]string{"example.com/half@v1.0.0": {
		"go.mod":         "module example.com/half\n\ngo 1.24\n",
		"wrong/wrong.go": "package wrong\n\ntype T struct{ n Missing }\n\nvar V = T{}\n\nfunc F() int { return \"text\" }\n",
		"user/user.go":   "package user\n\nimport \"example.com/half/wrong\"\n\nvar W = wrong.V\n\nfunc G() int { return wrong.F() }\n",
		"more/more.go":   "package more\n\nimport \"example.com/half/user\"\n\nfunc H() int { return user.G() }\n",
		"good/good.go":   "package good\n\nfunc F() int { return 4 }\n",
	}})
	c := start(t)
	c.value("%pkg example.com/half@v1.0.0")
	for range 2 {
		for _, code := range []string{
			"import \"example.com/half/user\"\nuser.G()", "import \"example.com/half/wrong\"\nwrong.F()", "wrong.V", "user.W",
			"import \"example.com/half/more\"\nmore.H()", "import (\"example.com/half/good\"; \"example.com/half/user\")\ngood.F() + user.G()",
		} {
			if e := c.run(code); e.Error == nil || e.Error.Name != "compile error" {
				t.Errorf("%s: %+v %v, expected a compile error", code, e.Data, e.Error)
			}
		}
		if got := c.value("import \"example.com/half/good\"\ngood.F()"); got != "4" {
			t.Errorf("a package beside it gives %s, expected 4", got)
		}
	}
}
