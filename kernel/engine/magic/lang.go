package magic

import (
	"fmt"
	"strings"

	"warpbook/kernel/messages"
)

var lang = &Magic{
	Name: "lang", Line: true, Args: "[en|zh]",
	Short: "Set the language of tables, charts and lessons, or show it.",
	Long:  "warpbook run and JupyterLab take the language from the notebook's metadata (lang). " + messages.Variable + " sets it for every notebook.",
	Run: func(c *Call) error {
		tag := strings.TrimSpace(c.Rest)
		if tag == "" {
			_, err := fmt.Fprintln(c.Out, messages.Language())
			return err
		}
		if err := messages.SetLanguage(tag); err != nil {
			return c.Errorf(c.RestAt, "language %q, expected en or zh", tag)
		}
		return nil
	},
}
