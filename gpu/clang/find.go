package clang

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/leaf/lazyregexp"
)

// FolderVariable is the environment variable with the folder of pip install --target of
// the wheel ziglang, searched before all others.
const FolderVariable = "WARPBOOK_ZIG"

// Version is the wheel that the headers and tests are made for.
const Version = "0.17.1"

// The versions of clang that the flags and the headers fit.
const oldest, newest = 20, 22

// Compiler is a clang that makes PTX.
type Compiler struct {
	Name string // "clang 22.1.8"
	Path string

	command []string // starts it
	major   int      // of its version
}

// found holds the compiler that this process used last: asking Python and the programs
// takes longer than most compilations.
var found struct {
	sync.Mutex
	compiler *Compiler // guarded by Mutex
	folder   string    // value of FolderVariable at that time
}

var errMissing = errors.New("no clang with the NVPTX back end")

// ErrUnfit is the error of Find where no clang serves although one is there.
var ErrUnfit = errors.New("no clang that serves")

// Find returns the clang of ziglang in FolderVariable, of python3 or Jupyter's Python, or
// else one in PATH. The error wraps ErrUnfit and says why, where a program is there that does
// not serve.
func Find(ctx context.Context) (*Compiler, error) {
	found.Lock()
	defer found.Unlock()
	folder := os.Getenv(FolderVariable)
	if c := found.compiler; c != nil && found.folder == folder {
		if _, err := os.Stat(c.Path); err == nil { // an upgrade may have replaced it
			return c, nil
		}
	}
	found.compiler = nil
	err := errMissing
	for _, command := range candidates(ctx, folder) {
		c, wrong := try(ctx, command)
		if wrong == nil {
			found.compiler, found.folder = c, folder
			return c, nil
		}
		if err == errMissing { // of the best
			err = fmt.Errorf("%w: %w", ErrUnfit, wrong)
		}
	}
	return nil, err
}

// candidates are the commands that may be a clang, best first. A folder that the user
// named is the only one.
func candidates(ctx context.Context, folder string) (commands [][]string) {
	zig := "zig"
	if runtime.GOOS == "windows" {
		zig = "zig.exe"
	}
	if folder != "" {
		return [][]string{{filepath.Join(folder, "ziglang", zig), "clang"}}
	}
	for _, python := range compiler.Pythons() {
		out, err := exec.CommandContext(ctx, python, "-c", "import importlib.util as u; print(u.find_spec('ziglang').submodule_search_locations[0])").Output()
		if err == nil {
			commands = append(commands, []string{filepath.Join(strings.TrimSpace(string(out)), zig), "clang"})
		}
	}
	for _, name := range []string{"python-zig", "zig"} { // of pipx, or of a system's packages
		if path, err := exec.LookPath(name); err == nil {
			commands = append(commands, []string{path, "clang"})
		}
	}
	for _, name := range []string{"clang", "clang-22", "clang-21", "clang-20"} {
		if path, err := exec.LookPath(name); err == nil {
			commands = append(commands, []string{path})
		}
	}
	return commands
}

var (
	versionLine = lazyregexp.New(`clang version (\d+)((?:\.\d+)*)`)
	nvptx       = lazyregexp.New(`(?m)^\s*nvptx64\b`)
)

// try asks a command for its version and targets.
func try(ctx context.Context, command []string) (*Compiler, error) {
	ask := func(flag string) ([]byte, error) {
		out, err := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], flag)...).Output()
		if err != nil {
			err = fmt.Errorf("%s %s: %w", strings.Join(command, " "), flag, err)
		}
		return out, err
	}
	version, err := ask("--version")
	if err != nil {
		return nil, err
	}
	targets, err := ask("--print-targets")
	if err != nil {
		return nil, err
	}
	m := versionLine().FindSubmatch(version)
	if m == nil {
		return nil, fmt.Errorf("%s is no clang", command[0])
	}
	c := &Compiler{Path: command[0], command: command, Name: "clang " + string(m[1]) + string(m[2])}
	fmt.Sscan(string(m[1]), &c.major) // digits
	if c.major < oldest {
		return nil, fmt.Errorf("%s is %s, expected version %d or newer", command[0], c.Name, oldest)
	}
	if !nvptx().Match(targets) {
		return nil, fmt.Errorf("%s makes no PTX: it was built without nvptx64", command[0])
	}
	return c, nil
}
