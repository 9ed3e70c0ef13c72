//go:build !windows

package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/release"
)

// finding is one line of the doctor: the subject, whether it is in order, and its state
// or the remedy.
type finding struct {
	state string
	what  string
	text  string
}

// The states of a finding. A missing part is never an error: notebooks run without it,
// or the text gives the remedy.
const (
	ok      = "ok"
	missing = "missing"
	note    = "note"
)

// answerTime is how long a program may take to say its version; it takes 20 ms.
const answerTime = 20 * time.Second

// nameOf returns the release.Name of an installed program, or "an earlier version" for a
// program that has no answer.
func nameOf(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	out, _ := exec.CommandContext(ctx, path, release.Flag).Output()
	return cmp.Or(strings.TrimSpace(string(out)), "an earlier version")
}

// givenCells compares the build of a cells program that was not built here with this command's.
func givenCells(path, by, own string) finding {
	name := nameOf(path)
	if !release.Same(name, own) {
		return finding{missing, "cells program", fmt.Sprintf("%s (%s) is of warpbook %s, this command of %s: install both again", path, by, name, own)}
	}
	return finding{ok, "cells program", fmt.Sprintf("%s (%s, %s)", path, by, name)}
}

// kernelFinding compares the builds of a registered kernel's programs and of this command,
// which has the name own.
func kernelFinding(dir string, spec kernelspec.Spec, own string) finding {
	programs := spec.Programs()
	kernel, cells := nameOf(programs[0]), nameOf(programs[1])
	switch {
	case !release.Same(kernel, cells):
		return finding{missing, "kernel", fmt.Sprintf("%s: the kernel is of warpbook %s, its cells program of %s: install it again with: %s", dir, kernel, cells, again(spec))}
	case !release.Same(kernel, own):
		return finding{note, "kernel", fmt.Sprintf("%s: the kernel is of warpbook %s, this command of %s: make them equal with: %s", dir, kernel, own, again(spec))}
	}
	return finding{ok, "kernel", fmt.Sprintf("%s (%s)", dir, kernel)}
}

// again is the command that replaces a kernel by another build. pip leaves a wheel of the
// same version alone without the flag.
func again(spec kernelspec.Spec) string {
	if spec.OfWheel() {
		return "pip install --force-reinstall WHEEL"
	}
	return "go run ./install"
}
