package main

import (
	"maps"
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
