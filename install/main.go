// Command install makes the notebooks available in Jupyter: it builds the
// kernel's two programs into a folder where they stay, and registers them.
//
//	go run ./install                 for this user
//	go run ./install --sys-prefix    in the active Python environment
//	go run ./install --prefix DIR    in another one
//	go run ./install --uninstall     remove what the same flags installed
//	go run ./install --site DIR      build a static site that runs the notebooks in a browser
//
// It installs neither Go nor Jupyter.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"warpbook/kernel/kernelspec"
	"warpbook/kernel/lite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("install", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main prints the error
	user := f.Bool("user", false, "install for this user (the default)")
	sysPrefix := f.Bool("sys-prefix", false, "install into the active Python environment")
	prefix := f.String("prefix", "", "install below `DIR`")
	uninstall := f.Bool("uninstall", false, "remove what the same flags installed")
	site := f.String("site", "", "build a static site into `DIR`, in which the notebooks run in a browser")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		usage(f)
		return nil
	case err != nil:
		return fmt.Errorf("%w, see go run ./install --help", err)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("argument %q: expected flags only, see --help", f.Arg(0))
	}
	if *site != "" {
		if *user || *sysPrefix || *prefix != "" || *uninstall {
			return fmt.Errorf("--site with another flag, expected it alone: it installs nothing")
		}
		root, err := moduleRoot(ctx)
		if err != nil {
			return err
		}
		return lite.Site(ctx, root, *site, os.Stdout)
	}
	place, err := choose(ctx, *user, *sysPrefix, *prefix)
	if err != nil {
		return err
	}
	if *uninstall {
		return remove(place)
	}
	return install(ctx, place)
}

func usage(f *flag.FlagSet) {
	f.SetOutput(os.Stdout)
	fmt.Println("install makes Go notebooks available in Jupyter\n\nusage: go run ./install [--user | --sys-prefix | --prefix DIR] [--uninstall]\n       go run ./install --site DIR")
	fmt.Println()
	f.PrintDefaults()
}

// choose returns the place that the flags select; at most one flag may be set.
func choose(ctx context.Context, user, sysPrefix bool, prefix string) (kernelspec.Place, error) {
	switch {
	case user && sysPrefix, user && prefix != "", sysPrefix && prefix != "":
		return kernelspec.Place{}, fmt.Errorf("more than one of --user, --sys-prefix and --prefix, expected one")
	case sysPrefix:
		found, err := pythonPrefix(ctx)
		return kernelspec.InPrefix(found), err
	case prefix != "":
		full, err := filepath.Abs(prefix)
		return kernelspec.InPrefix(full), err
	}
	return kernelspec.ForUser()
}

// moduleRoot is the folder of the module's go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || filepath.Base(path) != "go.mod" {
		return "", fmt.Errorf("go env GOMOD: %q, %v: run the command in a clone of warpbook", path, err)
	}
	return filepath.Dir(path), nil
}
