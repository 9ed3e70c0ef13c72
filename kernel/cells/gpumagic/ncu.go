package gpumagic

import (
	"strings"

	"warpbook/gpu/tool"
	"warpbook/kernel/engine/magic"
)

var ncu = &magic.Magic{
	Name: "ncu", Cell: true,
	Short: "Run the cell under NVIDIA's profiler and show its counts beside the emulator's.",
	Long: `The workers of the open GPUs start again under ncu; live buffers move there and
back, 1 GiB at most. The first launch of each entry and shape is counted, and
run on the emulator too. No time is taken meanwhile. Without a GPU the
emulator's counters are shown alone.`,
	Flags: []magic.Flag{
		{Name: "metrics", Value: "NAMES", Help: "further metrics of ncu, with commas between them"},
		{Name: "set", Value: "SET", Help: "all metrics of a set of sections: basic, detailed, full"},
	},
	Start: func(c *magic.Call) (func() error, error) {
		var metrics []string
		if list := c.Flags["metrics"]; list != "" {
			metrics = strings.Split(list, ",")
		}
		run, err := tool.Profile(metrics, c.Flags["set"])
		return under(c, run, err)
	},
}

// under ends a tool's run with the tool's tables, however the cell ends.
func under(c *magic.Call, run *tool.Run, err error) (stop func() error, _ error) {
	if err != nil {
		return nil, c.Errorf(0, "%s", strings.TrimPrefix(err.Error(), "tool: "))
	}
	ended := false
	stop = func() error {
		if ended {
			return nil
		}
		ended = true
		tables, err := run.End()
		for _, t := range tables {
			c.Show(t)
		}
		if err != nil {
			return c.Errorf(0, "%s", strings.TrimPrefix(err.Error(), "tool: "))
		}
		if n := run.Findings(); n == 1 {
			return c.Errorf(0, "1 finding, which the table above names")
		} else if n > 1 {
			return c.Errorf(0, "%d findings, which the table above names", n)
		}
		return nil
	}
	c.Always = func() error { return stop() }
	return stop, nil
}
