package ops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// A program names no commit whose sources are others than its own.
func TestBuiltFrom(t *testing.T) {
	if !builtFrom(os.DirFS(".")) {
		t.Error("not built from its own folder")
	}
	later := fstest.MapFS{}
	entries, err := sources.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := sources.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		later[e.Name()] = &fstest.MapFile{Data: text}
	}
	for _, name := range []string{"reduce.cu", "reduce.sm_80.ptx", "reduce.go"} {
		before := later[name]
		later[name] = &fstest.MapFile{Data: append(before.Data[:len(before.Data):len(before.Data)], '\n')}
		if builtFrom(later) {
			t.Errorf("built from a folder whose %s has a line more", name)
		}
		delete(later, name)
		if builtFrom(later) {
			t.Errorf("built from a folder without %s", name)
		}
		later[name] = before
	}
	later["reduce_test.go"] = &fstest.MapFile{}
	if !builtFrom(later) {
		t.Error("a test that changed makes the program another")
	}
}

// Around the working directory is a repository of this module, but not the
// one that the program was built from.
func TestCommitOfOtherSources(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module warpbook\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "go.mod"}, {"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "other"}} {
		git(root, args...)
	}
	hash := git(root, "rev-parse", "--short=12", "HEAD")
	if hash == "" {
		t.Skip("no git")
	}
	t.Chdir(root)
	if got := commit(); strings.Contains(got, hash) {
		t.Errorf("%s, which this program was not built from", got)
	}
}
