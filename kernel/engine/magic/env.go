package magic

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

var env = &Magic{
	Name: "env", Line: true, Args: "[NAME[=VALUE]]",
	Short: "List the environment, show one variable, or set it.",
	Long:  "A value is taken as it stands, up to the end of the line, without quotes.",
	Run: func(c *Call) error {
		name, value, set := strings.Cut(c.Rest, "=")
		if name = strings.TrimSpace(name); c.Rest != "" && (name == "" || strings.ContainsAny(name, " \t")) {
			return c.Errorf(c.RestAt, "expected NAME or NAME=VALUE")
		}
		switch {
		case set:
			if err := os.Setenv(name, strings.TrimSpace(value)); err != nil {
				return c.Errorf(c.RestAt, "%v", err)
			}
			return nil
		case name == "":
			all := os.Environ()
			slices.Sort(all)
			_, err := fmt.Fprintln(c.Out, strings.Join(all, "\n"))
			return err
		}
		value, ok := os.LookupEnv(name)
		if !ok {
			return c.Errorf(c.RestAt, "%s is not set", name)
		}
		_, err := fmt.Fprintln(c.Out, value)
		return err
	},
}
