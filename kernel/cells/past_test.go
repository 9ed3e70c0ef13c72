package main

import (
	"path/filepath"
	"strings"
	"testing"

	"warpbook/kernel/history"
)

// TestPast: %history lists the kernel's history.
func TestPast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	var h *history.History
	for _, session := range [][]string{{"x := 1", "y := \"two\"\ny"}, {"z := 3", "x := 1"}} {
		var err error
		if h, err = history.Open(path); err != nil {
			t.Fatal(err)
		}
		for i, code := range session {
			h.Add(0, i+1, code, "")
		}
		if err := h.Save(); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range h.Environment() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "WARPBOOK_HISTORY") {
			t.Setenv(name, value)
		}
	}
	c := start(t)
	c.cell = 2 // as after a restart of the program
	for code, want := range map[string]string{
		"%history 1-2":    "   1  z := 3\n   2  x := 1\n",
		"%history ~1/":    " 1/1  x := 1\n 1/2  y := \"two\"\n      y\n",
		"%history ~1/2 1": " 1/2  y := \"two\"\n      y\n   1  z := 3\n",
		"%history -g two": " 1/2  y := \"two\"\n      y\n",
		"%history -g z*3": "   1  z := 3\n",
		"%history ~7/":    "",
		"import \"os\"\nfmt.Println(os.Getenv(\"WARPBOOK_HISTORY\"))\nimport \"fmt\"": "\n",
	} {
		c.value(code)
		if got := c.out.take(); got != want {
			t.Errorf("%s prints %q, want %q", code, got, want)
		}
	}
	c.value("%history -n 3")
	if got := c.out.take(); !strings.HasSuffix(got, "%history -n 3\n") || strings.Count(got, "\n") != 3+strings.Count(got, "\n      ") {
		t.Errorf("-n 3 prints %q", got)
	}

	for number, code := range []string{"a := 1", "b := 2", "c := 3"} { // run here, and written to the history meanwhile
		c.cell = number + 20
		c.value(code)
		h.Add(0, number+21, code, "")
	}
	if err := h.Save(); err != nil {
		t.Fatal(err)
	}
	c.value("%history -n 3")
	if got, want := c.out.take(), "  22  b := 2\n  23  c := 3\n  24  %history -n 3\n"; got != want {
		t.Errorf("-n 3 prints %q, want %q", got, want)
	}
}
