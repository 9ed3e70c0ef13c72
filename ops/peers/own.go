package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"warpbook/gpu"
)

// Request asks a program of the user's to compute an operator on inputs, again and again,
// and to time that: a line of JSON on its standard input.
type Request struct {
	Operator string             `json:"operator"`
	Size     map[string]int     `json:"size"`          // by the operator's names: {"n": 1000}
	Set      map[string]float64 `json:"set,omitempty"` // the operator's parameters
	Inputs   []Array            `json:"inputs"`
	Outputs  []Array            `json:"outputs"` // poisoned; the program writes the result of its last run there
	Warmup   int                `json:"warmup"`  // runs that are not timed, first
	Repeats  int                `json:"repeats"`
	L2       string             `json:"l2"` // warm or flushed, on a GPU

	// Changes are made one before each timed run, as many as there are. They stay.
	Changes []Change `json:"changes"`
}

// Array is an input or output: its elements, little-endian, in a file.
type Array struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // as package gpu names it: float32, float16, uint32
	Length int    `json:"length"`
	File   string `json:"file"`
}

// Change is another value of an element of an input.
type Change struct {
	Input string `json:"input"`
	Index int    `json:"index"`
	Value any    `json:"value"`
}

// Reply is the answer to a Request: a line of JSON on standard output.
type Reply struct {
	SamplesNS []float64         `json:"samples_ns"`        // of each timed run
	Method    string            `json:"method"`            // "events" or "host clock"
	Device    string            `json:"device"`            // "NVIDIA H200", "CPU"
	Library   string            `json:"library,omitempty"` // "torch 2.9.1"
	Note      string            `json:"note,omitempty"`
	Error     string            `json:"error,omitempty"`    // in place of all others
	Changed   []string          `json:"changed,omitempty"`  // inputs that the code under test has changed
	Returned  map[string]string `json:"returned,omitempty"` // types of outputs that the code returned, by name
	LateNS    float64           `json:"late_ns,omitempty"`  // for which the device worked on after the stream that was timed, the median over the runs
}

// Own is a running program of the user's. It is for one goroutine at a time.
type Own struct {
	Name    string
	ctx     context.Context
	done    func()
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	log     bytes.Buffer
}

// nameOf names the program of a command line by its first file after the interpreter and what
// follows: "mine" for python3 mine.py, "mine --fast" for python3 mine.py --fast. Without such a
// file the last word is its name.
func nameOf(words []string) string {
	at := len(words) - 1
	for i, word := range words[1:] {
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			at = i + 1
			break
		}
	}
	base := filepath.Base(words[at])
	return strings.Join(append([]string{strings.TrimSuffix(base, filepath.Ext(base))}, words[at+1:]...), " ")
}

// StartOwn starts a command line of the user's, by sh. The module warpbook_peer is on
// Python's path. Close ends it.
func StartOwn(ctx context.Context, line, gpuUUID string) (*Own, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, fmt.Errorf("peer %q: %w: expected a command, such as 'python3 mine.py'", line, gpu.ErrArgument)
	}
	helper, err := Set{}.unpack()
	if err != nil {
		return nil, fmt.Errorf("peer %q: %w", line, err)
	}
	o := &Own{Name: nameOf(words)}
	o.ctx, o.done = begin(ctx)
	o.command = exec.CommandContext(o.ctx, "sh", "-c", "exec "+line)
	path := helper
	if old := os.Getenv("PYTHONPATH"); old != "" {
		path += string(os.PathListSeparator) + old
	}
	o.command.Env = append(os.Environ(), "PYTHONPATH="+path)
	if gpuUUID != "" {
		o.command.Env = append(o.command.Env, "CUDA_VISIBLE_DEVICES="+gpuUUID)
	}
	o.command.WaitDelay, o.command.Stderr = time.Second, &o.log
	in, failed := o.command.StdinPipe()
	out, err := o.command.StdoutPipe()
	if err = errors.Join(failed, err); err == nil {
		o.in, o.out = in, bufio.NewReader(out)
		err = o.command.Start()
	}
	if err != nil {
		o.done()
		return nil, fmt.Errorf("peer %q: %w", line, err)
	}
	return o, nil
}

// Ask sends a request and waits for its reply, which took so long. Lines of output that are
// no JSON are ignored. After an error the program has ended.
func (o *Own) Ask(r Request) (reply Reply, took time.Duration, err error) {
	line, err := json.Marshal(r)
	if err != nil {
		return reply, 0, err
	}
	late := time.AfterFunc(patience, func() { o.command.Process.Kill() })
	defer late.Stop()
	start := time.Now()
	io.WriteString(o.in, string(line)+"\n") // if the program has ended, the read below fails
	for {
		line, err := o.out.ReadString('\n')
		took = time.Since(start)
		if err != nil {
			return reply, took, o.ended(took)
		}
		if !strings.HasPrefix(line, "{") {
			continue
		}
		switch err := json.Unmarshal([]byte(line), &reply); {
		case err != nil:
			return reply, took, fmt.Errorf("peer %s: reply %.80q: %w", o.Name, strings.TrimSpace(line), err)
		case reply.Error != "":
			return reply, took, fmt.Errorf("peer %s: %s", o.Name, reply.Error)
		case len(reply.SamplesNS) != r.Repeats:
			return reply, took, fmt.Errorf("peer %s: reply with %d samples_ns, expected %d", o.Name, len(reply.SamplesNS), r.Repeats)
		}
		return reply, took, nil
	}
}

// ended is the error of a program that ended without a reply.
func (o *Own) ended(took time.Duration) error {
	err := withLast(o.command.Wait(), o.log.String())
	switch {
	case o.ctx.Err() != nil:
		err = context.Cause(o.ctx)
	case took >= patience:
		err = fmt.Errorf("no reply in %v, expected a line of JSON for each request", patience)
	case err == nil:
		err = fmt.Errorf("%w: it ended without a reply, expected a line of JSON for each request", gpu.ErrClosed)
	}
	return fmt.Errorf("peer %s: %w", o.Name, err)
}

// Close ends the program: it reads the end of its input.
func (o *Own) Close() {
	o.in.Close()
	o.command.Wait() // its replies were read before
	o.done()
}
