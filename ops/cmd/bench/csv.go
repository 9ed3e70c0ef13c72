//go:build !windows

package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"warpbook/gpu"
	"warpbook/ops/peers"
)

// columns are those of --csv, with the names of the operator's numbers: units are in them,
// an empty cell is a number that was not measured.
func (o options) columns() []string {
	return slices.Concat([]string{"operator", "name"}, o.operator.Dims, []string{"settings", "device", "method", "l2", "verdict",
		"median_ns", "low_ns", "high_ns", "repeats", "gbps", "gflops", "launches", "warp_instructions", "load_sectors", "store_sectors", "shared_wavefronts", "bank_conflicts", "library", "note"})
}

// printRow writes a figure as a line of CSV.
func printRow(out io.Writer, f peers.Figure) error {
	row := []string{f.Operator, f.Name}
	for _, n := range f.Size {
		row = append(row, strconv.Itoa(n))
	}
	number := func(v float64) {
		cell := ""
		if v != 0 {
			cell = strconv.FormatFloat(v, 'f', -1, 64)
		}
		row = append(row, cell)
	}
	row = append(row, f.Settings, f.Device, f.Method, f.L2, f.Verdict)
	for _, v := range []float64{f.MedianNS, f.LowNS, f.HighNS, float64(f.Repeats), f.GBps, f.GFlops, float64(f.Launches)} {
		number(v)
	}
	if c, ok := f.Counters.(gpu.Counters); ok {
		for _, n := range []uint64{c.WarpInstructions, c.GlobalLoad.Sectors, c.GlobalStore.Sectors, c.SharedLoad.Wavefronts + c.SharedStore.Wavefronts, c.SharedLoad.Conflicts + c.SharedStore.Conflicts} {
			row = append(row, fmt.Sprint(n))
		}
	} else {
		row = append(row, "", "", "", "", "")
	}
	return writeRow(out, append(row, f.Library, f.Note))
}

// writeRow writes a line with one call, so that it is whole.
func writeRow(out io.Writer, row []string) error {
	w := csv.NewWriter(out)
	w.Write(row)
	w.Flush()
	return w.Error()
}
