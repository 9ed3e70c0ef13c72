package magic

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

var who = &Magic{
	Name: "who", Line: true, Args: "[PREFIX | TYPE]",
	Short: "List the live variables with their types and values.",
	Run: func(c *Call) error {
		w := tabwriter.NewWriter(c.Out, 0, 8, 2, ' ', 0)
		for _, v := range c.Session.Variables() {
			if strings.HasPrefix(v.Name, c.Rest) || v.Type == c.Rest {
				fmt.Fprintf(w, "%s\t%s\t%s\n", v.Name, v.Type, v.Value)
			}
		}
		return w.Flush()
	},
}
