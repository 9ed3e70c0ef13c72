// Package edited builds with an edited copy of the cell engine's library, ixgo.
//
// Defects of the library are corrected without a fork and without third-party
// source in this repository. An Edit replaces lines of a file of a module; a
// file below the folder of the module's name is added to it. The go command gets
// a copy of the module, which lies in the user's cache, by -modfile and a
// replace directive: as arguments, never in GOFLAGS, which %pkg inherits.
//
// To correct a defect, append a Fix to the module's list in fixes.go: the reason,
// the test that fails without it, and its edits. For a file that has no edit yet,
// also give the SHA-256 of the file; a module with another content is refused. Keep
// an edit to a call and put the code into a file below ixgo/, which begins with
// "//go:build ignore" and a blank line; it is compiled as a part of the
// module's root package. Code of ours that uses such an addition carries the
// build tag edited.
//
// Only programs that are built by Command have the edits: the cells program and
// the tests that link the engine. By hand: go run ./kernel/edited/go test ./kernel/engine
package edited

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Fix corrects a defect of a module.
type Fix struct {
	Why   string // the fault without the fix
	Test  string // package.Test, or package.Test/subtest, which fails without the fix
	Edits []Edit
}

// Edit replaces lines of a file of a module. The first line is 1; To = From-1
// inserts before From. New has no end of its last line; an empty one removes the
// lines.
type Edit struct {
	File     string
	From, To int
	New      string
}

// module is a module with fixes.
type module struct {
	path, version string
	added         string            // folder of files that are added to its root
	linked        []string          // folders that are linked, because they are large
	sums          map[string]string // SHA-256 of each file that is edited
	fixes         []Fix
}

// Tags are the build tags of a program with the edited engine, which Command sets.
const Tags = "cells,edited"

// The engine makes types in the runtime's own layout, which a new Go may change.
// newest is the first Go version whose layout was not compared with the engine's. Where
// the go command is of that version or a later one, engineGo builds the engine. To add a
// version, see reflectx/internal/abi, and run engine.TestLayouts with it.
const newest, engineGo = "go1.28", "go1.27.0"

// Toolchain is the one that builds the engine where the go command is of a
// version: that itself, or an older one, which the go command fetches.
func Toolchain(goVersion string) string {
	if version.Compare(goVersion, newest) >= 0 {
		return engineGo
	}
	return goVersion
}

// Command returns the go command that does verb (build, test, vet) with the
// edited engine, in the folder of this module's go.mod. It makes the copies of
// the edited modules first where they are missing, for which it may download them.
// It is the one way to build what links the engine.
func Command(ctx context.Context, root, verb string, args ...string) (*exec.Cmd, error) {
	modfile, err := prepare(ctx, root, modules, "")
	if err != nil {
		return nil, err
	}
	return command(ctx, root, modfile, verb, args)
}

// copies is the name of the link to the edited modules in the folder of Portable.
const copies = ".edited"

// Portable is Command for a program that other machines get: with -trimpath, programs of
// equal sources are equal wherever they are built. Build information names the folder of
// a replaced module, so the go command runs in dir, an empty folder of the caller's, which
// Portable fills with links to what is in root and to the modules' copies.
func Portable(ctx context.Context, root, dir, verb string, args ...string) (*exec.Cmd, error) {
	modfile, err := prepare(ctx, root, modules, copies)
	if err != nil {
		return nil, err
	}
	if err := link(root, dir, filepath.Dir(filepath.Dir(modfile))); err != nil {
		return nil, fmt.Errorf("edited: %w", err)
	}
	return command(ctx, dir, modfile, verb, args)
}

// link fills dir with links to the files of root that builds read, and to the copies.
func link(root, dir, base string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Symlink(base, filepath.Join(dir, copies))
}

