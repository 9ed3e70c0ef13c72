package main

import (
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/nbformat"
)

// text is a format string, and the first place where it stands.
type text struct{ format, place string }

// folders are those whose texts are translated; cells of all translated notebooks are too.
var folders = []string{"gpu/explain", "kernel/display", "ops/bench", "ops/concat", "ops/conv1d", "ops/conv2d", "ops/copyif", "ops/cute", "ops/fused", "ops/gelu", "ops/gemm", "ops/histogram", "ops/lab", "ops/ladder", "ops/pool", "ops/puzzles", "ops/reduce", "ops/results", "ops/scan", "ops/softmax", "ops/sort", "ops/sparse", "ops/transpose", "ops/triangles", "ops/vectoradd", "ops/vectorcopy"}

// left are files of these folders whose texts are errors, names of fonts, or verdicts on
// peers that need a GPU: they stay in English.
var left = []string{
	"kernel/display/attempt.go", "kernel/display/control.go", "kernel/display/interact.go", "kernel/display/render.go", "kernel/display/save.go", "kernel/display/value.go",
	"ops/bench/audit.go", "ops/bench/data.go", "ops/bench/own.go", "ops/bench/probe.go", "ops/bench/revision.go", "ops/bench/watch.go",
	"ops/gemm/sweep.go", "ops/triangles/graph.go",
	"ops/ladder/code_html.go", "ops/ladder/matrix.go", "ops/ladder/operands.go", "ops/ladder/operator.go", "ops/ladder/plan.go", "ops/ladder/string.go", "ops/ladder/loop/loop.go",
}

// extract returns the texts of folders and of the cells of translated notebooks, by format.
func extract(root string) ([]text, error) {
	found := map[string]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "peers" || d.Name() == "monitor" || d.Name() == "sample"):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			name, _ := filepath.Rel(root, path)
			if name = filepath.ToSlash(name); slices.Contains(left, name) || strings.HasSuffix(name, "/call.go") { // errors of calls
				return nil
			}
			source, err := os.ReadFile(path)
			if err == nil {
				textsOf(string(source), name, found)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := expectationTexts(root, "ops/gemm/notes.md", found); err != nil {
		return nil, err
	}
	notebooks, err := filepath.Glob(filepath.Join(root, "notebooks", "*.zh.ipynb"))
	if err != nil || len(notebooks) == 0 {
		return nil, fmt.Errorf("%s: %d translated notebooks: %v", filepath.Join(root, "notebooks"), len(notebooks), err)
	}
	for _, path := range notebooks {
		if err := notebookTexts(path, found); err != nil {
			return nil, err
		}
	}
	var all []text
	for format, place := range found {
		all = append(all, text{format, place})
	}
	slices.SortFunc(all, func(a, b text) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.format, b.format)) })
	return all, nil
}

// expectationTexts adds the cells of tables with expectations, which notebooks quote.
func expectationTexts(root, page string, found map[string]string) error {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return err
	}
	heading := ""
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case !strings.HasPrefix(line, "|"):
			heading = ""
			continue
		case heading == "":
			heading = line
			continue
		case !strings.Contains(heading, "| expected"):
			continue
		}
		for j, cell := range strings.Split(strings.Trim(line, "| "), "|") {
			if _, after, ok := strings.Cut(cell, "predicted in "); ok {
				_, cell, _ = strings.Cut(after, ": ")
			}
			if cell = strings.TrimSpace(cell); j > 0 && words3.MatchString(cell) && found[cell] == "" {
				found[cell] = fmt.Sprintf("%s:%d", page, i+1)
			}
		}
	}
	return nil
}

var words3 = regexp.MustCompile(`[a-z]{3}`)

// notebookTexts adds the texts of a notebook's Go cells.
func notebookTexts(path string, found map[string]string) error {
	nb, err := nbformat.Read(path)
	if err != nil {
		return err
	}
	for _, c := range nb.Cells {
		if c.Type == nbformat.Code && !strings.HasPrefix(c.Source, "%%") {
			textsOf(c.Source, filepath.Base(path)+" "+c.ID, found)
		}
	}
	return nil
}

// word is one token of Go, and the line where it stands.
type word struct {
	tok  token.Token
	lit  string
	line int
}

func wordsOf(source string) (all []word) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), func(token.Position, string) {}, 0) // magics of cells are no Go
	for {
		at, tok, lit := s.Scan()
		if tok == token.EOF {
			return all
		}
		all = append(all, word{tok, lit, file.Line(at)})
	}
}

// shownBy are the functions and fields whose texts are displayed, whatever they look like.
// Other texts count if they have a blank.
var shownBy = regexp.MustCompile(`^(Say|Claim|Find|Provided|SetTitle|Note|NewTable|Row|Title|Subtitle|Axis|XAxis|YAxis|Legend|Notes|Adds|Task|Hints|Why)$`)

// hiddenBy are the functions whose texts no table, figure or lesson shows.
var hiddenBy = regexp.MustCompile(`^(Errorf|New|panic|Error|Panic|Sprint|Println|Printf|Print|Fprintln|Fprint|MustCompile|Contains|HasPrefix|HasSuffix|TrimPrefix|TrimSuffix|Cut|CutPrefix|CutSuffix|Replace|ReplaceAll|NewReplacer|Split|Trim|TrimLeft|TrimRight|Join|Errors|Note|Explain|Code|Diff|Published|Quote|check|Check|must|verify)$`)

