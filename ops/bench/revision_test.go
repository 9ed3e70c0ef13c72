package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"warpbook/ops/bench/sample"
)

// A program names no commit whose sources are others than its own.
func TestBuiltFrom(t *testing.T) {
	built := sourcesOf(sample.Operator)
	if !builtFrom(os.DirFS("../.."), built) {
		t.Error("not built from its own folders")
	}
	later := fstest.MapFS{}
	eachSource(built, func(name string, text []byte) error {
		later[name] = &fstest.MapFile{Data: text}
		return nil
	})
	for _, name := range []string{"ops/bench/sample/sample.cu", "ops/bench/sample/sample.sm_75.ptx.zst", "ops/bench/sample/sample.go", "ops/ladder/operator.go", "ops/bench/bench.go", "ops/run/prepared.go"} {
		before, there := later[name]
		if !there {
			t.Fatalf("%s is not among the sources", name)
		}
		later[name] = &fstest.MapFile{Data: append(before.Data[:len(before.Data):len(before.Data)], '\n')}
		if builtFrom(later, built) {
			t.Errorf("built from a project whose %s has a line more", name)
		}
		delete(later, name)
		if builtFrom(later, built) {
			t.Errorf("built from a project without %s", name)
		}
		later[name] = before
	}
	later["ops/bench/sample/sample_test.go"] = &fstest.MapFile{}
	if !builtFrom(later, built) {
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
	if got := revisionOf(sample.Operator).String(); strings.Contains(got, hash) {
		t.Errorf("%s, which this program was not built from", got)
	}
}

// The commit that the build passes counts, wherever the program runs.
func TestCommitOfBuild(t *testing.T) {
	t.Chdir(t.TempDir())
	for passed, want := range map[string]string{
		"0123456789abcdef0123":       "commit 0123456789ab",
		"0123456789abcdef0123-dirty": "commit 0123456789ab with changes",
		"0123":                       "commit 0123",
	} {
		built = passed
		got := findRevision(sample.Operator, t.TempDir()).String()
		built = ""
		if got != want {
			t.Errorf("built of %q: %q, expected %q", passed, got, want)
		}
	}
}

// The sources that a figure depends on are all embedded, and tests are not: they would add
// 150 kB to each program.
func TestSourcesAreComplete(t *testing.T) {
	for folder, embedded := range sourcesOf(sample.Operator) {
		names, err := fs.Glob(os.DirFS(filepath.Join("../..", folder)), "*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			_, err := fs.Stat(embedded, name)
			if test := strings.HasSuffix(name, "_test.go"); test == (err == nil) && folder != sample.Operator.Folder {
				t.Errorf("%s/%s: embedded %v", folder, name, err == nil)
			}
		}
	}
}
