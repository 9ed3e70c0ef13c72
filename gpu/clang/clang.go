// Package clang compiles CUDA C++ to PTX with a clang that has the NVPTX back end, for
// machines without NVRTC: macOS, arm64, Windows, or a Linux without NVIDIA's wheels. The
// pip wheel ziglang has one. The headers of CUDA are our own, of package include.
//
// Run takes the request that the program gpu/nvrtc takes, and its answer has NVRTC's
// form: places, wording and names of templates, so that package compile, its caller,
// explains both compilers' messages. It runs no PTX and imports no device.
package clang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/compile/include"
)

// limit ends a compilation that hangs. The largest source of package ops takes 11 s.
const limit = 5 * time.Minute

// killGrace is how long the pipes of a compiler that has ended may stay open.
const killGrace = 5 * time.Second

// Run compiles a source. The end of ctx kills the compiler.
func Run(ctx context.Context, request compiler.Request) (compiler.Reply, error) {
	return start(ctx, request, false)
}

// RunOwn compiles a source as a browser does: clang stops at intermediate code, of which
// package llvm makes PTX.
func RunOwn(ctx context.Context, request compiler.Request) (compiler.Reply, error) {
	return start(ctx, request, true)
}

func start(ctx context.Context, request compiler.Request, own bool) (compiler.Reply, error) {
	var reply compiler.Reply
	if runtime.GOOS == "js" {
		reply.Missing, reply.Error = true, "clang does not run in a browser"
		return reply, nil
	}
	found, err := Find(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return reply, fmt.Errorf("compile: %s: %w", request.Name, ctx.Err())
		}
		reply.Missing, reply.Error = true, err.Error()
		return reply, nil
	}
	headers, err := include.Dir()
	if err != nil {
		return reply, fmt.Errorf("compile: %s: %w", request.Name, err)
	}
	return found.compile(ctx, request, headers, own)
}

// compile runs the compiler on a source against headers in a folder, with package llvm in
// place of its back end if own.
func (c *Compiler) compile(ctx context.Context, request compiler.Request, headers string, own bool) (compiler.Reply, error) {
	reply := compiler.Reply{Compiler: c.Name, Release: c.Name, Newer: c.major > newest}
	flags, permits := translate(request.Options)
	flags = append(append(append([]string{}, fixed...), flags...), "-I", headers, "-I", filepath.Join(headers, include.Standard), "-include", include.Implicit)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	source := wrap(request, permits)
	run := c.run
	switch {
	case own:
		run = c.runOwn
	case clustered(flags):
		run = c.runClustered
	}
	out, log, err := run(limited, source, flags)
	if err != nil && strings.Contains(log, "error in backend: Cannot select") && strings.Contains(log, "AtomicLoad") {
		out, log, err = run(limited, source, append(flags, "-D__WB_GENERIC_ATOMICS"))
	}
	switch {
	case ctx.Err() != nil:
		return reply, fmt.Errorf("compile: %s: %w", request.Name, ctx.Err())
	case limited.Err() != nil:
		return reply, fmt.Errorf("compile: %s: %s did not end within %v and was killed: make the source smaller, or its templates less deep", request.Name, c.Name, limit)
	}
	reply.Log = nvrtcForm(log, request)
	if err != nil {
		reply.Error = "compile " + request.Name + ": " + err.Error()
		if !strings.Contains(reply.Log, "error: ") {
			return reply, fmt.Errorf("compile: %s: %s ended: %w%s; nothing else is lost", request.Name, c.Name, err, reason(log))
		}
		return reply, nil
	}
	reply.PTX, reply.Lowered = tidy(out, request.Names)
	return reply, nil
}

// run starts the compiler with a source on its standard input.
func (c *Compiler) run(ctx context.Context, source string, flags []string) (out, log string, err error) {
	var stdout, stderr bytes.Buffer
	command := bounded(append(append(append([]string{}, c.command...), flags...), "-o", "-", "-"))
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Stdin, run.Stdout, run.Stderr, run.WaitDelay = strings.NewReader(source), &stdout, &stderr, killGrace
	err = run.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it had ended
		err = nil
	}
	return stdout.String(), stderr.String(), err
}

// maxMemory bounds the compiler in KiB, so that templates without end exhaust it and not
// the machine.
const maxMemory = 6 << 20

// bounded is a command whose memory is limited, where the system's shell can do so.
func bounded(command []string) []string {
	if runtime.GOOS != "linux" {
		return command
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return command
	}
	return append([]string{shell, "-c", fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, maxMemory), "sh"}, command...)
}

// reason is the line of a crashed compiler's log that names the cause.
func reason(log string) string {
	for _, line := range strings.Split(log, "\n") {
		for _, word := range []string{"LLVM ERROR", "out of memory", "bad alloc", "Segmentation", "Assertion", "fatal error"} {
			if strings.Contains(line, word) {
				return ": " + strings.TrimSpace(line)
			}
		}
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(log), "\n"); line != "" {
		return ": " + line
	}
	return ""
}
