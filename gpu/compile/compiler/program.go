package compiler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Variable is the environment variable with the path of an nvrtc
// program to use instead of the one in the user's cache.
const Variable = "WARPBOOK_NVRTC_PROGRAM"

const programPrefix = "nvrtc-"

// programSources are the files that the program is made of, from the root of
// the module.
var programSources = []string{"go.mod", "gpu/nvrtc/*.go", "gpu/compile/compiler/request.go", "gpu/compile/compiler/folders.go"}

// Path is where the nvrtc program is, or where Build puts it: in the
// user's cache, under a hash of its sources. Where these are not there, as in
// an installation, it is the one that was built last. root is the module's
// folder, "" if it is not there.
func Path() (path, root string, err error) {
	if path := os.Getenv(Variable); path != "" {
		return path, "", nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", "", fmt.Errorf("compiler: nvrtc program: %w: set XDG_CACHE_HOME, or %s to a built program", err, Variable)
	}
	dir := filepath.Join(base, "warpbook")
	if root = moduleRoot(); root == "" {
		return newest(dir), "", nil
	}
	hash, err := hashSources(root)
	if err != nil {
		return "", "", fmt.Errorf("compiler: nvrtc program: %w", err)
	}
	return filepath.Join(dir, programPrefix+hash), root, nil
}

// moduleRoot is the folder of this module, "" if its source is not there.
func moduleRoot() string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "../../..")
	if text, err := os.ReadFile(filepath.Join(root, "go.mod")); err != nil || !bytes.HasPrefix(text, []byte("module warpbook\n")) {
		return ""
	}
	return root
}

func hashSources(root string) (string, error) {
	h := sha256.New()
	for _, pattern := range programSources {
		files, _ := filepath.Glob(filepath.Join(root, pattern)) // the patterns are well-formed
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n%s", filepath.Base(file), len(text), text)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12], nil
}

// newest is the program in a folder that was built last.
func newest(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, programPrefix+"*")) // the pattern is well-formed
	built := func(path string) time.Time {
		info, err := os.Stat(path)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	if len(found) == 0 {
		return filepath.Join(dir, programPrefix+"none")
	}
	return slices.MaxFunc(found, func(a, b string) int { return built(a).Compare(built(b)) })
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Build puts the nvrtc program into the user's cache, if it is not there. It
// needs the go command and this module's source. What it does is told to
// progress, in one line.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	path, root, err := Path()
	switch {
	case err != nil:
		return "", err
	case executable(path):
		return path, nil
	case root == "":
		return "", fmt.Errorf("compiler: nvrtc program: %s is not there: run `go run ./install` in a clone of warpbook", path)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("compiler: nvrtc program: %w", err)
	}
	made, err := os.CreateTemp(dir, ".nvrtc-*")
	if err != nil {
		return "", fmt.Errorf("compiler: nvrtc program: %w", err)
	}
	made.Close()
	defer os.Remove(made.Name()) // is gone after the rename
	fmt.Fprintln(progress, "warpbook: building the nvrtc program (once; some seconds)")
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", made.Name(), "./gpu/nvrtc")
	c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiler: go build ./gpu/nvrtc: %w: %s", errors.Join(err, ctx.Err()), lastLine(out))
	}
	if err := os.Chmod(made.Name(), 0o755); err != nil {
		return "", fmt.Errorf("compiler: nvrtc program: %w", err)
	}
	if err := os.Rename(made.Name(), path); err != nil {
		return "", fmt.Errorf("compiler: nvrtc program: %w", err)
	}
	for _, old := range glob(dir, programPrefix+"*") {
		if old != path {
			os.Remove(old) // of another version; it may be another user's
		}
	}
	return path, nil
}

// killGrace is how long the pipes of a program that has ended may stay open, in
// case something else holds them; on a busy machine, how long reading may take.
const killGrace = 5 * time.Second

// Run has the nvrtc program compile a source. The end of ctx kills it.
func Run(ctx context.Context, request Request) (Reply, error) {
	var reply Reply
	path, err := Build(ctx, os.Stderr)
	if err != nil {
		return reply, err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return reply, fmt.Errorf("compile: %s: %w", request.Name, err)
	}
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, path, "-json")
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = bytes.NewReader(text), &stdout, &stderr, killGrace
	err = c.Run()
	if ctx.Err() != nil {
		return reply, fmt.Errorf("compile: %s: %w", request.Name, ctx.Err())
	}
	if err != nil {
		return reply, fmt.Errorf("compile: %s: the compiler ended: %w%s; nothing else is lost", request.Name, err, suffix(lastLine(stderr.Bytes())))
	}
	if err := json.Unmarshal(stdout.Bytes(), &reply); err != nil {
		return reply, fmt.Errorf("compile: %s: reply of the compiler: %w", request.Name, err)
	}
	return reply, nil
}

func suffix(line string) string {
	if line == "" {
		return ""
	}
	return ": " + line
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
