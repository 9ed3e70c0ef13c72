// The gonumtests command runs gonum's own tests as cells:
//
//	go run ./kernel/cells/gonumtests [-v] [-plan] [-limit 5m] [PACKAGE...]
//
// A package is a path below gonum.org/v1/gonum; the default is all packages that cells
// can import and that have tests. The command reads the test files from the module
// cache and makes one cell of their declarations. The cell imports the compiled package
// with a dot import. A second cell lets package testing run the tests.
//
// Tests that use unexported names of their package, or packages that cells cannot
// import or add as source by %pkg, cannot be cells. They are counted separately, by cause.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/packages"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

const gonum = "gonum.org/v1/gonum/"

// offered are the packages that are tested by default.
var offered = []string{"floats", "floats/scalar", "stat", "stat/distuv", "mat", "blas/blas32", "blas/blas64", "optimize"}

// importable are the packages of gonum that cells can import in compiled form.
var importable = []string{"blas", "blas/blas32", "blas/blas64", "floats", "floats/scalar", "lapack", "lapack/lapack64", "mat", "optimize", "stat", "stat/distuv"}

// added are packages of gonum that the tests use, and that %pkg adds to cells as source.
// integrate/quad is none of them: its integrals take minutes as cells.
var added = []string{"blas/testblas", "optimize/functions"}

func main() {
	limit := flag.Duration("limit", 5*time.Minute, "longest time of a package")
	plan := flag.Bool("plan", false, "run nothing: count the tests that can be cells, and the causes of the others")
	verbose := flag.Bool("v", false, "print what tests that fail print, and what is left out")
	flag.Parse()
	list := flag.Args()
	if len(list) == 0 {
		list = offered
	}
	if err := run(list, *limit, *plan, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "gonumtests:", err)
		os.Exit(1)
	}
}

func run(list []string, limit time.Duration, plan, verbose bool) error {
	cells := ""
	if !plan {
		var err error
		if cells, err = cellbuild.Cells(context.Background(), os.Stderr); err != nil {
			return err
		}
	}
	var total counts
	fmt.Println("package, tests: passed, failed, skipped, not possible as cells")
	for _, path := range list {
		variants, err := load(gonum + path)
		if err != nil {
			return err
		}
		var sum counts
		for _, v := range variants {
			sum.add(v.run(cells, limit, verbose))
		}
		fmt.Printf("%s, %d: %v\n", path, sum.tests, sum)
		for _, line := range sum.why() {
			fmt.Println(line)
		}
		total.add(sum)
	}
	fmt.Printf("all, %d: %v\n", total.tests, total)
	if total.failed > 0 {
		return fmt.Errorf("%d tests fail", total.failed)
	}
	return nil
}

// counts are numbers of tests.
type counts struct {
	tests, passed, failed, skipped, left int
	causes                               map[string]int // of those that are left
}

func (c *counts) add(d counts) {
	c.tests += d.tests
	c.passed += d.passed
	c.failed += d.failed
	c.skipped += d.skipped
	c.left += d.left
	if c.causes == nil {
		c.causes = map[string]int{}
	}
	for why, n := range d.causes {
		c.causes[why] += n
	}
}

// why lists the causes, the most frequent first.
func (c counts) why() (lines []string) {
	for _, why := range slices.SortedFunc(maps.Keys(c.causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.causes[b], c.causes[a]), strings.Compare(a, b))
	}) {
		lines = append(lines, fmt.Sprintf("    %d not possible: they %s", c.causes[why], why))
	}
	return lines
}

func (c counts) String() string {
	return fmt.Sprintf("%d, %d, %d, %d", c.passed, c.failed, c.skipped, c.left)
}

// variant is a package of test files: of the package's own name, or NAME_test.
type variant struct {
	path  string
	pkg   *packages.Package
	tests []*ast.File
}

// load reads the test files of a package.
func load(path string) (list []variant, err error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Tests: true,
	}, path)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		v := variant{path: path, pkg: p}
		for _, f := range p.Syntax {
			if strings.HasSuffix(p.Fset.Position(f.Package).Filename, "_test.go") {
				v.tests = append(v.tests, f)
			}
		}
		if len(v.tests) > 0 {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no test files in the module cache", path)
	}
	return list, nil
}

// declared returns the objects that a declaration of a test file declares.
func (v variant) declared(d ast.Decl) (objects []types.Object) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		objects = append(objects, v.pkg.TypesInfo.Defs[d.Name])
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				objects = append(objects, v.pkg.TypesInfo.Defs[s.Name])
			case *ast.ValueSpec:
				for _, n := range s.Names {
					objects = append(objects, v.pkg.TypesInfo.Defs[n])
				}
			}
		}
	}
	return objects
}

