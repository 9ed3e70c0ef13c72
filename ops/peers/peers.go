// Package peers runs other libraries' implementations of an operator: programs and scripts
// in the operator's folder. They need CUDA's compiler, or Python with torch, and are left
// out where these are missing. A Set is the peers of an operator; ops/bench and
// ops/cmd/bench run it. It must never import an operator.
//
// A peer is NAME.cu or NAME.py, run as `NAME --operator NAME --size N[,N...]...
// [--only NAME[,NAME...]] [--method events|graph] [--repeats R] [--l2 warm|flushed]
// [--seed S] [--turns T] [--set NAME=NUMBER]...`. It checks its own result in float64, times it as the
// bench does, and prints one Figure as JSON on each line. With turns it repeats this T times
// for each size: it waits for an input line before each turn, and prints an empty line after
// it. peer.cuh and peer.py hold the common code of peers.
//
// The text at the top of a peer lists the calls of libraries that compute the same thing on
// the same layout, with those that were tried and lost. Calls that lost are run by their
// names alone, or all by the name every; a file NAME_tried.py has only such calls.
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
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"warpbook/gpu"
	"warpbook/kernel/leaf/atomicfile"
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
	// SamplesNS are all timings in the order in which they were taken.
	SamplesNS []float64 `json:"samples_ns,omitempty"`
	Launches  int       `json:"launches,omitempty"` // 0 where it is not known
	GBps      float64   `json:"gbps,omitempty"`
	GFlops    float64   `json:"gflops,omitempty"`
	Library   string    `json:"library,omitempty"`
	Device    string    `json:"device"`
	Note      string    `json:"note,omitempty"`
	Settings  string    `json:"settings,omitempty"` // parameters and data set of the operator, "" for the usual ones

	Counters    any `json:"counters,omitempty"` // of the emulator, beside kernels of the user's
	State       any `json:"gpu,omitempty"`      // clocks and power meanwhile
	Environment any `json:"environment,omitempty"`
}

// Set is the peers of an operator: programs in the folder peers of its files.
type Set struct {
	Operator string
	Programs []string // "reduce.cu", "reduce.py"
	Files    fs.FS
}

// every asks for the figures of all calls, also for those that were tried and lost.
const every = "every"

// Null is the peer of an empty kernel: it times a launch.
var Null = Set{Operator: "null", Programs: []string{"null.cu"}}

// Options say which figures are asked for, and how peers time.
type Options struct {
	Only    []string // names of figures, all for none
	Method  string   // as Figure has it: "events" or "graph", "" is "events"
	Repeats int
	Flushed bool   // L2 before each run
	GPU     string // its UUID; "" for the first
	Seed    uint64
	Set     []string // parameters of the operator: "keep=0.1"
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

// Interrupt ends all runs, as when a notebook is interrupted.
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
	for _, set := range o.Set {
		args = append(args, "--set", set)
	}
	return args
}

// parse reads the lines of a peer and ignores lines that are not JSON.
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
	c.WaitDelay = time.Second // for the processes that it has started
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
func (s Set) prepare(ctx context.Context, file string) ([]string, error) {
	dir, err := s.unpack()
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
	err = atomicfile.Make(program, func(fresh string) error {
		_, err := output(ctx, "", []string{nvcc, "-O3", "-std=c++17", "-arch=native", "-o", fresh, source})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("nvcc: %w", err)
	}
	return []string{program}, nil
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

// texts are the files that the set's programs are made of, by name: its own, and
// those that all peers share.
func (s Set) texts() (map[string][]byte, error) {
	texts := map[string][]byte{}
	read := func(from fs.FS, pattern string) error {
		names, err := fs.Glob(from, pattern)
		for _, name := range names {
			text, failed := fs.ReadFile(from, name)
			texts[path.Base(name)], err = text, errors.Join(err, failed)
		}
		return err
	}
	if s.Files != nil {
		if err := read(s.Files, "peers/*"); err != nil {
			return nil, err
		}
	}
	return texts, read(sources, "*")
}

// flagVariables are the variables from which nvcc takes flags beside those of its command,
// such as the folder of other headers: other flags make another program.
var flagVariables = []string{"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}

// unpack writes the sources to a folder named by the hash of the sources and of nvcc's flags.
func (s Set) unpack() (string, error) {
	texts, err := s.texts()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(hash, "%s %d\n%s", name, len(texts[name]), texts[name])
	}
	for _, name := range flagVariables {
		fmt.Fprintf(hash, "%s=%s\n", name, os.Getenv(name))
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
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
