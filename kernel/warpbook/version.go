//go:build !windows

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"warpbook/kernel/cellbuild"
)

// versionLine returns the output of warpbook --version: the version, the build, the
// commit, the Go version and the platform of this program.
func versionLine() string {
	info, _ := debug.ReadBuildInfo() // nil in a binary without modules
	commit := stampedCommit(info)
	if commit == "" {
		_, file, _, _ := runtime.Caller(0)
		commit = sourceCommit(filepath.Dir(file))
	}
	return fmt.Sprintf("warpbook %s, %s, %s %s/%s", cellbuild.Name(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// stampedCommit returns the commit that go build wrote into the program; go run and
// -buildvcs=false write none, and it returns "".
func stampedCommit(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return commitText(settings["vcs.revision"], settings["vcs.modified"] == "true")
}

// sourceCommit returns the current commit of the source folder. The folder may have
// changed since the program was built, so the text names it.
func sourceCommit(dir string) string {
	hash, err := git(dir, "rev-parse", "HEAD")
	if err != nil || !filepath.IsAbs(dir) { // -trimpath leaves a relative path
		return "of an unknown commit"
	}
	changes, err := git(dir, "status", "--porcelain", "--untracked-files=no")
	return commitText(hash, err != nil || changes != "") + " in " + dir
}

// commitText shortens a hash to 12 digits; "" stays empty.
func commitText(hash string, changed bool) string {
	switch {
	case hash == "":
		return ""
	case changed:
		return fmt.Sprintf("commit %.12s with changes", hash)
	}
	return fmt.Sprintf("commit %.12s", hash)
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}
