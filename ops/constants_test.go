package ops

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A constant of Go that repeats one of the CUDA C++ names it in its comment, and the files in
// the comment of its block:
//
//	// Constants of conv2d_wide.cu.
//	const (
//		wideColumns = 408 // = first_columns + other_columns: of a warpgroup
//	)
//
// maxntid(ENTRY) is the number of threads of a block in an entry's PTX.
func TestConstantsOfCUDA(t *testing.T) {
	compared := 0
	for _, folder := range folders() {
		compared += compareConstants(t, folder)
	}
	if t.Logf("%d constants are those of the CUDA C++", compared); compared < 60 {
		t.Errorf("%d constants name one of the CUDA C++, expected at least 60", compared)
	}
}

// repeated is a constant of Go, and the expression of CUDA C++ that it repeats.
type repeated struct {
	name, expression string
	value            constant.Value
	files            []string
	place            token.Position
}

// compareConstants compares the constants of a folder, and returns how many there are.
func compareConstants(t *testing.T, folder string) int {
	t.Helper()
	all := repeatedConstants(t, folder)
	for _, r := range all {
		want, err := evaluate(folder, r.files, r.expression)
		if err != nil {
			t.Errorf("%v: %s = %s of %s: %v", r.place, r.name, r.expression, strings.Join(r.files, ", "), err)
		} else if !constant.Compare(r.value, token.EQL, want) {
			t.Errorf("%v: %s is %v, expected %v, which is %s of %s", r.place, r.name, r.value, want, r.expression, strings.Join(r.files, ", "))
		}
	}
	return len(all)
}

var (
	cudaFile   = regexp.MustCompile(`\b\w+\.cuh?\b`)
	cudaEquals = regexp.MustCompile(`^// = ([^:\n]+)`)
)

// repeatedConstants are those of a folder whose comment begins with "= ".
func repeatedConstants(t *testing.T, folder string) (all []repeated) {
	t.Helper()
	set := token.NewFileSet()
	names, err := filepath.Glob("../" + folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// Constants need no import; what else does not type-check is of no concern here.
	config := types.Config{Error: func(error) {}}
	info := types.Info{Defs: map[*ast.Ident]types.Object{}}
	config.Check(folder, set, files, &info)
	for _, f := range files {
		for _, d := range f.Decls {
			block, is := d.(*ast.GenDecl)
			if !is || block.Tok != token.CONST {
				continue
			}
			of, before := cudaFile.FindAllString(block.Doc.Text(), -1), len(all)
			for _, s := range block.Specs {
				spec := s.(*ast.ValueSpec)
				m := cudaEquals.FindStringSubmatch(commentOf(spec))
				if m == nil {
					continue
				}
				c := info.Defs[spec.Names[0]].(*types.Const)
				all = append(all, repeated{c.Name(), strings.TrimSpace(m[1]), constant.ToInt(c.Val()), of, set.Position(spec.Pos())})
			}
			if strings.HasPrefix(block.Doc.Text(), "Constants of ") && before == len(all) {
				t.Errorf("%v: no constant of the block names one of the CUDA C++, as in `// = tile_rows: ...`", set.Position(block.Pos()))
			}
		}
	}
	return all
}

func commentOf(spec *ast.ValueSpec) string {
	if spec.Comment == nil {
		return ""
	}
	return spec.Comment.List[0].Text
}

var (
	cudaConstants = regexp.MustCompile(`(?m)^(?:static )?const(?:expr)? (?:unsigned|int) ([^;]+);`)
	cudaDefine    = regexp.MustCompile(`(?m)^#define ([A-Z]\w*) (\d\w*)$`)
	cudaInclude   = regexp.MustCompile(`(?m)^#include "(.+)"`)
	unsigned      = regexp.MustCompile(`\b(0x[0-9a-fA-F]+|\d+)u\b`)
	maxntid       = regexp.MustCompile(`maxntid\((\w+)\)`)
)

// evaluate is the value of an expression of CUDA C++ with constants of some files and of
// those that they include. Integer expressions of C++ are such of Go.
func evaluate(folder string, files []string, expression string) (constant.Value, error) {
	embedded := embeddedOf(folder)
	constants, seen := map[string]string{}, map[string]bool{}
	define := func(name, of string) error {
		of = strings.ReplaceAll(unsigned.ReplaceAllString(of, "$1"), "~", "^")
		if before, is := constants[name]; is && before != of {
			return fmt.Errorf("%s is %s and %s: name one of the files", name, before, of)
		}
		constants[name] = of
		return nil
	}
	for len(files) > 0 {
		name := files[0]
		files = files[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		text, err := fs.ReadFile(embedded, name)
		if err != nil {
			return nil, err
		}
		for _, m := range cudaInclude.FindAllStringSubmatch(string(text), -1) {
			if _, err := fs.Stat(embedded, m[1]); err == nil {
				files = append(files, m[1])
			}
		}
		for _, m := range cudaConstants.FindAllStringSubmatch(string(text), -1) {
			for _, one := range strings.Split(m[1], ", ") {
				name, value, _ := strings.Cut(one, " = ")
				err = errors.Join(err, define(name, value))
			}
		}
		for _, m := range cudaDefine.FindAllStringSubmatch(string(text), -1) {
			err = errors.Join(err, define(m[1], m[2]))
		}
		if err != nil {
			return nil, err
		}
	}
	for _, m := range maxntid.FindAllStringSubmatch(expression, -1) {
		threads, err := threadsOf(folder, m[1])
		if err != nil {
			return nil, err
		}
		expression = strings.ReplaceAll(expression, m[0], threads)
	}
	program := "package cuda\nconst value = " + expression + "\n"
	for name, of := range constants {
		program += "const " + name + " = " + of + "\n"
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "cuda.go", program, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	config := types.Config{Error: func(error) {}} // a constant that this expression does not need may be no integer
	cuda, _ := config.Check("cuda", set, []*ast.File{f}, nil)
	value := constant.ToInt(cuda.Scope().Lookup("value").(*types.Const).Val())
	if value.Kind() == constant.Unknown {
		return nil, errors.New("not a constant of these files")
	}
	return value, nil
}

func embeddedOf(folder string) fs.FS {
	for _, o := range Operators() {
		if o.Folder == folder {
			return o.Files
		}
	}
	return nil
}

// threadsOf is the number of threads of a block in the PTX of an entry.
func threadsOf(folder, entry string) (string, error) {
	bounds := regexp.MustCompile(`(?s)\.entry ` + entry + `\([^)]*\)\s*\.maxntid (\d+),`)
	for _, o := range Operators() {
		if o.Folder != folder {
			continue
		}
		for _, module := range o.Modules() {
			all, err := o.PTXFiles(module)
			if err != nil {
				return "", err
			}
			for _, f := range all {
				if m := bounds.FindStringSubmatch(f.Text); m != nil {
					return m[1], nil
				}
			}
		}
	}
	return "", fmt.Errorf("no entry %s with .maxntid in %s", entry, folder)
}
