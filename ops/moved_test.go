package ops

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/leaf/release"
)

var movedRow = regexp.MustCompile("(?m)^\\| `(\\w+)\\.(\\w+)` \\| `(\\w+)\\.(\\w+)` \\| \\S+ \\| (\\S+) \\|$")

// declared are the exported names that the Go files of a folder declare, other than methods.
func declared(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names = append(names, s.Name.Name)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names = append(names, name.Name)
						}
					}
				}
			}
		}
	}
	return names
}

// Each alias of the page exists, and so does the name that it stands for; an alias whose
// last version is over is removed from both.
func TestMovedNamesKeepAnAlias(t *testing.T) {
	text, err := os.ReadFile("moved.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := movedRow.FindAllStringSubmatch(string(text), -1)
	if lines := strings.Count(string(text), "\n| `"); len(rows) == 0 || len(rows) != lines {
		t.Fatalf("%d of %d rows are `PACKAGE.NAME`, `PACKAGE.NAME`, version, version", len(rows), lines)
	}
	for _, row := range rows {
		for _, name := range [][2]string{{row[1], row[2]}, {row[3], row[4]}} {
			folder := path.Join("..", "ops", strings.Replace(name[0], "ops", ".", 1))
			if !slices.Contains(declared(t, folder), name[1]) {
				t.Errorf("moved.md: no %s.%s", name[0], name[1])
			}
		}
		if until := row[5]; until != "-" && until == release.Version {
			t.Errorf("moved.md: %s.%s is an alias until %s, this version: remove it", row[1], row[2], until)
		}
	}
}
