// Command install makes the notebooks available in Jupyter: it builds the
// kernel's two programs into a folder where they stay, and registers them.
//
//	go run ./install                 for this user
//	go run ./install --sys-prefix    in the active Python environment
//	go run ./install --prefix DIR    in another one
//	go run ./install --uninstall     takes away what the same flags installed
//
// It installs neither Go nor Jupyter.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"warpbook/kernel/kernelspec"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	user := flag.Bool("user", false, "install for this user (the default)")
	sysPrefix := flag.Bool("sys-prefix", false, "install into the active Python environment")
	prefix := flag.String("prefix", "", "install below `DIR`")
	uninstall := flag.Bool("uninstall", false, "remove what the same flags installed")
	flag.Usage = usage
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("argument %q: expected flags only, see --help", flag.Arg(0))
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

func usage() {
	out := flag.CommandLine.Output()
	fmt.Fprintln(out, "install makes Go notebooks available in Jupyter\n\nusage: go run ./install [--user | --sys-prefix | --prefix DIR] [--uninstall]")
	fmt.Fprintln(out)
	flag.PrintDefaults()
}

// choose finds the place that at most one of the flags names.
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
