package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInherit(t *testing.T) {
	h, err := Open(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	h.Add(0, 1, "x := 1", "")
	if err := h.Save(); err != nil {
		t.Fatal(err)
	}
	if none := Inherit(); none != nil {
		t.Errorf("without a parent's: %+v", none)
	}
	for _, text := range h.Environment() {
		if name, value, _ := strings.Cut(text, "="); name == environment {
			t.Setenv(name, value)
		}
	}
	child := Inherit()
	if child == nil || os.Getenv(environment) != "" {
		t.Fatalf("inherited %+v, and left %q", child, os.Getenv(environment))
	}
	if got, err := child.Range(0, 0, 1, nil); err != nil || len(got) != 1 || got[0].Input != "x := 1" {
		t.Errorf("it holds %+v, %v", got, err)
	}
}
