// Package peers runs what others offer for an operator beside ours: programs
// and scripts in this folder that need CUDA's compiler, or Python with torch,
// and that are left out where these are missing.
//
// A peer is NAME.cu or NAME.py, run as `NAME --operator NAME --size N[,N...]...
// [--only NAME[,NAME...]] [--method events|graph] [--repeats R] [--l2 warm|flushed]
// [--seed S] [--turns T]`. It checks its own result in float64, times it as the
// bench does, and prints a Figure a line as JSON: with turns, so many times for
// each size, each time when it has read a line, and an empty line behind. What
// peers share is in peer.cuh and peer.py.
package peers

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"warpbook/gpu"
)

// Figure is one measurement, ours or a peer's: a line of JSON.
type Figure struct {
	Kind     string  `json:"kind"` // "figure"
	Operator string  `json:"operator"`
	Name     string  `json:"name"`
	Size     []int   `json:"size"`
	L2       string  `json:"l2"`      // "warm", "flushed", "rotated"
	Method   string  `json:"method"`  // "events", "back to back", "graph"
	Verdict  string  `json:"verdict"` // "PASS", or there are no times
	MedianNS float64 `json:"median_ns,omitempty"`
	FirstNS  float64 `json:"first_ns,omitempty"` // median of the first launch alone
	LowNS    float64 `json:"low_ns,omitempty"`   // of an interval that holds the median with 95 % confidence
	HighNS   float64 `json:"high_ns,omitempty"`
	CV       float64 `json:"cv,omitempty"` // standard deviation / mean
	Repeats  int     `json:"repeats,omitempty"`
	Launches int     `json:"launches,omitempty"` // 0 where it is not known
	GBps     float64 `json:"gbps,omitempty"`
	GFlops   float64 `json:"gflops,omitempty"`
	Library  string  `json:"library,omitempty"`
	Device   string  `json:"device"`
	Note     string  `json:"note,omitempty"`

	State       any `json:"gpu,omitempty"` // clocks and power meanwhile
	Environment any `json:"environment,omitempty"`
}

// programs are the peers: the file's name, and the operator that it is run for.
var programs = []struct{ operator, file string }{
	{"null", "null.cu"}, // no operator: what a launch takes
	{"reduce", "reduce.cu"},
	{"reduce", "reduce.py"},
	{"gemm", "gemm.cu"},
	{"gemm", "gemm.py"},
	{"gemm_tf32", "gemm.py"},
	{"gemm_bf16", "gemm.py"},
	{"gemm_fp16", "gemm.py"},
	{"gemm_batched", "gemm.py"},
	{"gemm_bias_relu", "gemm.py"},
}

// Options say which figures are asked for, and how peers time.
type Options struct {
	Only    []string // names of figures, all for none
	Method  string   // as Figure has it: "events" or "graph", "" is "events"
	Repeats int
	Flushed bool   // L2 before each run
	GPU     string // its UUID; "" for the first
	Seed    uint64
}

//go:embed *.cu *.cuh *.py
var sources embed.FS

// patience bounds how long a peer may take for a turn: torch.compile tries many
// kernels.
const patience = 3 * time.Minute

// running are the runs that Interrupt ends.
var running struct {
	mu     sync.Mutex
	cancel map[*context.CancelCauseFunc]bool // guarded by mu
}

// begin makes a context that Interrupt ends.
func begin(ctx context.Context) (interruptible context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	running.mu.Lock()
	defer running.mu.Unlock()
	if running.cancel == nil {
		running.cancel = map[*context.CancelCauseFunc]bool{}
	}
	running.cancel[&cancel] = true
	return ctx, func() {
		running.mu.Lock()
		defer running.mu.Unlock()
		delete(running.cancel, &cancel)
		cancel(nil)
	}
}

// Interrupt ends all runs, as when a notebook is told to stop.
func Interrupt() {
	running.mu.Lock()
	defer running.mu.Unlock()
	for cancel := range running.cancel {
		(*cancel)(gpu.ErrInterrupted)
	}
}

