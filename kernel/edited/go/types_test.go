package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	const sum = "package m\n\nfunc sum(a, b int) int\n"
	for name, c := range map[string]struct {
		files    map[string]string
		unedited bool
		fail     string // on linux/arm64, "" for none
	}{
		"right":                                {files: map[string]string{"a.go": "package m\n\nvar A int\n"}},
		"wrong on this platform":               {files: map[string]string{"a_arm64.go": "package m\n\nvar A int = \"\"\n"}, fail: "a_arm64.go:3:13"},
		"wrong on another platform":            {files: map[string]string{"a.go": "package m\n", "a_amd64.go": "package m\n\nvar A int = \"\"\n"}},
		"undeclared on this platform":          {files: map[string]string{"a.go": "package m\n\nvar A = b\n", "a_amd64.go": "package m\n\nvar b int\n"}, fail: "undefined: b"},
		"an import that is wrong":              {files: map[string]string{"a.go": "package m\n\nimport _ \"m/b\"\n", "b/b.go": "package b\n\nvar B int = \"\"\n"}, fail: "b.go:3:13"},
		"assembly of this platform":            {files: map[string]string{"a.go": sum, "a_arm64.s": "TEXT ·sum(SB), 4, $0-24\n\tRET\n"}},
		"assembly of another platform":         {files: map[string]string{"a.go": sum, "a_amd64.s": "TEXT ·sum(SB), 4, $0-24\n\tRET\n"}, fail: "sum has no body"},
		"assembly of another function":         {files: map[string]string{"a.go": sum, "a_arm64.s": "TEXT ·sums(SB), 4, $0-24\n\tRET\n"}, fail: "sum has no body"},
		"the name of a function of time":       {files: map[string]string{"a.go": "package m\n\nimport _ \"unsafe\"\n\n//go:linkname now time.now\nfunc now() (int64, int32, int64)\n"}},
		"no package":                           {files: map[string]string{"a.txt": ""}, fail: "no package matches"},
		"a file that only cells programs have": {files: map[string]string{"a.go": "package m\n", "b.go": "//go:build cells\n\npackage m\n\nvar A int = \"\"\n"}, fail: "b.go:5:13"},
		"a file that other programs have":      {files: map[string]string{"a.go": "package m\n", "b.go": "//go:build !cells\n\npackage m\n\nvar A int = \"\"\n"}, unedited: true, fail: "b.go:5:13"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			c.files["go.mod"], c.files["go.sum"] = "module m\n\ngo 1.26\n", ""
			for file, text := range c.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("GOOS", "linux")
			t.Setenv("GOARCH", "arm64")
			patterns := []string{"./..."}
			if c.unedited {
				patterns = []string{"-unedited", "./..."}
			}
			err := checkTypes(t.Context(), root, patterns...)
			if c.fail == "" && err != nil || c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) {
				t.Errorf("%v, expected an error with %q", err, c.fail)
			}
		})
	}
}
