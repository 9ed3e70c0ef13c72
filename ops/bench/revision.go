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

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
	"warpbook/ops/run"
)

// subject is what a result of the bench is about, measured by a method.
func (b *Bench) subject(method string) results.Subject {
	return results.Subject{Operator: b.operator, Size: b.site.Size, Device: b.site.Device.Info(), Environment: b.environment(method)}
}

func (b *Bench) environment(method string) results.Environment {
	device := b.site.Device.Info()
	revision, texts := revisionOf(b.operator), ptxTexts(b.operator, device)
	return results.Environment{
		Origin: b.origin(revision, texts, device),
		Device: device.String(),
		PTX:    strings.Join(texts, ", "),
		Commit: revision.String(),
		Data:   b.describe(),
		Method: method,
		Host:   fmt.Sprintf("%s %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0)),
		Date:   time.Now().Format(time.RFC3339),
	}
}

// origin is the environment in a form that programs read.
func (d *data) origin(r revision, ptx []string, info gpu.Info) map[string]any {
	device := map[string]any{"name": info.Name, "emulated": info.Emulated, "compute": info.Compute.String()}
	if info.Driver != "" {
		device["driver"] = info.Driver
	}
	data := map[string]any{"set": "given by the caller"}
	if !d.own {
		data = map[string]any{"set": d.set.Describe(d.inputTensors()), "seed": d.seed}
	}
	code := map[string]any{"ptx": ptx}
	if r.commit != "" {
		code["commit"], code["clean"] = r.commit, r.clean
	} else {
		code["sources_sha256"] = r.sources
	}
	return map[string]any{"operator": d.site.Operator.Name, "size": d.site.Size, "data": data, "device": device, "code": code}
}

// ptxTexts name the PTX that a device runs, that of cells too.
func ptxTexts(o *ladder.Operator, device gpu.Info) []string {
	texts := []string{}
	for _, source := range o.Modules() {
		if f, err := o.PTX(source, device); err == nil {
			texts = append(texts, f.Name+" sha256 "+f.Hash())
		}
	}
	for _, v := range o.Variants {
		if v.Own != nil {
			texts = append(texts, fmt.Sprintf("%s of %v", v.Name, v.Own.Module()))
		}
	}
	return texts
}

//go:embed *[^t].go audit.go count.go
var sources embed.FS

// sourcesOf are the embedded files that the figures of an operator depend on, by
// their folder from the project's root.
func sourcesOf(o *ladder.Operator) map[string]fs.FS {
	return map[string]fs.FS{"ops/bench": sources, "ops/results": results.Sources, "ops/run": run.Sources, "ops/ladder": ladder.Sources, o.Folder: o.Files}
}

// built is the commit of the sources, and "-dirty" where they differ from it: what the
// build passes by -ldflags=-X=warpbook/ops/bench.built=COMMIT, as .ci/gpu does. A program
// that runs far from its repository knows its commit by nothing else. "" if the build
// passed none.
var built string

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

// findRevision is the commit that the build wrote into this program, or else git's revision
// of the sources that it was built from. It searches beside the file as it was compiled, and around the working directory, and
// compares the sources, because an installed program outlives the commit that it was
// built at. Without equal sources it is a hash of the embedded ones.
func findRevision(o *ladder.Operator, working string) revision {
	if commit, dirty := strings.CutSuffix(built, "-dirty"); commit != "" {
		return revision{commit: commit[:min(12, len(commit))], clean: !dirty}
	}
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
