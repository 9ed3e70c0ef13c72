package magic

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var cd = &Magic{
	Name: "cd", Line: true, Args: "[FOLDER]",
	Short: "Change the working folder, to the home folder without an argument, and print it.",
	Run: func(c *Call) error {
		dir := c.Rest
		if dir == "" || dir == "~" || strings.HasPrefix(dir, "~/") {
			home, err := os.UserHomeDir()
			if err != nil {
				return c.Errorf(0, "%v", err)
			}
			dir = filepath.Join(home, strings.TrimPrefix(dir, "~"))
		}
		if err := os.Chdir(dir); err != nil {
			return c.Errorf(c.RestAt, "%s: %v", dir, reason(err))
		}
		dir, err := os.Getwd()
		if err != nil {
			return c.Errorf(0, "%v", err)
		}
		_, err = fmt.Fprintln(c.Out, dir)
		return err
	},
}

// reason is an error without the names of the call and the file.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
