package ops

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Environment is what a figure depends on besides the code: it ends every
// table and stands in every record.
type Environment struct {
	Device string   `json:"device"`
	PTX    string   `json:"ptx"`
	Commit string   `json:"commit"`
	Data   string   `json:"data"`
	Method string   `json:"method"`
	Host   string   `json:"host"`
	Date   string   `json:"date"`
	NotRun []string `json:"not_run,omitempty"` // variants that the device refuses, and why
	Beside []string `json:"beside,omitempty"`  // what else the GPU did, or what is not known of it
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
	data := fmt.Sprintf("uniform in [0, 1), seed %d", b.seed)
	if b.own {
		data = "given by the caller"
	}
	return Environment{
		Device: b.device.Info().String(),
		PTX:    b.ptx(),
		Commit: commit(),
		Data:   data,
		Method: method,
		Host:   fmt.Sprintf("%s %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0)),
		Date:   time.Now().Format(time.RFC3339),
	}
}

// ptx names the PTX that the device runs, that of cells too.
func (b *Bench) ptx() string {
	var texts []string
	for _, source := range b.operator.modules() {
		files, err := ptxFiles(source)
		if err != nil {
			continue
		}
		if f, err := pick(source, files, b.device.Info()); err == nil {
			texts = append(texts, f.name+" sha256 "+f.hash())
		}
	}
	for _, v := range b.operator.Variants {
		if v.Own != nil {
			texts = append(texts, fmt.Sprintf("%s of %v", v.Name, v.Own.Module()))
		}
	}
	return strings.Join(texts, ", ")
}

func (b *Bench) title(what string) string {
	return fmt.Sprintf("%s of %s: %s", what, b.operator.Name, b.operator.describe(b.size))
}

// commit is what git says of the sources that this program was built from, as
// far as they can be found: beside the file as it was compiled, or around the
// working directory, and still as they were, for an installed program outlives
// the commit that it was built at. Else it is a hash of the embedded sources.
func commit() string {
	_, file, _, _ := runtime.Caller(0)
	working, _ := os.Getwd()
	for _, dir := range []string{filepath.Dir(file), working} {
		root := git(dir, "rev-parse", "--show-toplevel")
		if mod, err := os.ReadFile(filepath.Join(root, "go.mod")); root == "" || err != nil ||
			!strings.HasPrefix(string(mod), "module warpbook\n") || !builtFrom(os.DirFS(filepath.Join(root, "ops"))) {
			continue
		}
		hash := git(root, "rev-parse", "--short=12", "HEAD")
		if hash == "" { // a repository without a commit
			continue
		}
		if git(root, "status", "--porcelain", "--untracked-files=no", "--", "ops", "gpu") != "" {
			return "commit " + hash + " with changes"
		}
		return "commit " + hash
	}
	return "sources sha256 " + sourcesHash()
}

// builtFrom says whether a folder has this package's embedded files as they are
// in this program, tests aside.
func builtFrom(dir fs.FS) bool {
	entries, err := sources.ReadDir(".")
	if err != nil {
		panic(err) // embedded files are always there
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		built, _ := sources.ReadFile(e.Name())
		if text, err := fs.ReadFile(dir, e.Name()); err != nil || !bytes.Equal(text, built) {
			return false
		}
	}
	return true
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

// sourcesHash is a hash of this package's embedded files, names and contents.
func sourcesHash() string {
	h := sha256.New()
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(text), text)
		return err
	})
	if err != nil {
		panic(err) // embedded files are always there
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12]
}
