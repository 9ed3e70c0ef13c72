package clang

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/compile/include"
	"warpbook/gpu/llvm"
)

// runOwn compiles a source to PTX by way of intermediate code and package llvm.
func (c *Compiler) runOwn(ctx context.Context, source string, flags []string) (out, log string, err error) {
	code, log, err := c.run(ctx, source, append(flags, "-emit-llvm"))
	if err != nil {
		return "", log, err
	}
	out, err = llvm.PTX(withClusters(code), backEndOptions(flags))
	return out, log, err
}

// A Job is a compilation whose front end a caller runs: that of a browser.
type Job struct {
	Args   []string // of clang, without those that name the source and the result
	Source string

	request compiler.Request
}

// Name is the compiler of a browser.
const Name = "clang 22 in the browser"

// NewJob prepares a request for clang with headers in a folder. A clang without the NVPTX back
// end takes the target for one with vector registers, and would fill them.
func NewJob(request compiler.Request, headers string) *Job {
	flags, permits := translate(request.Options)
	flags = append(append(append([]string{}, fixed...), flags...), "-fno-vectorize", "-fno-slp-vectorize", "-I", headers, "-I", headers+"/"+include.Standard, "-include", include.Implicit, "-emit-llvm")
	return &Job{flags, wrap(request, permits), request}
}

// Reply makes PTX of the intermediate code that clang printed, "" if it failed, with its
// messages.
func (j *Job) Reply(code, log string) (reply compiler.Reply) {
	reply = compiler.Reply{Compiler: Name, Release: Name, Log: nvrtcForm(log, j.request)}
	ptx, err := "", error(nil)
	switch {
	case code != "":
		ptx, err = llvm.PTX(withClusters(code), backEndOptions(j.Args))
	case strings.Contains(reply.Log, "error: "):
		err = errors.New("clang found mistakes")
	default:
		err = fmt.Errorf("clang ended%s; nothing else is lost", reason(log))
	}
	if err != nil {
		reply.Error = "compile " + j.request.Name + ": " + err.Error()
		return reply
	}
	reply.PTX, reply.Lowered = tidy(ptx, j.request.Names)
	return reply
}

// Theirs is the PTX that clang's own back end, of this machine, makes of intermediate code.
func (j *Job) Theirs(ctx context.Context, code string) (string, error) {
	c, err := Find(ctx)
	if err != nil {
		return "", err
	}
	out, log, err := c.run(ctx, withClusters(code), backEnd(j.Args))
	if err != nil {
		return "", fmt.Errorf("clang: %w%s", err, reason(log))
	}
	ptx, _ := tidy(out, j.request.Names)
	return ptx, nil
}

// backEndOptions are the options of package llvm for flags of clang.
func backEndOptions(flags []string) (o llvm.Options) {
	for _, f := range flags {
		name, value, _ := strings.Cut(f, "=")
		switch {
		case name == "--cuda-gpu-arch":
			o.Target = value
		case name == "--cuda-feature":
			digits := strings.TrimPrefix(value, "+ptx")
			o.Version = digits[:len(digits)-1] + "." + digits[len(digits)-1:]
		case f == "-nvptx-prec-divf32=0":
			o.Fast = true
		}
	}
	return o
}
