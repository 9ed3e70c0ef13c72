package magic

import (
	"strings"

	"warpbook/gpu/tool"
)

var ncu = &Magic{
	Name: "ncu", Cell: true,
	Short: "Run the cell under NVIDIA's profiler and show its counts beside the emulator's.",
	Long: `The workers of the open GPUs start again under ncu; live buffers move there and
back, 1 GiB at most. The first launch of each entry and shape is counted, and
run on the emulator too. No time is taken meanwhile. Without a GPU the
emulator's counters are shown alone.`,
	Flags: []Flag{
		{Name: "metrics", Value: "NAMES", Help: "further metrics of ncu, with commas between them"},
		{Name: "set", Value: "SET", Help: "all metrics of a set of sections: basic, detailed, full"},
	},
	Start: func(c *Call) (func() error, error) {
		var metrics []string
		if list := c.Flags["metrics"]; list != "" {
			metrics = strings.Split(list, ",")
		}
		return c.under(tool.Profile(metrics, c.Flags["set"]))
	},
}

// under ends a tool's run with its tables, however the cell ends.
func (c *Call) under(run *tool.Run, err error) (stop func() error, _ error) {
	if err != nil {
		return nil, c.at(0, "%s", strings.TrimPrefix(err.Error(), "tool: "))
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
			return c.at(0, "%s", strings.TrimPrefix(err.Error(), "tool: "))
		}
		return nil
	}
	c.Always = func() error { return stop() }
	return stop, nil
}
