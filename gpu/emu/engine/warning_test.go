package engine

import (
	"slices"
	"testing"

	"warpbook/gpu"
)

// TestRacesByLine: races of one line of the source are one warning with the number of the
// others, and that whose barrier orders more than a warp goes first; other kinds, and races
// without a line, are warnings each. A second list is equal.
func TestRacesByLine(t *testing.T) {
	all := []*gpu.Fault{
		{Kind: gpu.ErrRace, Source: "a.cu:4", Instruction: "ld", Detail: "read"},
		{Kind: gpu.ErrUninitialized, Source: "a.cu:4", Detail: "unset"},
		{Kind: gpu.ErrRace, Source: "a.cu:4", Instruction: "st", Detail: "wrote"},
		{Kind: gpu.ErrRace, Source: "a.cu:5", Detail: "alone"},
		{Kind: gpu.ErrRace, Source: "a.cu:4", Detail: "third"},
		{Kind: gpu.ErrRace, Line: 7, Detail: "no line"},
		{Kind: gpu.ErrRace, Line: 8, Detail: "no line"},
		{Kind: gpu.ErrUninitialized, Source: "a.cu:4", Detail: "unset, too"},
		{Kind: gpu.ErrRace, Source: "a.cu:9", Detail: "s: put __syncwarp() there"},
		{Kind: gpu.ErrRace, Source: "a.cu:9", Detail: "u: put __syncthreads() there"},
		{Kind: gpu.ErrRace, Source: "a.cu:9", Detail: "v: put __syncwarp() there"},
	}
	want := []string{"read; other accesses of the line that race: 2", "unset", "alone", "no line", "no line", "unset, too", "u: put __syncthreads() there; other accesses of the line that race: 2"}
	for range 2 {
		var got []string
		for _, f := range racesByLine(all) {
			got = append(got, f.Detail)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
