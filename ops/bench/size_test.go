package bench

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// Bench stays small enough to read: data, trials and watches have types of their own.
func TestBenchHasFewMethods(t *testing.T) {
	method := regexp.MustCompile(`(?m)^func \(\w+ \*?Bench\) (\w+)`)
	names, err := fs.Glob(sources, "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllStringSubmatch(string(text), -1) {
			methods = append(methods, m[1])
		}
	}
	if len(methods) == 0 || len(methods) > 25 {
		t.Errorf("Bench has %d methods, expected 1 to 25: %v", len(methods), methods)
	}
}
