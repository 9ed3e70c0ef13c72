package nbformat

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "copy code, ids and tags of notebooks into their translations")

// updateTranslations keeps translations equal to their originals; prose that is new stays
// in English, and the test fails until it is translated.
const updateTranslations = "go test ./kernel/nbformat -run Translations -update"

// TestTranslations compares each translated notebook X.zh.ipynb with X.ipynb. The code
// cells are the same. Prose keeps the names, figures and links of the original.
func TestTranslations(t *testing.T) {
	root := filepath.Join("..", "..", "notebooks")
	translated, err := filepath.Glob(filepath.Join(root, "*.zh.ipynb"))
	if err != nil || len(translated) == 0 {
		t.Fatalf("%d translated notebooks: %v", len(translated), err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.zh.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range translated {
		if !strings.Contains(string(readme), "]("+filepath.Base(path)+")") {
			t.Errorf("notebooks/README.zh.md has no link to %s: add it to the table", filepath.Base(path))
		}
		original := strings.TrimSuffix(path, ".zh.ipynb") + ".ipynb"
		if *update {
			if err := followed(readNotebook(t, original), readNotebook(t, path)).Write(path); err != nil {
				t.Fatal(err)
			}
		}
		for _, problem := range mistranslated(readNotebook(t, original), readNotebook(t, path)) {
			t.Errorf("%s: %s: run %s, then correct the prose", filepath.Base(path), problem, updateTranslations)
		}
		for _, c := range readNotebook(t, path).Cells {
			for _, m := range linkTarget.FindAllStringSubmatch(c.Source, -1) {
				if c.Type != Markdown || strings.Contains(m[1], ":") {
					continue
				}
				if twin := strings.TrimSuffix(m[1], ".ipynb") + ".zh.ipynb"; slices.Contains(translated, filepath.Join(root, twin)) {
					t.Errorf("%s, cell %s: link to %s, expected %s", filepath.Base(path), c.ID, m[1], twin)
				}
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					t.Errorf("%s, cell %s: link to a missing file: %v", filepath.Base(path), c.ID, err)
				}
			}
		}
	}
}

// followed returns the original with the prose of its translation, found by cell id.
func followed(original, chinese *Notebook) *Notebook {
	prose := map[string]string{}
	for _, c := range chinese.Cells {
		if c.Type == Markdown {
			prose[c.ID] = c.Source
		}
	}
	for _, c := range original.Cells {
		if source, ok := prose[c.ID]; ok && c.Type == Markdown {
			c.Source = source
		}
	}
	original.Metadata["lang"] = "zh-CN"
	return original
}

// mistranslated returns how a Chinese notebook differs from its original, apart from
// the words of its prose and metadata.lang.
func mistranslated(original, chinese *Notebook) (problems []string) {
	metadata := maps.Clone(chinese.Metadata)
	if metadata["lang"] != "zh-CN" {
		problems = append(problems, `metadata.lang is not "zh-CN"`)
	}
	if delete(metadata, "lang"); !reflect.DeepEqual(metadata, original.Metadata) {
		problems = append(problems, "the notebook's metadata differ")
	}
	if len(chinese.Cells) != len(original.Cells) {
		problems = append(problems, fmt.Sprintf("%d cells, expected %d", len(chinese.Cells), len(original.Cells)))
	}
	for i := range min(len(chinese.Cells), len(original.Cells)) {
		if o, c := original.Cells[i], chinese.Cells[i]; o.ID != c.ID || o.Type != c.Type {
			return append(problems, fmt.Sprintf("%s cell %s, expected %s cell %s", c.Type, c.ID, o.Type, o.ID))
		}
	}
	if len(chinese.Cells) != len(original.Cells) {
		return problems
	}
	for i, c := range chinese.Cells {
		o := original.Cells[i]
		if !reflect.DeepEqual(o.Metadata, c.Metadata) {
			problems = append(problems, fmt.Sprintf("cell %s: metadata %v, expected %v", c.ID, c.Metadata, o.Metadata))
		}
		if len(c.Outputs) > 0 || c.ExecutionCount != nil {
			problems = append(problems, fmt.Sprintf("cell %s: it has outputs", c.ID))
		}
		if c.Type != Markdown && c.Source != o.Source {
			problems = append(problems, fmt.Sprintf("cell %s: the code differs", c.ID))
		}
		if c.Type == Markdown {
			problems = append(problems, misworded(o, c)...)
		}
	}
	return problems
}

var (
	codeBlock  = regexp.MustCompile("(?s)```.*?```")
	codeSpan   = regexp.MustCompile("`[^`]+`")
	linkTarget = regexp.MustCompile(`\]\(([^)]+)\)`)
	headline   = regexp.MustCompile(`(?m)^#+ `)
	comment    = regexp.MustCompile(`//.*`)
	digits     = regexp.MustCompile(`[0-9][0-9.]*[0-9]|[0-9]`)
)

// misworded compares what a translation keeps of a cell of prose: code, links, levels of
// headings and figures, in any order.
func misworded(original, chinese *Cell) (problems []string) {
	if strings.IndexFunc(chinese.Source, func(r rune) bool { return unicode.Is(unicode.Han, r) }) < 0 {
		problems = append(problems, fmt.Sprintf("cell %s: it is not in Chinese", chinese.ID))
	}
	kept, want := keptParts(chinese.Source), keptParts(original.Source)
	for _, what := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(kept[what], want[what]) {
			problems = append(problems, fmt.Sprintf("cell %s: %s %q, expected %q", chinese.ID, what, kept[what], want[what]))
		}
	}
	return problems
}

