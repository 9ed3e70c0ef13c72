package magic

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
)

var pkg = &Magic{
	Name: "pkg", Line: true, Args: "MODULE[@VERSION]",
	Short: "Add a Go module, so that the cells below can import its packages.",
	Long: `It is downloaded by the go command, with what it requires, and interpreted from
its source: a loop in it takes longer than a compiled one. Packages with assembly,
cgo or go:linkname are refused. Without an argument the packages that can be imported beside the
standard library are listed. Import them in a cell below.`,
	Run: func(c *Call) error {
		path, version, pinned := strings.Cut(c.Rest, "@")
		switch {
		case path == "":
			return listPackages(c)
		case strings.ContainsAny(c.Rest, " \t"):
			return c.Errorf(c.RestAt, "expected one module, as in %%pkg example.com/module@v1.2.3")
		case !strings.Contains(strings.Split(path, "/")[0], "."):
			return c.Errorf(c.RestAt, "%s: expected the path of a module, which begins with a host, as in example.com/module", path)
		case pinned && version == "":
			return c.Errorf(c.RestAt+len(path)+1, "expected a version after the @")
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-c.Session.Stopped():
				cancel()
			case <-ctx.Done():
			}
		}()
		if runtime.GOOS == "js" {
			return c.Errorf(c.RestAt, "a browser has no go command: install the kernel to add modules")
		}
		added, err := c.Session.AddModule(ctx, path, version)
		switch {
		case errors.Is(err, context.Canceled):
			return ErrInterrupted
		case err != nil:
			return c.Errorf(c.RestAt, "%s", strings.TrimPrefix(err.Error(), "module: "))
		}
		_, err = fmt.Fprintln(c.Out, strings.Join(added, "\n"))
		return err
	},
}

func listPackages(c *Call) error {
	for _, p := range c.Session.Packages() {
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") || first == "warpbook" {
			if _, err := fmt.Fprintln(c.Out, p); err != nil {
				return err
			}
		}
	}
	return nil
}
