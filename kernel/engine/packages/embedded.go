//go:build !js

package packages

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/engine/rewrite"
)

const embedDirective = "//go:embed "

// embedding gives the variables of a package's file that embed files their values: calls
// that read the files as the package is initialised. Lines of the file do not change.
func embedding(file string, text []byte) []byte {
	if !bytes.Contains(text, []byte(embedDirective)) {
		return text
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil { // the engine reports the error
		return text
	}
	offset := func(p token.Pos) int { return fset.PositionFor(p, false).Offset }
	var out bytes.Buffer
	done := offset(f.Name.End())
	out.Write(text[:done])
	fmt.Fprintf(&out, "; import %s %q", rewrite.RuntimeName, rewrite.RuntimePath)
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			doc := v.Doc
			if !g.Lparen.IsValid() {
				doc = g.Doc
			}
			patterns := embedPatterns(doc)
			if len(patterns) == 0 || len(v.Values) > 0 || v.Type == nil {
				continue
			}
			end := offset(v.End())
			out.Write(text[done:end])
			out.WriteString(" = " + embedded(filepath.Dir(file), patterns, string(text[offset(v.Type.Pos()):offset(v.Type.End())])))
			done = end
		}
	}
	out.Write(text[done:])
	return out.Bytes()
}

// embedPatterns are the patterns of the directives above a variable.
func embedPatterns(doc *ast.CommentGroup) (patterns []string) {
	if doc == nil {
		return nil
	}
	for _, c := range doc.List {
		rest, ok := strings.CutPrefix(c.Text, embedDirective)
		for rest = strings.TrimSpace(rest); ok && rest != ""; rest = strings.TrimSpace(rest) {
			word, _, _ := strings.Cut(rest, " ")
			if quoted, err := strconv.QuotedPrefix(rest); err == nil {
				word = quoted
			}
			rest = rest[len(word):]
			if name, err := strconv.Unquote(word); err == nil {
				word = name
			}
			patterns = append(patterns, word)
		}
	}
	return patterns
}

// embedded is the value of a variable of a type that embeds files of a folder.
func embedded(dir string, patterns []string, typ string) string {
	names := embeddedNames(dir, patterns)
	if _, name, ok := strings.Cut(typ, "."); !ok || name != "FS" {
		if len(names) != 1 { // the go command has reported it
			return fmt.Sprintf("%s(%q)", typ, "")
		}
		return fmt.Sprintf("%s(%s.Embedded(%q))", typ, rewrite.RuntimeName, filepath.Join(dir, names[0]))
	}
	call := fmt.Sprintf("%s.EmbeddedFS(%q", rewrite.RuntimeName, dir)
	for _, name := range names {
		call += fmt.Sprintf(", %q", name)
	}
	return call + ").(" + typ + ")"
}

// embeddedNames are the files that patterns choose, by their paths in the folder. A folder
// stands for its files, without those whose names begin with . or _ unless the pattern
// begins with all:.
func embeddedNames(dir string, patterns []string) (names []string) {
	for _, pattern := range patterns {
		pattern, all := strings.CutPrefix(pattern, "all:")
		roots, _ := fs.Glob(os.DirFS(dir), path.Clean(pattern)) // the go command reports a bad pattern
		for _, root := range roots {
			fs.WalkDir(os.DirFS(dir), root, func(name string, d fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return nil
				case name != root && !all && strings.ContainsAny(d.Name()[:1], "._"):
					if d.IsDir() {
						return fs.SkipDir
					}
				case d.Type().IsRegular():
					names = append(names, name)
				}
				return nil
			})
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
