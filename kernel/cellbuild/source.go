package cellbuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"warpbook/kernel/edited"
	"warpbook/kernel/leaf/release"
)

// moduleLine is the first line of this module's go.mod.
const moduleLine = "module warpbook\n"

// sourceDirs hold all source of the cells program.
var sourceDirs = []string{"gpu", "kernel", "ops"}

// moduleRoot finds this module: where this file was compiled, otherwise above the
// working directory.
func moduleRoot() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cellbuild: find source: %w", err)
	}
	for _, start := range []string{filepath.Dir(file), dir} {
		if root := rootAbove(start); root != "" {
			return root, nil
		}
	}
	return "", fmt.Errorf("cellbuild: find source: no go.mod of module warpbook above %s, expected to run in a clone of it, or %s to name a built cells program", dir, Env)
}

// Name is release.Name of the running program. For one without a build, such as of go run,
// the build is that of the source beside which it was compiled, which may have changed since.
func Name() string {
	if name := release.Name(); name != release.Version {
		return name
	}
	_, file, _, _ := runtime.Caller(0)
	root := rootAbove(filepath.Dir(file))
	if root == "" {
		return release.Version
	}
	hash, _ := HashSource(root) // "" without a part of the source
	return release.With(hash)
}

// rootAbove returns "" if there is none.
func rootAbove(dir string) string {
	for filepath.IsAbs(dir) { // with -trimpath the path is not absolute
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(data, []byte(moduleLine)) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// tools is the output of `go env -json` for the toolchain that would build.
type tools struct {
	Version string `json:"GOVERSION"`
	OS      string `json:"GOOS"`
	Arch    string `json:"GOARCH"`
	Flags   string `json:"GOFLAGS"`
}

func toolchain(ctx context.Context, root string) (tools, error) {
	c := exec.CommandContext(ctx, "go", "env", "-json", "GOVERSION", "GOOS", "GOARCH", "GOFLAGS")
	c.Dir = root
	out, err := c.Output()
	var t tools
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return t, fmt.Errorf("cellbuild: go: no such command in PATH, expected Go as in %s, or %s to name a built cells program", filepath.Join(root, "go.mod"), Env)
	case errors.As(err, &exit):
		return t, fmt.Errorf("cellbuild: go env: %w: %s", err, bytes.TrimSpace(exit.Stderr))
	case err != nil:
		return t, fmt.Errorf("cellbuild: go env: %w", err)
	}
	if err := json.Unmarshal(out, &t); err != nil {
		return t, fmt.Errorf("cellbuild: go env: %w", err)
	}
	t.Version = edited.Toolchain(t.Version)
	return t, nil
}

// key distinguishes programs that different toolchains build from the same source.
func (t tools) key() string {
	flags := sha256.Sum256([]byte(t.Flags))
	return fmt.Sprintf("%s-%s-%s-%x", strings.Fields(t.Version + " ?")[0], t.OS, t.Arch, flags[:2])
}

// link returns the linker's flags for a program of sources with a hash: those that GOFLAGS
// has, which the command line would replace, and the stamp.
func (t tools) link(hash string) string {
	flags := ""
	for _, flag := range strings.Fields(t.Flags) {
		if own, ok := strings.CutPrefix(flag, "-ldflags="); ok {
			flags = own + " "
		}
	}
	return flags + release.Stamp(hash)
}

// HashSource hashes the names and contents of all files that the programs may be built
// from: go.mod, go.sum and every file of sourceDirs, embedded files included, except
// tests. root is the folder of this module's go.mod.
func HashSource(root string) (string, error) {
	h := sha256.New()
	add := func(name string) error {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.ToSlash(name), len(data))
		h.Write(data)
		return nil
	}
	names := []string{"go.mod", "go.sum"}
	for _, dir := range sourceDirs {
		found, err := sourceFiles(root, dir)
		if err != nil {
			return "", fmt.Errorf("cellbuild: hash source: %w", err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return "", fmt.Errorf("cellbuild: hash source: %w", err)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// sourceFiles lists the files below root/dir in order, relative to root.
func sourceFiles(root, dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil { // d is nil where the folder is missing
			return err
		}
		name := d.Name()
		ignored := name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
		switch {
		case d.IsDir() && ignored:
			return filepath.SkipDir
		case !d.Type().IsRegular() || ignored || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, path)
		names = append(names, rel)
		return err
	})
	return names, err
}
