package nbformat

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestChineseReadme: notebooks/README.zh.md has the commands, names, links, pictures and
// figures of README.md. It may have more names and links to what is Chinese.
func TestChineseReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if *update {
		text, err := withFigures(read("README.md"), read("notebooks/README.zh.md"))
		if err == nil {
			err = os.WriteFile(filepath.Join(root, "notebooks/README.zh.md"), []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	chinese := read("notebooks/README.zh.md")
	for _, problem := range missing(readmeParts(read("README.md"), ""), readmeParts(chinese, "notebooks")) {
		t.Errorf("notebooks/README.zh.md: %s: run go test ./kernel/nbformat -run ChineseReadme -update for the table of figures", problem)
	}
	for _, m := range linkTarget.FindAllStringSubmatch(chinese, -1) {
		if _, err := os.Stat(filepath.Join(root, "notebooks", m[1])); err != nil && !strings.Contains(m[1], ":") {
			t.Errorf("notebooks/README.zh.md: link to a missing file: %v", err)
		}
	}
}

// TestReadmeCountsCells: README's last lines of a run have the cells that notebook 01 has.
func TestReadmeCountsCells(t *testing.T) {
	nb, err := Read(filepath.Join("..", "..", "notebooks", "01-reduce.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	cells := 0
	for _, c := range nb.Cells {
		if c.Type == Code && strings.TrimSpace(c.Source) != "" {
			cells++
		}
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if line := fmt.Sprintf("notebooks/01-reduce.ipynb: %d of %d cells executed", cells, cells); !strings.Contains(string(readme), line) {
		t.Errorf("README.md does not have %q: run the notebook and copy its last lines", line)
	}
}

// measuredRow is a row of README's first table: what was measured, and the figures.
var measuredRow = regexp.MustCompile(`(?m)^\| ([^|]*) (\|[^|\n]* us [^\n]*\|)$`)

// withFigures copies the figures of README's first table into the translation.
func withFigures(original, chinese string) (string, error) {
	from := measuredRow.FindAllStringSubmatch(original, -1)
	if to := measuredRow.FindAllString(chinese, -1); len(to) != len(from) || len(from) == 0 {
		return "", fmt.Errorf("%d rows with figures in notebooks/README.zh.md, expected the %d of README.md: add the new ones", len(to), len(from))
	}
	words := strings.NewReplacer(" to ", " 到 ", "FASTER", "更快", "SLOWER", "更慢", "SAME", "相当")
	i := -1
	return measuredRow.ReplaceAllStringFunc(chinese, func(row string) string {
		i++
		return "| " + measuredRow.FindStringSubmatch(row)[1] + " " + words.Replace(from[i][2])
	}), nil
}

// TestChineseDefinitions: each word of definitions.md has its row, in the same order, and
// rows have the same figures.
func TestChineseDefinitions(t *testing.T) {
	rows := func(name string) (all [][]string) {
		text, err := os.ReadFile(filepath.Join("..", "..", "notebooks", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "## ") {
				figures := digits.FindAllString(line, -1)
				slices.Sort(figures)
				all = append(all, figures)
			}
		}
		return all
	}
	original, chinese := rows("definitions.md"), rows("definitions.zh.md")
	if len(original) < 30 || len(chinese) != len(original) {
		t.Fatalf("%d rows and sections, expected %d", len(chinese), len(original))
	}
	for i := range original {
		if !slices.Equal(chinese[i], original[i]) {
			t.Errorf("row %d of notebooks/definitions.zh.md has the figures %q, expected %q", i+1, chinese[i], original[i])
		}
	}
}

var (
	indented = regexp.MustCompile(`(?m)^    .*$`)
	fraction = regexp.MustCompile(`[0-9]+\.[0-9]+`)
	bold     = regexp.MustCompile(`(?m)^## `)
)

// readmeParts are the parts of a page that a translation keeps. The page lies in a folder
// of the repository.
func readmeParts(text, folder string) map[string][]string {
	parts := map[string][]string{}
	for _, line := range indented.FindAllString(text, -1) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") { // comments are prose
			parts["command"] = append(parts["command"], line)
		}
	}
	text = indented.ReplaceAllString(text, "")
	parts["name"] = codeSpan.FindAllString(text, -1)
	for _, m := range linkTarget.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], ":") {
			m[1] = strings.Replace(filepath.ToSlash(filepath.Join(folder, m[1])), "definitions.zh.md", "definitions.md", 1)
		}
		parts["link"] = append(parts["link"], m[1])
	}
	text = linkTarget.ReplaceAllString(codeSpan.ReplaceAllString(text, " "), " ")
	parts["section"] = bold.FindAllString(text, -1)
	parts["figure"] = fraction.FindAllString(text, -1)
	return parts
}

// missing are the parts that a translation lacks, and its figures that the original lacks.
func missing(original, chinese map[string][]string) (problems []string) {
	lacks := func(what string, of, in []string) {
		rest := slices.Clone(in)
		for _, part := range of {
			i := slices.Index(rest, part)
			if i < 0 {
				problems = append(problems, "no "+what+" "+strings.TrimSpace(part))
				continue
			}
			rest = slices.Delete(rest, i, i+1)
		}
	}
	for _, what := range []string{"command", "name", "link", "section", "figure"} {
		of := original[what]
		if what == "link" { // each has its own translation
			of = slices.DeleteFunc(slices.Clone(of), func(l string) bool { return strings.HasSuffix(l, ".zh.md") })
		}
		lacks(what, of, chinese[what])
	}
	for _, what := range []string{"section", "figure"} {
		lacks(what+" in the original:", chinese[what], original[what])
	}
	return problems
}

func TestMissing(t *testing.T) {
	original := "## One\n\nRun `x`, see [this](notebooks/a.md): 1.5 us.\n\n    go test ./...\n    // comment\n"
	right := "## 一\n\n运行 `x`，见[这里](a.md)：1.5 us，另有 `y` 和[中文](b.zh.md)。\n\n    go test ./...\n    // 注释\n"
	for name, test := range map[string]struct{ chinese, want string }{
		"right":   {right, ""},
		"name":    {strings.Replace(right, "`x`", "x", 1), "no name `x`"},
		"link":    {strings.Replace(right, "a.md", "c.md", 1), "no link notebooks/a.md"},
		"figure":  {strings.Replace(right, "1.5 us", "1.5 us 到 1.6 us", 1), "no figure in the original: 1.6"},
		"command": {strings.Replace(right, "go test", "go vet", 1), "no command go test ./..."},
		"section": {strings.Replace(right, "## ", "", 1), "no section ##"},
	} {
		problems := missing(readmeParts(original, ""), readmeParts(test.chinese, "notebooks"))
		if test.want == "" && len(problems) > 0 || test.want != "" && (len(problems) != 1 || problems[0] != test.want) {
			t.Errorf("%s: %q, expected %q", name, problems, test.want)
		}
	}
}
