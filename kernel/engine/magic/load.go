package magic

import (
	"os"
	"unicode/utf8"
)

const maxLoad = 1 << 20 // largest file that becomes a cell, in bytes

var load = &Magic{
	Name: "load", Line: true, Alone: true, Args: "FILE",
	Short: "Replace the cell by the text of a file, which is not run.",
	Long:  "It stands alone in its cell. A client that cannot replace a cell shows nothing.",
	Run: func(c *Call) error {
		if c.Rest == "" {
			return c.Errorf(c.RestAt, "expected the name of a file")
		}
		info, err := os.Stat(c.Rest)
		if err == nil && info.Size() > maxLoad {
			return c.Errorf(c.RestAt, "%s: %d bytes, at most %d", c.Rest, info.Size(), maxLoad)
		}
		text, err := os.ReadFile(c.Rest)
		switch {
		case err != nil:
			return c.Errorf(c.RestAt, "%s: %v", c.Rest, reason(err))
		case !utf8.Valid(text):
			return c.Errorf(c.RestAt, "%s: not a text, expected UTF-8", c.Rest)
		}
		c.Session.Replace(string(text))
		return nil
	},
}
