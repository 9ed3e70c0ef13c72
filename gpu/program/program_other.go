//go:build !linux

package program

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// Program is a program that is built, which this system cannot do.
type Program struct {
	Sources  []Source
	Name     string
	Warnings []string
}

// Streams are the standard streams of a run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool
	Ask      func() (string, error)
}

func refusal() error {
	reason := "they run on Linux, and this is " + runtime.GOOS
	if runtime.GOOS == "js" {
		reason = "a browser tab starts no process"
	}
	return fmt.Errorf("program: %w: %s; kernels without main run from Go cells", ErrUnavailable, reason)
}

// Build refuses.
func Build(context.Context, []Source, Options, io.Writer) (*Program, error) { return nil, refusal() }

// Run refuses.
func (*Program) Run(context.Context, Settings, Streams) error { return refusal() }

// Write refuses.
func (*Program) Write(string) error { return refusal() }

// NVIDIA refuses.
func NVIDIA() (string, error) { return "", refusal() }

// Prepare refuses.
func Prepare(context.Context, io.Writer) error { return refusal() }

// Prepared refuses.
func Prepared(context.Context) (bool, error) { return false, refusal() }
