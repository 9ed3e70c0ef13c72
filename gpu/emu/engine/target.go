package engine

import (
	"strconv"
	"strings"

	"warpbook/gpu/ptx"
)

// needs maps the opcodes that not every .target supports to the lowest one that does,
// according to the manual.
var needs = map[string]int{
	"cp": 80, "mbarrier": 80, "redux": 80, "ldmatrix": 75, "stmatrix": 90, "elect": 90, "griddepcontrol": 90,
	"createpolicy": 80, "applypriority": 80, "fns": 30, "dp2a": 61, "dp4a": 61, "bmsk": 70, "szext": 70, "nanosleep": 70, "wmma": 70, "mma": 75,
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

// matrixTarget is the lowest .target that multiplies matrices of a shape and
// type by mma.sync or wmma.
func (p *matrixProduct) matrixTarget(whole bool) int {
	small := map[ptx.Type]int{"f16": 8, "s8": 16, "u8": 16}[p.of] // the largest k of sm_75
	switch {
	case p.of == "e4m3" || p.of == "e5m2":
		return 89
	case p.sparse != nil:
		return 80
	case whole && small > 0:
		return 72
	case p.of == "f64" && p.m == 16:
		return 90
	case small == 0 || p.k > small || p.of != "f16" && p.m == 16:
		return 80
	}
	return 75
}