// possible returns the declarations of the test files that can be cells: they use,
// directly and indirectly, only exported names of the package and importable packages.
// For each of the others, causes has the reason of its first unusable name.
func (v variant) possible() (decls []ast.Decl, imports, causes map[string]string) {
	imports, causes = map[string]string{}, map[string]string{}
	gone := map[types.Object]string{}
	var all []ast.Decl
	for _, f := range v.tests {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
				all = append(all, d)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		all = slices.DeleteFunc(all, func(d ast.Decl) bool {
			cause := v.cause(d, gone)
			if cause == "" {
				return false
			}
			for _, o := range v.declared(d) {
				if o != nil {
					gone[o], causes[o.Name()] = cause, cause
				}
			}
			changed = true
			return true
		})
	}
	for _, d := range all {
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if p, ok := v.pkg.TypesInfo.Uses[id].(*types.PkgName); ok {
					imports[id.Name] = p.Imported().Path()
				}
			}
			return true
		})
	}
	return all, imports, causes
}

// Why a declaration cannot be a cell.
const (
	unexported = "use names that %s does not export"
	positional = "set fields that %s does not export"
	qualified  = "declare interfaces with methods that are not exported"
	attached   = "declare methods of types of %s"
	missing    = "use %s, which cells cannot import"
	untyped    = "use packages that are not in the module cache"
)

// cause returns why a declaration cannot be a cell, "" if it can. Gone has the causes of
// the names that are no cells.
func (v variant) cause(d ast.Decl, gone map[types.Object]string) (cause string) {
	own := strings.TrimPrefix(v.path, gonum)
	if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv != nil { // a method belongs to its type
		at := base(v.pkg.TypesInfo.TypeOf(fd.Recv.List[0].Type))
		if !v.inTests(at) {
			return fmt.Sprintf(attached, own)
		}
		for o, why := range gone {
			if o.Pos() == at {
				return why
			}
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if cause != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.CompositeLit:
			if len(n.Elts) > 0 && v.hidden(n) {
				cause = fmt.Sprintf(positional, own)
			}
		case *ast.InterfaceType: // inside the package such a method has a name qualified by the package
			if slices.ContainsFunc(n.Methods.List, func(m *ast.Field) bool { return len(m.Names) > 0 && !m.Names[0].IsExported() }) {
				cause = qualified
			}
		case *ast.Ident:
			use := v.pkg.TypesInfo.Uses[n]
			if cause = v.unusable(use, gone); cause == "" && use == nil && v.pkg.TypesInfo.Defs[n] == nil && n.Name != "_" && unresolved(v, n) {
				cause = untyped
			}
		}
		return cause == ""
	})
	return cause
}

// unusable returns why a cell cannot use an object, "" if it can.
func (v variant) unusable(o types.Object, gone map[types.Object]string) string {
	if o == nil || o.Pkg() == nil {
		return ""
	}
	if why := gone[o]; why != "" {
		return why
	}
	if p, ok := o.(*types.PkgName); ok {
		if path := p.Imported().Path(); !available(path) {
			return fmt.Sprintf(missing, strings.TrimPrefix(path, gonum))
		}
		return ""
	}
	if o.Pkg().Path() == v.path && !v.inTests(o.Pos()) && !o.Exported() {
		return fmt.Sprintf(unexported, strings.TrimPrefix(v.path, gonum))
	}
	return ""
}

// inTests reports whether a position is in a test file.
func (v variant) inTests(pos token.Pos) bool {
	return slices.ContainsFunc(v.tests, func(f *ast.File) bool { return f.FileStart <= pos && pos < f.FileEnd })
}

// unresolved reports whether a name has no meaning because the package was not fully
// type-checked: a dependency of its tests is not in the module cache.
func unresolved(v variant, id *ast.Ident) bool {
	return slices.ContainsFunc(v.pkg.TypeErrors, func(e types.Error) bool { return e.Pos <= id.Pos() && id.Pos() < e.Pos+1 })
}

// hidden reports whether a literal sets unexported fields of the package by position.
func (v variant) hidden(l *ast.CompositeLit) bool {
	t := v.pkg.TypesInfo.TypeOf(l)
	if _, keyed := l.Elts[0].(*ast.KeyValueExpr); keyed || t == nil {
		return false
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != v.path || slices.ContainsFunc(v.tests, func(f *ast.File) bool { return f.FileStart <= n.Obj().Pos() && n.Obj().Pos() < f.FileEnd }) {
		return false
	}
	s, ok := n.Underlying().(*types.Struct)
	for i := 0; ok && i < s.NumFields(); i++ {
		if !s.Field(i).Exported() {
			return true
		}
	}
	return false
}

// base returns the name of a receiver's type.
func base(t types.Type) token.Pos {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Pos()
	}
	return token.NoPos
}

// available reports whether cells can import a package.
func available(path string) bool {
	if rest, ok := strings.CutPrefix(path, gonum); ok {
		return slices.Contains(importable, rest) || slices.Contains(added, rest)
	}
	p, err := build.Import(path, "", build.FindOnly)
	return err == nil && p.Goroot
}

