//go:build !windows

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	p := newPlace(t)
	want := regexp.MustCompile(`^warpbook 0\.1\.0(\+[0-9a-f]{16})?, (commit [0-9a-f]{12}( with changes)?( in /.*)?|of an unknown commit), go1\.\S+ ` + runtime.GOOS + "/" + runtime.GOARCH + "\n$")
	for _, arg := range []string{"--version", "-version", "version"} {
		if o := p.warpbook(arg); o.status != 0 || o.stderr != "" || !want.MatchString(o.stdout) {
			t.Errorf("%s: %+v, expected a line like %v", arg, o, want)
		}
	}
}

func TestStampedCommit(t *testing.T) {
	info := &debug.BuildInfo{}
	if got := stampedCommit(info); got != "" {
		t.Errorf("%q without a stamp, expected nothing", got)
	}
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "false"}}
	if got := stampedCommit(info); got != "commit 0123456789ab" {
		t.Errorf("%q of a clean build", got)
	}
	info.Settings[1].Value = "true"
	if got := stampedCommit(info); got != "commit 0123456789ab with changes" {
		t.Errorf("%q of a build with changes", got)
	}
}

func TestSourceCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	if got := sourceCommit(dir); got != "of an unknown commit" {
		t.Errorf("%q outside a repository", got)
	}
	file := filepath.Join(dir, "f")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	for _, args := range [][]string{{"init", "-q"}, {"add", "f"}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m"}} {
		if _, err := git(dir, args...); err != nil {
			t.Fatal(args, err)
		}
	}
	hash, _ := git(dir, "rev-parse", "--short=12", "HEAD")
	if got, want := sourceCommit(dir), "commit "+hash+" in "+dir; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	write("2")
	if got := sourceCommit(dir); !strings.Contains(got, "commit "+hash+" with changes in ") {
		t.Errorf("%q with a changed file", got)
	}
}