func keptParts(source string) map[string][]string {
	parts := map[string][]string{}
	take := func(what string, pattern *regexp.Regexp) {
		parts[what] = pattern.FindAllString(source, -1)
		slices.Sort(parts[what])
		source = pattern.ReplaceAllString(source, " ")
	}
	take("blocks of code", codeBlock)
	for i, block := range parts["blocks of code"] {
		parts["blocks of code"][i] = comment.ReplaceAllString(block, "//") // comments are prose
	}
	take("code", codeSpan)
	take("links", linkTarget)
	for i, link := range parts["links"] {
		parts["links"][i] = strings.Replace(link, ".zh.", ".", 1) // a link may lead to a translation
	}
	take("headings", headline)
	take("figures", digits)
	return parts
}

func TestMistranslated(t *testing.T) {
	prose := "## A sum\n\n`x` has 25 600 000 floats, see [this](a.ipynb), at 0.97."
	notebook := func(prose, code string, edit func(*Notebook)) *Notebook {
		nb := &Notebook{Metadata: map[string]any{"lang": "zh-CN"}, Cells: []*Cell{
			{Type: Markdown, ID: "text", Source: prose},
			{Type: Code, ID: "code", Source: code, Metadata: map[string]any{"tags": []any{TagParameters}}},
		}}
		edit(nb)
		return nb
	}
	same := func(*Notebook) {}
	original := notebook(prose, "n := 1", func(nb *Notebook) { nb.Metadata = map[string]any{} })
	right := "## 求和\n\n到 0.97：`x` 有 25 600 000 个浮点数，见[这里](a.zh.ipynb)。"
	for name, test := range map[string]struct {
		chinese *Notebook
		want    string // in the only problem
	}{
		"right":    {notebook(right, "n := 1", same), ""},
		"code":     {notebook(right, "n := 2", same), "the code differs"},
		"order":    {notebook(right, "n := 1", func(nb *Notebook) { slices.Reverse(nb.Cells) }), "code cell code, expected markdown cell text"},
		"missing":  {notebook(right, "n := 1", func(nb *Notebook) { nb.Cells = nb.Cells[:1] }), "1 cells, expected 2"},
		"id":       {notebook(right, "n := 1", func(nb *Notebook) { nb.Cells[1].ID = "other" }), "code cell other, expected code cell code"},
		"tags":     {notebook(right, "n := 1", func(nb *Notebook) { nb.Cells[1].Metadata = nil }), "metadata"},
		"outputs":  {notebook(right, "n := 1", func(nb *Notebook) { nb.Cells[1].Outputs = []*Output{{}} }), "outputs"},
		"language": {notebook(right, "n := 1", func(nb *Notebook) { nb.Metadata["lang"] = "en" }), "lang"},
		"kernel":   {notebook(right, "n := 1", func(nb *Notebook) { nb.Metadata["kernelspec"] = "x" }), "notebook's metadata"},
		"english":  {notebook(prose, "n := 1", same), "not in Chinese"},
		"name":     {notebook(strings.Replace(right, "`x`", "`y`", 1), "n := 1", same), ": code"},
		"figure":   {notebook(strings.Replace(right, "600", "700", 1), "n := 1", same), "figures"},
		"link":     {notebook(strings.Replace(right, "a.zh", "b.zh", 1), "n := 1", same), "links"},
		"heading":  {notebook(strings.Replace(right, "## ", "", 1), "n := 1", same), "headings"},
	} {
		problems := mistranslated(original, test.chinese)
		if test.want == "" && len(problems) > 0 || test.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], test.want)) {
			t.Errorf("%s: problems %q, expected %q", name, problems, test.want)
		}
	}
}