// run runs the tests of a variant in a new session, and only counts them without a
// cells program.
func (v variant) run(cells string, limit time.Duration, verbose bool) (c counts) {
	for _, f := range v.tests {
		c.tests += len(testsOf(f.Decls))
	}
	decls, imports, causes := v.possible()
	tests := testsOf(decls)
	c.causes = map[string]int{}
	for _, f := range v.tests {
		for _, name := range testsOf(f.Decls) {
			if !slices.Contains(tests, name) {
				c.causes[causes[name]]++
			}
		}
	}
	if c.left = c.tests - len(tests); len(tests) == 0 || cells == "" {
		return c
	}
	s, err := cellproc.Start(cellproc.Config{Program: cells})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	var mu sync.Mutex
	var out strings.Builder
	sink := func(e cellproto.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Type == cellproto.Stream {
			out.WriteString(e.Text)
		}
	}
	timer := time.AfterFunc(limit, s.Kill)
	defer timer.Stop()
	for _, path := range imports {
		if rest, ok := strings.CutPrefix(path, gonum); ok && slices.Contains(added, rest) {
			done, err := s.Execute(context.Background(), "%pkg "+path+"@"+v.pkg.Module.Version, 1, sink)
			if err != nil || done.Error != nil {
				fmt.Printf("%s: %%pkg %s: %v %v\n", v.pkg.Name, path, err, done.Error)
			}
		}
	}
	done, err := s.Execute(context.Background(), v.declarations(decls, imports), 1, sink)
	if err != nil || done.Error != nil {
		fmt.Printf("%s: the declarations of the tests do not run: %v %v\n", v.pkg.Name, err, done.Error)
		if done.Error != nil && verbose {
			fmt.Println(strings.Join(done.Error.Traceback, "\n"))
		}
		c.failed = len(tests)
		return c
	}
	s.Execute(context.Background(), testingMain(tests), 2, sink)
	mu.Lock()
	defer mu.Unlock()
	return v.judge(c, tests, out.String(), verbose)
}

// declarations is a cell that imports the package and declares its tests.
func (v variant) declarations(decls []ast.Decl, imports map[string]string) string {
	var text strings.Builder
	text.WriteString("import (\"flag\"\n\"testing\"\n")
	if !strings.HasSuffix(v.pkg.Name, "_test") {
		fmt.Fprintf(&text, ". %q\n", v.path)
	}
	for name, path := range imports {
		if name != "flag" && name != "testing" {
			fmt.Fprintf(&text, "%s %q\n", name, path)
		}
	}
	text.WriteString(")\n")
	for _, d := range decls {
		var b bytes.Buffer
		if err := format.Node(&b, v.pkg.Fset, d); err != nil {
			panic(err) // it has already been parsed
		}
		text.WriteString(b.String() + "\n\n")
	}
	return text.String()
}

// testingMain is a cell that runs the tests. testing.Main ends the program.
func testingMain(tests []string) string {
	var main strings.Builder
	main.WriteString("testing.Init()\nflag.CommandLine.Parse([]string{\"-test.v\"})\ntesting.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{\n")
	for _, name := range tests {
		fmt.Fprintf(&main, "{%q, %s},\n", name, name)
	}
	main.WriteString("}, nil, nil)\n")
	return main.String()
}

var (
	verdict = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\w+)`)
	panics  = regexp.MustCompile(`(?m)^panic in a function that compiled code called: .*\n((?:    .*\n)*)`)
	inTest  = regexp.MustCompile(`, in (Test\w+)`)
)

// judge counts the results in the output of package testing. Package testing does not
// see a panic of a cell's function: the engine reports the panic, and judge counts its
// test as failed. A panic whose frames name no test counts as a separate failure.
func (v variant) judge(c counts, tests []string, out string, verbose bool) counts {
	got := map[string]string{}
	for _, m := range verdict.FindAllStringSubmatch(out, -1) {
		got[m[2]] = m[1]
	}
	for _, m := range panics.FindAllStringSubmatch(out, -1) {
		if test := inTest.FindStringSubmatch(m[1]); test != nil {
			got[test[1]] = "panic"
		} else {
			c.failed++
			fmt.Printf("    %s", m[0])
		}
	}
	for _, name := range tests {
		switch got[name] {
		case "PASS":
			c.passed++
		case "SKIP":
			c.skipped++
		default:
			c.failed++
			fmt.Printf("    %s fails\n", name)
		}
	}
	if verbose && c.failed > 0 {
		fmt.Println(out)
	}
	return c
}

// testsOf returns the names of the tests among declarations.
func testsOf(decls []ast.Decl) (names []string) {
	for _, d := range decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && strings.HasPrefix(fd.Name.Name, "Test") && len(fd.Type.Params.List) == 1 {
			names = append(names, fd.Name.Name)
		}
	}
	return names
}
