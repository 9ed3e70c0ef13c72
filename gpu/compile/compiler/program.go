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
	"strings"
	"time"

	"warpbook/kernel/leaf/buildcache"
)

// Variable is the environment variable with the path of an nvrtc
// program to use instead of the one in the user's cache.
const Variable = "WARPBOOK_NVRTC_PROGRAM"

const programPrefix = "nvrtc-"

// programSources are the sources of the program, from the root of the module.
var programSources = []string{"go.mod", "gpu/nvrtc/*.go", "gpu/compile/compiler/request.go", "gpu/compile/compiler/folders.go", "kernel/leaf/atomicfile/*.go"}

// Path is the path of the nvrtc program. An installed program is preferred; otherwise it is
// in the user's cache, where Build puts it under a hash of the sources. Without the
// sources, Path is that of the program that was used last. root is the module's folder, "" if it is
// missing.
func Path() (path, root string, err error) {
	if path := os.Getenv(Variable); path != "" {
		return path, "", nil
	}
	if path := buildcache.Installed("nvrtc"); path != "" {
		return path, "", nil
	}
	dir, err := buildcache.Dir()
	if err != nil {
		return "", "", fmt.Errorf("compiler: nvrtc program: %w, or %s to a built program", err, Variable)
	}
	if root = moduleRoot(); root == "" {
		return newest(dir), "", nil
	}
	hash, err := hashSources(root)
	if err != nil {
		return "", "", fmt.Errorf("compiler: nvrtc program: %w", err)
	}
	return filepath.Join(dir, programPrefix+hash), root, nil
}

// newest is the program that was used last, or a path where none is.
func newest(dir string) string {
	if path := buildcache.Newest(dir, programPrefix); path != "" {
		return path
	}
	return filepath.Join(dir, programPrefix+"none")
}

// goCommand reports whether a program can be built here.
func goCommand() bool {
	_, err := exec.LookPath("go")
	return err == nil
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

// Build puts the nvrtc program into the user's cache, if it is missing or damaged.
// That needs the go command and this module's source; without them the program that
// was used last serves. It reports its work to progress
// in one line.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	path, root, err := Path()
	switch {
	case err != nil:
		return "", err
	case root == "" || buildcache.Verify(path) != nil && !goCommand():
		if root != "" { // built from other sources
			path = newest(filepath.Dir(path))
		}
		if err := buildcache.Verify(path); err != nil {
			return "", fmt.Errorf("compiler: nvrtc program: %w: run `go run ./install` in a clone of warpbook", err)
		}
		return path, nil
	}
	program := buildcache.Program{
		Prefix: programPrefix, Key: strings.TrimPrefix(filepath.Base(path), programPrefix), Title: "the nvrtc program", Keep: 1,
		Build: func(ctx context.Context, path string, progress io.Writer) error {
			return build(ctx, root, path, progress)
		},
	}
	if path, err = program.Get(ctx, progress); err != nil {
		return "", fmt.Errorf("compiler: nvrtc program: %w", err)
	}
	return path, nil
}

// build compiles the nvrtc program to a path.
func build(ctx context.Context, root, path string, progress io.Writer) error {
	fmt.Fprintln(progress, "warpbook: building the nvrtc program (once; some seconds)")
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, "./gpu/nvrtc")
	c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./gpu/nvrtc: %w: %s", errors.Join(err, ctx.Err()), lastLine(out))
	}
	return nil
}

// killGrace is how long the pipes of a program that has ended may stay open, if
// another process holds them. Reading them may take that long on a busy machine.
const killGrace = 5 * time.Second

// Run has the nvrtc program compile a source. The end of ctx kills it.
func Run(ctx context.Context, request Request) (Reply, error) {
	var reply Reply
	if runtime.GOOS == "js" {
		reply.Missing, reply.Error = true, "install the kernel: NVRTC does not run in a browser, where only cells with committed PTX run"
		return reply, nil
	}
	path, err := Build(ctx, os.Stderr)
	if err != nil && ctx.Err() == nil { // neither the program nor what builds it is here
		reply.Missing, reply.Error = true, err.Error()
		return reply, nil
	}
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
	if err = buildcache.StartError(path, err); errors.Is(err, buildcache.ErrNoLoader) { // NVRTC needs it, too
		reply.Missing, reply.Error = true, "compiler: "+err.Error()
		return reply, nil
	}
	if err != nil {
		return reply, fmt.Errorf("compile: %s: the compiler ended: %w%s; nothing else is lost", request.Name, err, suffix(firstLine(stderr.Bytes())))
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

// firstLine of a crash is its cause, before the stacks and registers.
func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(line)
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
