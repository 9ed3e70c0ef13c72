package main

import (
	"fmt"
	"strings"

	"warpbook/gpu"
)

// source is where all figures of a file come from: one GPU, one driver, one
// commit. A peer's line names the GPU alone.
type source struct {
	device, environment, commit first
}

// committed refuses figures of sources that no commit has: what is kept in the repository
// must be measured again from it.
func committed(commit string) error {
	if hash, found := strings.CutPrefix(commit, "commit "); !found || strings.Contains(hash, " ") {
		return fmt.Errorf("measured by %q, expected a commit without changes: commit the sources, build the bench (.ci/gpu pack) and measure again", commit)
	}
	return nil
}

// first is the first value of a field, and its line.
type first struct {
	value string
	line  int
}

// check refuses a figure that is emulated or comes from another source than the
// figures before it.
func (s *source) check(line int, x figure) error {
	for _, device := range []string{x.Environment.Device, x.Device} {
		if strings.HasPrefix(device, gpu.EmulatorOf) {
			return fmt.Errorf("line %d: %s: emulated on %q, expected a GPU: measured files hold no times of the emulation", line, x.Name, device)
		}
	}
	for _, field := range []struct {
		name  string
		value string
		first *first
	}{
		{"device", x.Device, &s.device},
		{"environment", x.Environment.Device, &s.environment},
		{"commit", x.Environment.Commit, &s.commit},
	} {
		switch {
		case field.value == "":
		case field.first.line == 0:
			*field.first = first{field.value, line}
		case field.first.value != field.value:
			return fmt.Errorf("line %d: %s: %s %q, expected %q as in line %d: measure all figures of a file in one place, with one commit",
				line, x.Name, field.name, field.value, field.first.value, field.first.line)
		}
	}
	return nil
}
