package magic

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

var help = &Magic{
	Name: "help", Line: true, Args: "[MAGIC]",
	Short: "List the magics, or show how one is used.",
	Long:  "For the documentation of Go, put ? behind a name: fmt.Println?",
	Run: func(c *Call) error {
		if c.Rest == "" {
			w := tabwriter.NewWriter(c.Out, 0, 8, 2, ' ', 0)
			for _, m := range c.all {
				for _, sign := range m.signs() {
					fmt.Fprintf(w, "%s%s\t%s\n", sign, m.Name, m.Short)
				}
			}
			return w.Flush()
		}
		m := c.all.Find(strings.TrimLeft(c.Rest, "%"))
		if m == nil {
			return c.Errorf(c.RestAt, "there is no magic %s", c.Rest)
		}
		_, err := io.WriteString(c.Out, m.Usage())
		return err
	},
}
