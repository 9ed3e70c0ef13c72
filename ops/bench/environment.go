package bench

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"warpbook/ops/ladder"
)

// Environment is everything except the code that a figure depends on. It ends every
// table and is part of every record.
type Environment struct {
	Device string   `json:"device"`
	PTX    string   `json:"ptx"`
	Commit string   `json:"commit"`
	Data   string   `json:"data"`
	Method string   `json:"method"`
	Host   string   `json:"host"`
	Date   string   `json:"date"`
	NotRun []string `json:"not_run,omitempty"` // variants that the device refuses, and why
	Beside []string `json:"beside,omitempty"`  // other work of the GPU, or facts about it that are unknown

	origin map[string]any // the members of a record for programs: operator, size, data, device, code
}

// Notes is the block as lines.
func (e Environment) Notes() []string {
	notes := []string{
		"method: " + e.Method,
		"device: " + e.Device + "; data: " + e.Data + "; code: " + e.PTX + ", " + e.Commit + ", " + e.Host + "; date: " + e.Date,
	}
	for _, variant := range e.NotRun {
		notes = append(notes, "not run: "+variant)
	}
	notes = append(notes, e.Beside...)
	return notes
}

func (b *Bench) environment(method string) Environment {
	data := fmt.Sprintf("%s, seed %d", b.data.Describe(b.operator.Inputs(b.size)), b.seed)
	if b.own {
		data = "given by the caller"
	}
	revision, texts := revisionOf(b.operator), b.ptxTexts()
	return Environment{
		origin: b.origin(revision, texts),
		Device: b.device.Info().String(),
		PTX:    strings.Join(texts, ", "),
		Commit: revision.String(),
		Data:   data,
		Method: method,
		Host:   fmt.Sprintf("%s %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0)),
		Date:   time.Now().Format(time.RFC3339),
	}
}

// origin is the environment in a form that programs read.
func (b *Bench) origin(r revision, ptx []string) map[string]any {
	info := b.device.Info()
	device := map[string]any{"name": info.Name, "emulated": info.Emulated, "compute": info.Compute.String()}
	if info.Driver != "" {
		device["driver"] = info.Driver
	}
	data := map[string]any{"set": "given by the caller"}
	if !b.own {
		data = map[string]any{"set": b.data.Describe(b.operator.Inputs(b.size)), "seed": b.seed}
	}
	code := map[string]any{"ptx": ptx}
	if r.commit != "" {
		code["commit"], code["clean"] = r.commit, r.clean
	} else {
		code["sources_sha256"] = r.sources
	}
	return map[string]any{"operator": b.operator.Name, "size": b.size, "data": data, "device": device, "code": code}
}

// ptxTexts name the PTX that the device runs, that of cells too.
func (b *Bench) ptxTexts() []string {
	texts := []string{}
	for _, source := range b.operator.Modules() {
		if f, err := b.operator.PTX(source, b.device.Info()); err == nil {
			texts = append(texts, f.Name+" sha256 "+f.Hash())
		}
	}
	for _, v := range b.operator.Variants {
		if v.Own != nil {
			texts = append(texts, fmt.Sprintf("%s of %v", v.Name, v.Own.Module()))
		}
	}
	return texts
}

func (b *Bench) title(what string) string {
	return fmt.Sprintf("%s of %s: %s", what, b.operator.Name, b.operator.Describe(b.size))
}

//go:embed *.go
var sources embed.FS

// sourcesOf are the embedded files that the figures of an operator depend on, by
// their folder from the project's root.
func sourcesOf(o *ladder.Operator) map[string]fs.FS {
	return map[string]fs.FS{"ops/bench": sources, "ops/ladder": ladder.Sources, o.Folder: o.Files}
}

// revision is which sources a program was built from.
type revision struct {
	commit  string // "" where git does not know it
	clean   bool   // the sources are as the commit has them
	sources string // their hash, without a commit
}

func (r revision) String() string {
	switch {
	case r.commit == "":
		return "sources sha256 " + r.sources
	case r.clean:
		return "commit " + r.commit
	}
	return "commit " + r.commit + " with changes"
}

// revisions are those found so far, by folder of the operator and working directory.
// The sources of a program do not change, so each revision is searched once: the
// search runs git and reads every source.
var revisions sync.Map

// revisionOf returns the revision of an operator's sources.
func revisionOf(o *ladder.Operator) revision {
	working, _ := os.Getwd()
	place := [2]string{o.Folder, working}
	if r, found := revisions.Load(place); found {
		return r.(revision)
	}
	r := findRevision(o, working)
	revisions.Store(place, r)
	return r
}

// findRevision is git's revision of the sources that this program was built from. It
// searches beside the file as it was compiled, and around the working directory, and
// compares the sources, because an installed program outlives the commit that it was
// built at. Without equal sources it is a hash of the embedded ones.
func findRevision(o *ladder.Operator, working string) revision {
	_, file, _, _ := runtime.Caller(0)
	for _, dir := range []string{filepath.Dir(file), working} {
		root := git(dir, "rev-parse", "--show-toplevel")
		if mod, err := os.ReadFile(filepath.Join(root, "go.mod")); root == "" || err != nil ||
			!strings.HasPrefix(string(mod), "module warpbook\n") || !builtFrom(os.DirFS(root), sourcesOf(o)) {
			continue
		}
		hash := git(root, "rev-parse", "--short=12", "HEAD")
		if hash == "" { // a repository without a commit
			continue
		}
		changes := git(root, "status", "--porcelain", "--untracked-files=no", "--", "ops", "gpu")
		return revision{commit: hash, clean: changes == ""}
	}
	return revision{sources: sourcesHash(sourcesOf(o))}
}

// builtFrom reports whether a project has the embedded files as they are in this
// program, tests aside.
func builtFrom(root fs.FS, built map[string]fs.FS) bool {
	return eachSource(built, func(name string, text []byte) error {
		now, err := fs.ReadFile(root, name)
		if err == nil && !bytes.Equal(now, text) {
			err = fs.ErrInvalid
		}
		return err
	}) == nil
}

// eachSource calls f for every embedded file but tests, in the order of their names.
func eachSource(built map[string]fs.FS, f func(name string, text []byte) error) error {
	for _, folder := range slices.Sorted(maps.Keys(built)) {
		err := fs.WalkDir(built[folder], ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(built[folder], name)
			if err != nil {
				return err
			}
			return f(path.Join(folder, name), text)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// git returns a git command's output, "" without git or a repository.
func git(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// sourcesHash is a hash of embedded files, names and contents.
func sourcesHash(built map[string]fs.FS) string {
	h := sha256.New()
	err := eachSource(built, func(name string, text []byte) error {
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		return nil
	})
	if err != nil {
		panic(err) // embedded files are always there
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12]
}