// textsOf adds the texts of a source.
func textsOf(source, place string, found map[string]string) {
	words := wordsOf(source)
	var within []string // the function or field of each open bracket
	field := ""
	for i := 0; i < len(words); i++ {
		switch w := words[i]; w.tok {
		case token.IMPORT:
			i = skipImport(words, i)
		case token.LPAREN, token.LBRACE, token.LBRACK:
			name := ""
			if i > 0 && words[i-1].tok == token.IDENT && w.tok == token.LPAREN {
				if name = words[i-1].lit; quotes(words[:i]) || name == "Task" { // course.Task("map")
					name = "Quote"
				}
			} else if field != "" {
				name = field
			}
			within, field = append(within, name), ""
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if len(within) > 0 {
				within = within[:len(within)-1]
			}
		case token.COMMA, token.SEMICOLON:
			field = ""
		case token.COLON:
			if i > 0 && words[i-1].tok == token.IDENT {
				if field = words[i-1].lit; field == "title" { // of a column of ops/results
					field = "Title"
				}
			}
		case token.STRING:
			format, next := chain(words, i)
			if by := cmp.Or(field, last(within)); isText(format, by, within) && !isTag(words, i) && found[format] == "" {
				found[format] = fmt.Sprintf("%s:%d", place, w.line)
			}
			i = next - 1
		}
	}
}

// quotes reports whether a call quotes the notes of an operator, gemm.Note(...): its
// text is the beginning of a paragraph.
func quotes(words []word) bool {
	n := len(words)
	if n < 3 || words[n-1].lit != "Note" {
		return false
	}
	return operators.MatchString(words[n-3].lit) || n >= 5 && words[n-5].lit == "ops"
}

// operators are the variables of cells that hold an operator.
var operators = regexp.MustCompile(`^(gemm|reduce|transpose|softmax|scan|sort|histogram|copyif)$`)

func skipImport(words []word, i int) int {
	if i+1 < len(words) && words[i+1].tok == token.LPAREN {
		for i < len(words) && words[i].tok != token.RPAREN {
			i++
		}
		return i
	}
	return i + 1
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// isTag reports whether a string is the tag of a field: it follows a type.
func isTag(words []word, i int) bool {
	return strings.HasPrefix(words[i].lit, "`") && i > 0 && (words[i-1].tok == token.IDENT || words[i-1].tok == token.RBRACK)
}

// chain joins the literal at i and those that are added to it. What is no literal becomes
// %s. It returns the position behind the last part.
func chain(words []word, i int) (format string, next int) {
	if i > 0 && words[i-1].tok == token.ADD {
		format = "%s"
	}
	for {
		s, err := strconv.Unquote(words[i].lit)
		if err != nil {
			return format, i + 1
		}
		format += s
		if i++; i >= len(words) || words[i].tok != token.ADD {
			return format, i
		}
		for { // operands that are no literal
			if i++; i < len(words) && words[i].tok == token.STRING {
				break
			}
			format += "%s"
			depth := 0
			for ; i < len(words); i++ {
				switch words[i].tok {
				case token.LPAREN, token.LBRACE, token.LBRACK:
					depth++
					continue
				case token.RPAREN, token.RBRACE, token.RBRACK:
					if depth--; depth >= 0 {
						continue
					}
				case token.ADD:
					if depth > 0 {
						continue
					}
				case token.COMMA, token.SEMICOLON, token.COLON:
					if depth > 0 {
						continue
					}
				default:
					continue
				}
				break
			}
			if i >= len(words) || words[i].tok != token.ADD {
				return format, i
			}
		}
	}
}

var (
	latin   = regexp.MustCompile(`[a-z]{2}|[A-Z][a-z]`)
	name    = regexp.MustCompile(`^[\w./:%@=+\-\[\]()*<>]*[_/.=\[\]()%<>0-9][\w./:%@=+\-\[\]()*<>]*$|^[A-Z0-9_]+$`)
	blanks  = regexp.MustCompile(`[A-Za-z,;:)] +[A-Za-z(%]`)
	someTag = regexp.MustCompile("^[a-z_]+:\"|</?[a-z%]+[ >]|^#|^- |[{};]\\s*$|\\\\[sdw]|^[-a-z]+: [-a-z]+$|^(;|style=|display: |const |int %s|Shape<|__global__)|```|^\\[\\]byte")
)

// leastLetters is how many letters a format has outside its verbs, so that a formatted
// text can be recognised.
const leastLetters = 5

// isText reports whether a literal is a text for readers, and not a name, a path, a unit or
// a piece of code.
func isText(s, by string, within []string) bool {
	s = strings.TrimSpace(s)
	plain := verb.ReplaceAllString(s, "")
	switch {
	case strings.Contains(s, "%w") || !latin.MatchString(plain) || someTag.MatchString(s) || plain != s && len(strings.ReplaceAll(plain, " ", "")) < leastLetters:
		return false
	case shownBy.MatchString(by) && !(by == "Note" && within != nil && hidden(within)):
		return !name.MatchString(s)
	case hidden(within):
		return false
	}
	return blanks.MatchString(s)
}

func hidden(within []string) bool {
	return slices.ContainsFunc(within, func(f string) bool { return f != "Note" && hiddenBy.MatchString(f) })
}

var verb = regexp.MustCompile(`%%|%[-+#0]*(?:\[\d+\])?\d*(?:\.\d+)?[vTtbcdoOqxXUeEfFgGs]`)