// command returns the go command in the folder root; modfile is "" where root requires no
// edited module.
func command(ctx context.Context, root, modfile, verb string, args []string) (*exec.Cmd, error) {
	env := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	env.Dir = root
	out, err := env.Output()
	if err != nil {
		return nil, fmt.Errorf("edited: go env GOVERSION: %w", err)
	}
	own := strings.TrimSpace(string(out))
	flags := []string{verb, "-tags=" + Tags}
	if modfile != "" {
		flags = append(flags, "-modfile="+modfile)
	}
	if verb != "vet" {
		// The linker keeps names of the runtime to the standard library: itabTable, where
		// types get methods, and since Go 1.27 spillArgs, which method entries call.
		flags, args = append(flags, "-ldflags=-checklinkname=0"), slices.Clone(args)
		for i, arg := range args {
			if more, ok := strings.CutPrefix(arg, "-ldflags="); ok { // the go command takes the last
				args[i] = "-ldflags=-checklinkname=0 " + more
			}
		}
	}
	c := exec.CommandContext(ctx, "go", append(flags, args...)...)
	c.Dir, c.Env = root, append(os.Environ(), "GOWORK=off") // -modfile is refused in a workspace
	if Toolchain(own) != own {
		c.Env = append(c.Env, "GOTOOLCHAIN="+Toolchain(own))
	}
	return c, nil
}

// prepare returns a go.mod that replaces the modules by their copies, "" if root
// requires none of them. It names the copies by their folder in through, a link in the
// root of the build, or else by their own path.
func prepare(ctx context.Context, root string, modules []module, through string) (modfile string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("edited: cache: %w: set XDG_CACHE_HOME", err)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("edited: %w", err)
	}
	gosum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("edited: %w", err)
	}
	base, required := filepath.Join(cache, "warpbook", "edited"), false
	for _, m := range modules {
		if !bytes.Contains(gomod, []byte(m.path+" ")) {
			continue
		}
		required = true
		if !bytes.Contains(gomod, []byte(m.path+" "+m.version+"\n")) {
			return "", fmt.Errorf("edited: go.mod: another version of %s, expected %s: check its edits against the new one", m.path, m.version)
		}
		dir, err := m.copied(ctx, root, base)
		if err != nil {
			return "", err
		}
		if through != "" {
			dir = "./" + path.Join(through, filepath.Base(dir))
		}
		gomod = fmt.Appendf(gomod, "\nreplace %s => %q\n", m.path, dir)
	}
	if !required {
		return "", nil
	}
	dir := filepath.Join(base, fmt.Sprintf("mod-%.8x", sha256.Sum256(append(gomod, gosum...))))
	err = place(dir, func(tmp string) error {
		if err := os.WriteFile(filepath.Join(tmp, "go.mod"), gomod, 0o644); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tmp, "go.sum"), gosum, 0o644)
	})
	return filepath.Join(dir, "go.mod"), err
}

// copied returns the folder of the module's edited copy. Its name has a hash of
// the edits, so that the go command never sees a copy change.
func (m module) copied(ctx context.Context, root, base string) (string, error) {
	files, err := m.additions()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, path.Base(m.path)+"-"+m.hash(files))
	if m.intact(dir) {
		return dir, nil
	}
	os.RemoveAll(dir) // its links are broken: the module cache was cleaned
	source, err := m.download(ctx, root)
	if err != nil {
		return "", err
	}
	return dir, place(dir, func(tmp string) error { return m.copyTo(tmp, source, files) })
}

