package server

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that the documents name for a rule exists.
func TestRulesNameTests(t *testing.T) {
	text := ""
	for _, file := range []string{"PROTOCOL.md", "../engine/RATIONALE.md", "../../gpu/emu/RATIONALE.md", "../../RATIONALE.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	named := regexp.MustCompile("`([a-z-]+)\\.((?:Test|Fuzz)\\w+)(?:/(\\w+))?`").FindAllStringSubmatch(text, -1)
	if len(named) < 60 {
		t.Errorf("%d tests named, expected those of the table", len(named))
	}
	for _, m := range named {
		var files []string
		for _, above := range []string{"..", "../*", "../..", "../../*", "../../*/*"} { // folders of kernel and of the repository, with subfolders
			found, err := filepath.Glob(filepath.Join(above, m[1], "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, found...)
		}
		source := ""
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source += string(data)
		}
		if !strings.Contains(source, "func "+m[2]+"(") || m[3] != "" && !strings.Contains(source, `"`+strings.ReplaceAll(m[3], "_", " ")+`": {`) &&
			!strings.Contains(source, `"`+m[3]+`": {`) {
			t.Errorf("%s: no such test", m[0])
		}
	}
}

// Every handled message occurs in a test that checks its answer.
func TestEveryRequestIsTested(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	for _, file := range files {
		if file == "hostile_test.go" { // it sends every message and checks little
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(data)
	}
	for name := range handlers {
		if !strings.Contains(source, `"`+name+`"`) {
			t.Errorf("%s: in no test", name)
		}
	}
}
