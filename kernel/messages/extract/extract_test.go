package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var root = filepath.Join("..", "..", "..")

// TestTranslated: each text of the packages and of the cells of translated notebooks has a
// translation with the verbs of its format.
func TestTranslated(t *testing.T) {
	texts, err := extract(root)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := readCatalogue(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 500 {
		t.Errorf("%d texts, expected those of all packages and notebooks", len(texts))
	}
	for _, x := range texts {
		if entries[x.format] == "" {
			t.Errorf("%s: no translation of %q: add it to %s", x.place, x.format, catalogueFile)
		}
	}
	for format, translated := range entries {
		if got, want := verbsOf(translated), verbsOf(format); !slices.Equal(got, want) {
			t.Errorf("%s: %q has the verbs %q, expected %q as %q", catalogueFile, translated, got, want, format)
		}
	}
}

// TestQuotedParagraphs: each paragraph of an operator's notes that a translated notebook
// quotes by its beginning has a translation, which a changed word would leave behind.
func TestQuotedParagraphs(t *testing.T) {
	entries, err := readCatalogue(root)
	if err != nil {
		t.Fatal(err)
	}
	var pages strings.Builder
	for _, page := range glob(t, "ops/*/notes.md") {
		pages.WriteString("\n\n" + page)
	}
	paragraphs, quoted := strings.Split(pages.String(), "\n\n"), 0
	for _, notebook := range glob(t, "notebooks/*.zh.ipynb") {
		for _, call := range regexp.MustCompile(`\.Note\(\\"([^"\\]+)\\"\)`).FindAllStringSubmatch(notebook, -1) {
			for _, p := range paragraphs {
				if p = strings.TrimSpace(p); !strings.HasPrefix(p, call[1]) {
					continue
				}
				if quoted++; entries[p] == "" {
					t.Errorf("no translation of the quoted paragraph %q: add it to %s", p, catalogueFile)
				}
			}
		}
	}
	if quoted < 5 {
		t.Errorf("%d quoted paragraphs, expected those of all notebooks", quoted)
	}
}

// glob are the texts of the files of a pattern below the root.
func glob(t *testing.T, pattern string) (texts []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

var numbered = regexp.MustCompile(`\[\d+\]`)

// verbsOf are the verbs of a format in the order of their values.
func verbsOf(format string) []string {
	byValue, next := map[int]string{}, 1
	for _, v := range verb.FindAllString(format, -1) {
		if v == "%%" {
			continue
		}
		if at := numbered.FindString(v); at != "" {
			next = 0
			for _, digit := range strings.Trim(at, "[]") {
				next = 10*next + int(digit-'0')
			}
		}
		byValue[next] = numbered.ReplaceAllString(v, "")
		next++
	}
	var list []string
	for _, i := range slices.Sorted(maps.Keys(byValue)) {
		list = append(list, byValue[i])
	}
	return list
}

func TestTexts(t *testing.T) {
	found := map[string]string{}
	textsOf(`import "warpbook/kernel/display"

display.NewTable("rung", "time (us)").Row("reduce_v0", "wide loads").Note("read from " + file + ", not measured")
lesson.Claim(a == "two words", "It takes %.1f us.", x).
	Find(b, "Yes, it is.", fmt.Sprintf("No, it is %d.", n))
display.BarChart{Title: "Speed", Axis: "time (us)", Labels: []string{"reduce_v0"}}
columns := []column{{title: "votes", percent: true}}
panic("this is no text for readers")
gemm.Note("Small loops.")
type row struct { Name string `+"`json:\"a name\"`"+` }
`, "cell", found)
	got := slices.Sorted(maps.Keys(found))
	want := []string{"It takes %.1f us.", "No, it is %d.", "Speed", "Yes, it is.", "read from %s, not measured", "rung", "time (us)", "two words", "votes", "wide loads"}
	if !slices.Equal(got, want) {
		t.Errorf("texts %q, expected %q", got, want)
	}
	if found["No, it is %d."] != "cell:5" {
		t.Errorf("place %s, expected cell:5", found["No, it is %d."])
	}
}

// chineseText reports whether a text has a Chinese letter.
func chineseText(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// TestCatalogue: a translation is Chinese, unless it is a name such as "bank".
func TestCatalogue(t *testing.T) {
	entries, err := readCatalogue(root)
	if err != nil {
		t.Fatal(err)
	}
	for format, translated := range entries {
		if translated != "" && !chineseText(translated) && translated != format && strings.Count(translated, " ") > 6 {
			t.Errorf("%q is translated as %q, expected Chinese", format, translated)
		}
	}
}
