// Package module finds the packages of Go modules that are not built into the
// cells program, so that the cell engine can interpret them from their source.
//
// It asks the go command, which downloads modules into the user's module cache, checks
// them against its checksum database and resolves their requirements. It does not read
// or run any package. Packages that the engine cannot run are rejected by name, with the
// reason.
package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"warpbook/kernel/leaf/scratch"
)

// Set holds the modules of a session. Its methods are safe for concurrent use.
type Set struct {
	// Offered reports whether a package is built in; Tags are the build tags of the
	// session.
	Offered func(path string) bool
	Tags    []string

	adding sync.Mutex // held while the go command runs; guards dir
	dir    string     // with a go.mod of what has been added

	mu       sync.Mutex // guards the maps
	packages map[string]*Package
	roots    map[string]root // modules by path
}

// root is where a module is.
type root struct{ name, dir string }

// Package is a package of an added module, or of one that it requires.
type Package struct {
	Path, Dir string
	Module    string // with its version
	Imports   []string
	root      string // of the module
	reason    string // why it cannot run, "" if it can
}

// errNoToolchain is the error of Add without a go command.
var errNoToolchain = errors.New("module: no Go toolchain: the go command is not in PATH, and modules are downloaded with it")

// Add downloads a module, the newest version if none is given, with all its
// requirements, and returns the packages that can run. It rejects the module if the
// package of the module's own path cannot run.
func (s *Set) Add(ctx context.Context, path, version string) (added []*Package, err error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	if version == "" {
		version = "latest"
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if _, err := s.run(ctx, "get", path+"@"+version); err != nil {
		return nil, err
	}
	out, err := s.run(ctx, "list", "-e", "-deps", "-tags="+strings.Join(s.Tags, ","), "-json", path+"/...")
	if err != nil {
		return nil, err
	}
	found, err := s.read(out)
	if err != nil {
		return nil, err
	}
	s.keep(found)
	if found[path] != nil {
		if _, err := s.Find(path); err != nil {
			return nil, err
		}
	}
	return s.of(path), nil
}

func (s *Set) keep(found map[string]*Package) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packages == nil {
		s.packages, s.roots = map[string]*Package{}, map[string]root{}
	}
	maps.Copy(s.packages, found)
	for _, p := range found {
		path, _, _ := strings.Cut(p.Module, "@")
		s.roots[path] = root{p.Module, p.root}
	}
}

// of are the packages of a module that can run.
func (s *Set) of(module string) (list []*Package) {
	for _, path := range s.Paths() {
		if path == module || strings.HasPrefix(path, module+"/") {
			if p, err := s.Find(path); err == nil {
				list = append(list, p)
			}
		}
	}
	return list
}

// Paths are the packages that have been added, including those that cannot run, without
// packages that only their own modules may import.
func (s *Set) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.packages)), func(path string) bool {
		return strings.Contains("/"+path+"/", "/internal/")
	})
}

// Find returns a package of an added module. It returns nil without an error if there is
// no such package, and an error if the package, or one that it imports, cannot run.
func (s *Set) Find(path string) (*Package, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.packages[path]
	if p == nil {
		return nil, s.unlisted(path)
	}
	switch bad := s.refused(p, map[string]bool{}); bad {
	case nil:
		return p, nil
	case p:
		return nil, fmt.Errorf("module: package %s of %s cannot run in cells: it %s", p.Path, p.Module, p.reason)
	default:
		return nil, fmt.Errorf("module: package %s of %s cannot run in cells: it needs %s, which %s", p.Path, p.Module, bad.Path, bad.reason)
	}
}

// Refuse notes the reason why a package cannot run, if only an attempt has shown it.
func (s *Set) Refuse(path, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.packages[path]; p != nil {
		p.reason = reason
	}
}

// refused is the first package that cannot run among p and its imports.
func (s *Set) refused(p *Package, seen map[string]bool) *Package {
	if p.reason != "" {
		return p
	}
	seen[p.Path] = true
	for _, path := range p.Imports {
		if q := s.packages[path]; q != nil && !seen[path] {
			if bad := s.refused(q, seen); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// prepare makes the module that requires the others.
func (s *Set) prepare() (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return errNoToolchain
	}
	if s.dir != "" {
		return nil
	}
	if s.dir, err = os.MkdirTemp(scratch.Dir(), "cells-modules"); err != nil {
		return fmt.Errorf("module: %w", err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go.mod"), []byte("module cells\n"), 0o600); err != nil {
		return fmt.Errorf("module: %w", err)
	}
	return nil
}

// Close removes the files of the set outside of the module cache.
func (s *Set) Close() error {
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// run runs the go command and returns its error in one line.
func (s *Set) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off",
		"CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOTOOLCHAIN="+toolchain(runtime.Version()))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("module: go %s %s: %s (%w)", args[0], args[len(args)-1], lastLine(stderr.String()), err)
	}
	return out, nil
}

// toolchain is the Go version that built the program. It chooses the files that the
// engine needs: the user's own version may be newer. The build used it, so it is
// present.
func toolchain(programs string) string {
	name, _, _ := strings.Cut(programs, " ") // experiments follow the version
	if !version.IsValid(name) {
		return "local"
	}
	return name
}

// lastLine is the last line of the go command, which contains the error.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "go: ")
}

// listed is a package as the go command lists it.
type listed struct {
	ImportPath, Dir, Name                                    string
	Standard                                                 bool
	Module                                                   *struct{ Path, Version, Dir string }
	GoFiles, IgnoredGoFiles, Imports                         []string
	CgoFiles, SFiles, SysoFiles, CFiles, CXXFiles, SwigFiles []string
	Error                                                    *struct{ Err string }
}

func (s *Set) read(list []byte) (map[string]*Package, error) {
	found := map[string]*Package{}
	for dec := json.NewDecoder(strings.NewReader(string(list))); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("module: read the list of packages: %w", err)
		}
		if l.Standard || l.Name == "main" || s.Offered(l.ImportPath) {
			continue
		}
		p := &Package{Path: l.ImportPath, Dir: l.Dir, Module: l.ImportPath, Imports: l.Imports, reason: s.reason(l)}
		if l.Module != nil {
			p.Module, p.root = l.Module.Path+"@"+l.Module.Version, l.Module.Dir
		}
		found[p.Path] = p
	}
}