// intact reports whether a copy is there with all that it links.
func (m module) intact(dir string) bool {
	for _, name := range append([]string{"go.mod"}, m.linked...) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// ignored begins every file that is added, as the go command must not compile it
// here; a further constraint stays.
var ignored = regexp.MustCompile(`^//go:build ignore( && (.*))?\n\n`)

// additions are the files that the module gets, by name.
func (m module) additions() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(added, m.added, func(from string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(added, from)
		if err != nil {
			return err
		}
		head := ignored.FindSubmatch(text)
		if head == nil {
			return fmt.Errorf("%s: expected //go:build ignore and a blank line first", from)
		}
		text = text[len(head[0]):]
		if len(head[2]) > 0 {
			text = append(append([]byte("//go:build "), head[2]...), append([]byte("\n\n"), text...)...)
		}
		folder, name := path.Split(strings.TrimPrefix(from, m.added+"/"))
		files[folder+"warpbook_"+name] = text
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("edited: %w", err)
	}
	return files, nil
}

// hash is of all that the copy is made of.
func (m module) hash(files map[string][]byte) string {
	h := sha256.New()
	data, err := json.Marshal([]any{m.path, m.version, m.linked, m.sums, m.fixes, files})
	if err != nil {
		panic(err) // of strings and numbers
	}
	h.Write(data)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// download returns the folder of the module in the module cache, where the go
// command has verified it.
func (m module) download(ctx context.Context, root string) (string, error) {
	c := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version)
	c.Dir = root
	out, err := c.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); found.Error != "" {
		return "", fmt.Errorf("edited: download %s@%s: %s", m.path, m.version, found.Error)
	} else if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("edited: go mod download %s@%s: %w: %s", m.path, m.version, err, bytes.TrimSpace(exit.Stderr))
	} else if err := errors.Join(err, jsonErr); err != nil {
		return "", fmt.Errorf("edited: go mod download %s@%s: %w", m.path, m.version, err)
	}
	return found.Dir, nil
}

// copyTo writes the edited copy of the module's source into a folder.
func (m module) copyTo(dir, source string, files map[string][]byte) error {
	met := map[string]bool{} // files with edits
	err := filepath.WalkDir(source, func(from string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(source, from)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		to := filepath.Join(dir, name)
		switch {
		case d.IsDir() && slices.Contains(m.linked, name):
			if err := os.Symlink(from, to); err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "cmd"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if edits := m.editsOf(name); len(edits) > 0 {
			met[name] = true
			if text, err = m.edit(name, text, edits); err != nil {
				return err
			}
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		return err
	}
	for name := range m.sums {
		if !met[name] {
			return fmt.Errorf("%s@%s/%s: the file and its edits: expected both", m.path, m.version, name)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// editsOf are the edits of a file in the order of their lines.
func (m module) editsOf(name string) (edits []Edit) {
	for _, f := range m.fixes {
		for _, e := range f.Edits {
			if e.File == name {
				edits = append(edits, e)
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.From, b.From) })
	return edits
}

// edit applies the edits of a file to its text.
func (m module) edit(name string, text []byte, edits []Edit) ([]byte, error) {
	if sum := fmt.Sprintf("%x", sha256.Sum256(text)); sum != m.sums[name] {
		return nil, fmt.Errorf("%s@%s/%s: SHA-256 %s, expected %q: its edits are for another text, check them against this one", m.path, m.version, name, sum, m.sums[name])
	}
	lines := strings.SplitAfter(string(text), "\n")
	var out strings.Builder
	done := 0 // lines
	for _, e := range edits {
		if e.From <= done || e.To < e.From-1 || e.To > len(lines) {
			return nil, fmt.Errorf("%s: edit of lines %d to %d of %d, expected them after line %d, which another edit ends at", name, e.From, e.To, len(lines), done)
		}
		out.WriteString(strings.Join(lines[done:e.From-1], ""))
		if e.New != "" {
			out.WriteString(e.New + "\n")
		}
		done = e.To
	}
	out.WriteString(strings.Join(lines[done:], ""))
	return []byte(out.String()), nil
}

// place makes a folder, whole or not at all, unless it is there.
func place(dir string, fill func(tmp string) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("edited: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "making")
	if err != nil {
		return fmt.Errorf("edited: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return fmt.Errorf("edited: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there == nil { // another process was faster
			return nil
		}
		return fmt.Errorf("edited: %w", err)
	}
	return nil
}

// Changes returns the reasons for the changes of each edited module, by its path.
func Changes() map[string][]string {
	reasons := map[string][]string{}
	for _, m := range modules {
		for _, f := range m.fixes {
			reasons[m.path] = append(reasons[m.path], f.Why)
		}
	}
	return reasons
}
