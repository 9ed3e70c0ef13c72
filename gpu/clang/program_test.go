package clang

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// zig's own files are in the user's cache: what another user put into the folder of
// temporary files neither stops it nor is trusted.
func TestCacheIsTheUsers(t *testing.T) {
	if os.Getenv(FolderVariable) == "" {
		t.Skipf("needs %s: run pip install --target DIR ziglang==%s, and set it to DIR", FolderVariable, Version)
	}
	temporary, cache := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(temporary, "warpbook-zig"), nil, 0o666); err != nil { // of another user
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	t.Setenv("XDG_CACHE_HOME", cache)
	tools, err := Programs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := tools.ask(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(cache, "warpbook", "zig")); err != nil {
		t.Error(err)
	}
}

func TestRuleNames(t *testing.T) {
	for rule, want := range map[string][]string{
		"": nil,
		"/c/my\\ cache/unit0.o: - \\\n  /h/my\\ course\\ \\#1/$$a.h \\\n  b\\c.h\n": {"/c/my cache/unit0.o:", "-", "/h/my course #1/$a.h", "b\\c.h"},
	} {
		if got := ruleNames(rule); !slices.Equal(got, want) {
			t.Errorf("%q: %q, expected %q", rule, got, want)
		}
	}
	empty := filepath.Join(t.TempDir(), "x.d") // of a full disk
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if files := dependencies(empty, &Toolchain{}); files != nil {
		t.Errorf("%q", files)
	}
}
