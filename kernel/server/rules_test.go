package server

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests that RATIONALE.md names for the rules of the protocol exist.
func TestRulesNameTests(t *testing.T) {
	text, err := os.ReadFile("../../RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z]+)\\.((?:Test|Fuzz)\\w+)(?:/(\\w+))?`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 60 {
		t.Errorf("%d tests named, expected those of the table", len(named))
	}
	for _, m := range named {
		var files []string
		for _, above := range []string{"..", "../*", "../..", "../../*"} { // folders of kernel, of those, of the repository, of those
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

// Every message that the kernel answers stands in a test of what it answers.
func TestEveryRequestIsTested(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	for _, file := range files {
		if file == "hostile_test.go" { // which asks everything and checks little
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
