package engine

import (
	"strconv"
	"strings"
)

// needs maps the opcodes that not every .target supports to the lowest one that does,
// according to the manual.
var needs = map[string]int{
	"cp": 80, "mbarrier": 80, "redux": 80, "ldmatrix": 75, "stmatrix": 90, "elect": 90, "griddepcontrol": 90,
	"createpolicy": 80, "applypriority": 80, "fns": 30, "vabsdiff2": 30, "vabsdiff4": 30, "dp2a": 61, "dp4a": 61, "bmsk": 70, "szext": 70, "nanosleep": 70, "wmma": 70, "mma": 75,
}

// target rejects an instruction that the module's .target does not support, as an
// assembler would.
func (lo *lowering) target(least int) error {
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(lo.module.Text.Target, "sm_"), "af"))
	if err == nil && n < least {
		return lo.malformed(".target sm_%d has no such instruction, expected sm_%d or later", n, least)
	}
	return nil
}