// arguments are those of a peer.
func arguments(operator string, sizes [][]int, turns int, o Options) []string {
	args := []string{"--operator", operator, "--turns", strconv.Itoa(turns)}
	for _, size := range sizes {
		args = append(args, "--size", strings.Trim(strings.ReplaceAll(fmt.Sprint(size), " ", ","), "[]"))
	}
	l2 := "warm"
	if o.Flushed {
		l2 = "flushed"
	}
	args = append(args, "--l2", l2, "--seed", strconv.FormatUint(o.Seed%(1<<31), 10))
	if len(o.Only) > 0 {
		args = append(args, "--only", strings.Join(o.Only, ","))
	}
	if o.Method != "" {
		args = append(args, "--method", o.Method)
	}
	if o.Repeats > 0 {
		args = append(args, "--repeats", strconv.Itoa(o.Repeats))
	}
	return args
}

// parse reads the lines of a peer; what is no JSON is not ours to read.
func parse(out []byte) (figures []Figure, err error) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "{") {
			continue
		}
		var f Figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return figures, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		figures = append(figures, f)
	}
	return figures, lines.Err()
}

// output runs a command that sees one GPU; its error ends with the last line that
// it wrote.
func output(ctx context.Context, gpu string, command []string) ([]byte, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env = environment(gpu)
	c.WaitDelay = time.Second // for what it has started
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	err := c.Run()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), withLast(err, log.String())
}

// environment is that of a command that sees one GPU, all if it has no UUID.
func environment(gpu string) []string {
	if gpu == "" {
		return nil // as ours
	}
	return append(os.Environ(), "CUDA_VISIBLE_DEVICES="+gpu)
}

// prepare puts the sources into the user's cache, compiles a program that was
// not compiled yet, and returns the command.
func prepare(ctx context.Context, file string) ([]string, error) {
	dir, err := unpack()
	if err != nil {
		return nil, err
	}
	source := filepath.Join(dir, file)
	if filepath.Ext(file) == ".py" {
		python, err := exec.LookPath("python3")
		if err != nil {
			return nil, errors.New("there is no python3")
		}
		return []string{python, source}, nil
	}
	program := strings.TrimSuffix(source, ".cu")
	if _, err := os.Stat(program); err == nil {
		return []string{program}, nil
	}
	nvcc, err := findCompiler()
	if err != nil {
		return nil, err
	}
	made := fmt.Sprintf("%s.%d", program, os.Getpid())
	defer os.Remove(made)
	if _, err := output(ctx, "", []string{nvcc, "-O3", "-std=c++17", "-arch=native", "-o", made, source}); err != nil {
		return nil, fmt.Errorf("nvcc: %w", err)
	}
	return []string{program}, os.Rename(made, program)
}

// findCompiler is CUDA's compiler.
func findCompiler() (string, error) {
	places := []string{filepath.Join(os.Getenv("CUDA_HOME"), "bin", "nvcc"), "nvcc", "/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"}
	for _, place := range places {
		if path, err := exec.LookPath(place); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no nvcc: set CUDA_HOME to a CUDA toolkit")
}

// unpack writes the sources to a folder named by their hash.
func unpack() (string, error) {
	files, err := sources.ReadDir(".")
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	texts := map[string][]byte{}
	for _, f := range files {
		text, err := sources.ReadFile(f.Name())
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", f.Name(), len(text), text)
		texts[f.Name()] = text
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: set XDG_CACHE_HOME", err)
	}
	dir := filepath.Join(base, "warpbook", "peers-"+fmt.Sprintf("%x", hash.Sum(nil))[:12])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, text := range texts {
		if err := write(filepath.Join(dir, name), text); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// write makes a file that is not there yet, whole or not at all: another
// process may do the same.
func write(path string, text []byte) error {
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, text) {
		return nil
	}
	made := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(made)
	if err := os.WriteFile(made, text, 0o644); err != nil {
		return err
	}
	return os.Rename(made, path)
}
