package gpumagic

import (
	"slices"
	"strings"

	"warpbook/gpu/tool"
	"warpbook/kernel/engine/magic"
)

var sanitize = &magic.Magic{
	Name: "sanitize", Cell: true, Args: "[CHECK]",
	Short: "Run the cell under NVIDIA's sanitizer and show what it and the emulator find.",
	Long: `CHECK is memcheck (the default), racecheck, initcheck or synccheck. The workers
of the open GPUs start again under compute-sanitizer; live buffers move there
and back, 1 GiB at most. The first launch of each entry and shape is checked on
the emulator too. Without a GPU the emulator checks every launch, for all that it
can find whatever CHECK is. A finding fails the cell.`,
	Start: func(c *magic.Call) (func() error, error) {
		check := c.Rest
		if check == "" {
			check = tool.Checks[0]
		}
		if !slices.Contains(tool.Checks, check) {
			return nil, c.Errorf(c.RestAt, "%s: expected one of %s", check, strings.Join(tool.Checks, ", "))
		}
		run, err := tool.Sanitize(check)
		return under(c, run, err)
	},
}
