//go:build !windows

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"warpbook/gpu"
	"warpbook/gpu/tool"
	"warpbook/kernel/leaf/scratch"
	"warpbook/ops"
	"warpbook/ops/bench"
)

// units are ncu's metrics that name the full unit: of DRAM, L2, L1 and shared memory,
// instruction issue and the pipes, each as a share of its peak; and bytes, instructions
// and the causes for which warps wait, for each issued instruction.
var units = []string{
	"gpu__time_duration.sum",
	"dram__throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
	"lts__throughput.avg.pct_of_peak_sustained_elapsed",
	"lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
	"lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed",
	"lts__t_sectors_op_read.sum",
	"lts__t_sectors_op_write.sum",
	"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
	"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
	"l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_executed.sum",
	"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_executed_pipe_tensor.sum",
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__warps_active.avg.pct_of_peak_sustained_active",
	"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
	"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
	"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
	"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
	"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
	"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
}

// counted is the line of a launch.
type counted struct {
	Kind     string            `json:"kind"` // "counters"
	Operator string            `json:"operator"`
	Name     string            `json:"name"`
	Size     []int             `json:"size"`
	Settings string            `json:"settings,omitempty"`
	Verdict  string            `json:"verdict"`
	Launch   int               `json:"launch"` // from 0
	Entry    string            `json:"entry"`
	Blocks   int               `json:"blocks"`
	Metrics  map[string]string `json:"metrics"` // with units
	Device   string            `json:"device"`
	Method   string            `json:"method"`
}

// printCounters prints the counters of each launch of each rung.
func printCounters(d gpu.Device, o options, out, log io.Writer) error {
	if d.Info().Emulated {
		return fmt.Errorf("--counters: %w on %s: expected a GPU, on which ncu counts", gpu.ErrUnsupported, d.Info().Label())
	}
	dir, err := os.MkdirTemp(scratch.Dir(), "warpbook-counters")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.export != "" {
		if err := os.MkdirAll(o.export, 0o755); err != nil {
			return err
		}
	}
	for _, size := range o.sizes {
		for _, variant := range o.names() {
			fmt.Fprintln(log, "bench: counters:", variant)
			err := countVariant(d, o, size, variant, filepath.Join(dir, variant), out)
			if (o.skip || len(o.variants) == 0) && errors.Is(err, gpu.ErrUnsupported) {
				fmt.Fprintln(log, "bench: not run:", err)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// countVariant verifies a rung under ncu, and prints its launches. A check may launch
// a rung again, on other data: those launches are left out.
func countVariant(d gpu.Device, o options, size ops.Size, variant, report string, out io.Writer) error {
	line := counted{Kind: "counters", Operator: o.operator.Name, Name: variant, Size: size, Settings: o.settings(),
		Method: "ncu, caches emptied before each launch, clock as it is"}
	var launched []bench.Launched
	export := ""
	if o.export != "" {
		export = filepath.Join(o.export, variant)
	}
	err := tool.UnderProfiler(d, report, o.counters, export, func() error {
		b, err := ops.NewBench(d, o.operator, o.seed, size...)
		if err != nil {
			return err
		}
		if o.data != "" {
			err = b.UseData(o.data)
		}
		if err == nil {
			launched, err = b.Launched(variant)
		}
		if err == nil && len(launched) > 0 {
			checks, failed := b.Check(variant)
			if err = failed; err == nil {
				line.Verdict = checks.Rows[0].Verdict
			}
		}
		return errors.Join(err, b.Close())
	})
	if err != nil {
		return err
	}
	if len(launched) == 0 {
		return fmt.Errorf("%s: counters: %w: it launches nothing on the device", variant, gpu.ErrUnsupported)
	}
	counters, err := tool.ReadReport(report)
	if err != nil {
		return err
	}
	for i, l := range launched {
		if i >= len(counters) || counters[i].Entry != l.Entry {
			return fmt.Errorf("%s: launch %d is not in ncu's report: expected %s", variant, i, l.Entry)
		}
		line.Launch, line.Entry, line.Blocks, line.Device, line.Metrics = i, l.Entry, l.Blocks, counters[i].Device, map[string]string{}
		for _, m := range o.counters {
			line.Metrics[m] = counters[i].Text(m)
		}
		if err := printLine(out, line); err != nil {
			return err
		}
	}
	return nil
}
