package magic

import (
	"fmt"
	"time"
)

var timeOnce = &Magic{
	Name: "time", Line: true, Cell: true, Args: "CODE",
	Short: "Run Go code once and print how long it took.",
	Long: `Cells are interpreted: a loop takes some hundred times longer than compiled,
a call into a compiled package does not. What the code declares is kept.`,
	Start: func(c *Call) (func() error, error) {
		start := time.Now()
		return func() error {
			_, err := fmt.Fprintf(c.Out, "%s, interpreted Go, once\n", readable(time.Since(start)))
			return err
		}, nil
	},
}

// readable rounds a duration to three digits.
func readable(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d >= u.size {
			return fmt.Sprintf("%.3g %s", float64(d)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}
