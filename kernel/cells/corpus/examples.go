package corpus

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Example is an example function of Go's standard library whose output is known.
type Example struct {
	Name      string   // package and function, such as strings.ExampleCut
	Dir       string   // of its package
	Files     []string // the declarations of its file, and before it of others that it needs, without examples
	Func      string   // the declaration of the function
	Body      string
	Parts     []string // the statements of the body, and deferred calls in the order in which they run
	want      string
	unordered bool
}

// GoRoot returns the folder of the Go distribution of the go command.
func GoRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// goRoot is for environments: a program that was built with -trimpath does not know the folder.
var goRoot = sync.OnceValues(GoRoot)

// Examples reads the examples with known output of the packages that programs can
// import, from the files that the build constraints select.
func Examples(root string) (all []Example, err error) {
	src := filepath.Join(root, "src")
	err = filepath.WalkDir(src, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if slices.Contains([]string{"testdata", "internal", "vendor", "cmd"}, d.Name()) || strings.HasPrefix(d.Name(), "_") {
			return filepath.SkipDir
		}
		packages, err := testsOf(dir)
		for _, files := range packages {
			all = append(all, examplesOf(src, dir, files)...)
		}
		return err
	})
	return all, err
}

// testsOf parses the test files of a folder that the build constraints select, by package.
func testsOf(dir string) (packages [][]testFile, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for _, path := range names {
		if fits, err := build.Default.MatchFile(filepath.Split(path)); err != nil || !fits {
			continue // another file's constraint, or none that can be read
		}
		f, err := parseTest(path)
		if err != nil {
			return nil, err
		}
		i, ok := place[f.Name.Name]
		if !ok {
			i = len(packages)
			place[f.Name.Name], packages = i, append(packages, nil)
		}
		packages[i] = append(packages[i], f)
	}
	return packages, nil
}

// A testFile is a parsed test file of a package.
type testFile struct {
	text string
	fset *token.FileSet
	*ast.File
}

func parseTest(path string) (f testFile, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	f.text, f.fset = string(data), token.NewFileSet()
	f.File, err = parser.ParseFile(f.fset, path, data, parser.ParseComments)
	return f, err
}

func (f testFile) cut(from, to token.Pos) string {
	return f.text[f.fset.Position(from).Offset:f.fset.Position(to).Offset]
}

// examplesOf returns the examples of a folder's files of one package, in the order of the files.
func examplesOf(root, dir string, files []testFile) (list []Example) {
	pkg, _ := filepath.Rel(root, dir)
	name := files[0].Name.Name
	for _, f := range files {
		declarations := append(needed(f, files), f.withoutExamples())
		for _, e := range doc.Examples(f.File) {
			if e.Output == "" && !e.EmptyOutput {
				continue
			}
			fd := f.Scope.Lookup("Example" + e.Name).Decl.(*ast.FuncDecl)
			x := Example{Name: filepath.ToSlash(pkg) + "." + fd.Name.Name, Dir: dir, Files: declarations, Func: f.cut(fd.Pos(), fd.End()),
				Body: f.cut(fd.Body.Lbrace+1, fd.Body.Rbrace), want: strings.ReplaceAll(e.Output, name+".", "main."), unordered: e.Unordered}
			x.Parts = f.parts(fd.Body)
			list = append(list, x)
		}
	}
	return list
}

// withoutExamples are the declarations of a file but for its examples.
func (f testFile) withoutExamples() string {
	text := f.cut(f.Name.End(), f.FileEnd)
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && strings.HasPrefix(fd.Name.Name, "Example") {
			text = strings.Replace(text, f.cut(fd.Pos(), fd.End()), "", 1)
		}
	}
	return text
}

// parts are the statements of a body as cells. A cell runs the calls that it defers at its
// end, so those of the body are cells of their own at the end.
func (f testFile) parts(body *ast.BlockStmt) (parts []string) {
	var deferred []string
	for _, s := range body.List {
		if d, ok := s.(*ast.DeferStmt); ok {
			deferred = append(deferred, f.cut(d.Call.Pos(), d.Call.End()))
		} else {
			parts = append(parts, f.cut(s.Pos(), s.End()))
		}
	}
	slices.Reverse(deferred)
	return append(parts, deferred...)
}

// Form is a way to run an example.
type Form string

// The forms of an example.
const (
	Called     Form = "called"     // the function is declared and called
	Body       Form = "body"       // the body is a cell
	Statements Form = "statements" // each statement of the body is a cell
)

// Cells are the cells of an example in a form: those that declare, and those that print.
func (x Example) Cells(form Form) (declare, run []string) {
	switch form {
	case Called:
		name, _, _ := strings.Cut(strings.TrimPrefix(x.Func, "func "), "(")
		return append(slices.Clip(x.Files), x.Func), []string{name + "()"}
	case Body:
		return x.Files, []string{x.Body}
	}
	return x.Files, x.Parts
}

// Try runs the cells of an example in a form as often as times says. It returns how the
// example failed, "" if it printed each time what it prints as a compiled function.
func (x Example) Try(s *Session, form Form, times int) string {
	declare, run := x.Cells(form)
	for i := range times {
		failure, _, _ := RunAll(s, declare)
		if failure != "" {
			return fmt.Sprintf("run %d: declarations: %s", i+1, failure)
		}
		failure, _, out := RunAll(s, run)
		if failure != "" {
			return fmt.Sprintf("run %d: %s", i+1, failure)
		}
		if got := strings.TrimSpace(out); !x.prints(got) {
			return fmt.Sprintf("run %d: prints %.500q, expected %.500q", i+1, got, x.want)
		}
	}
	return ""
}

// twice tells how two passes of an example's cells differ from its output.
func (x Example) twice(passes [2]Printed) string {
	for i, p := range passes {
		if got := strings.TrimSpace(p.Stdout); !x.prints(got) {
			return fmt.Sprintf("run %d: prints %.500q, expected %.500q", i+1, got, x.want)
		}
	}
	return ""
}

// prints reports whether an output is that of the example, as package testing does.
func (x Example) prints(got string) bool {
	want := strings.TrimSpace(x.want)
	if !x.unordered {
		return got == want
	}
	return slices.Equal(slices.Sorted(strings.Lines(got+"\n")), slices.Sorted(strings.Lines(want+"\n")))
}

// TryAll runs examples in some forms, neighbours in one session; one that fails there runs
// again in a new session, and that outcome counts. Want selects the examples of a form. The
// outcomes of each form are in the order of the examples.
func TryAll(program string, examples []Example, forms []Form, want func(Form, Example) bool, times, jobs int) map[Form][]Outcome {
	outcomes := map[Form][]Outcome{}
	for _, list := range Each(inGroups(examples, jobs), jobs, func(group []Example) map[Form][]Outcome { return tryGroup(program, group, forms, want, times) }) {
		for form, of := range list {
			outcomes[form] = append(outcomes[form], of...)
		}
	}
	return outcomes
}

func tryGroup(program string, group []Example, forms []Form, want func(Form, Example) bool, times int) map[Form][]Outcome {
	r := reused{program: program, limit: 20 * time.Second}
	defer r.close()
	outcomes := map[Form][]Outcome{}
	for _, form := range forms {
		for _, x := range group {
			if want(form, x) {
				outcomes[form] = append(outcomes[form], Outcome{x.Name, r.try(x.Dir, func(s *Session) string { return x.Try(s, form, times) })})
			}
		}
	}
	return outcomes
}
