//go:build !windows

// Command install makes the notebooks available in Jupyter: it builds the
// kernel's two programs into a folder where they stay, and registers them.
//
//	go run ./install                 for this user
//	go run ./install --sys-prefix    in the active Python environment
//	go run ./install --prefix DIR    in another one
//	go run ./install --uninstall     remove what the same flags installed
//	go run ./install --site DIR      build a static site that runs the notebooks in a browser
//	go run ./install --wheel DIR     build a Python wheel, which installs all of it without Go
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
	"runtime"
	"strings"

	"warpbook/install/wheel"
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
	wheelDir := f.String("wheel", "", "build a Python wheel into `DIR`, which pip installs on machines without Go")
	platform := f.String("platform", "", "with --wheel: another `platform` than this machine's: linux-x86_64, linux-aarch64 or macos-arm64")
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
	installs := *user || *sysPrefix || *prefix != "" || *uninstall
	switch {
	case *site != "" && (installs || *wheelDir != ""), *site != "" && *platform != "":
		return fmt.Errorf("--site with another flag, expected it alone: it installs nothing")
	case *wheelDir != "" && installs:
		return fmt.Errorf("--wheel with a flag of an installation, expected it alone or with --platform: it installs nothing")
	case *wheelDir == "" && *platform != "":
		return fmt.Errorf("--platform without --wheel, expected both")
	case *site != "":
		root, err := moduleRoot(ctx)
		if err != nil {
			return err
		}
		return lite.Site(ctx, root, *site, os.Stdout)
	case *wheelDir != "":
		return buildWheel(ctx, *wheelDir, *platform)
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

// buildWheel builds the wheel of a platform, "" for this machine's.
func buildWheel(ctx context.Context, dir, name string) error {
	platform, err := wheel.Host(runtime.GOOS, runtime.GOARCH)
	if name != "" {
		platform, err = wheel.Find(name)
	}
	if err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	path, err := wheel.Build(ctx, root, dir, platform, os.Stdout)
	if err != nil {
		return err
	}
	size, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Printf("wrote %s (%d MB)\ninstall it with: pip install %s\nwhere another build of this version is installed, pip needs --force-reinstall\n", path, size.Size()>>20, path)
	return nil
}

func usage(f *flag.FlagSet) {
	f.SetOutput(os.Stdout)
	fmt.Println("install makes Go notebooks available in Jupyter\n\nusage: go run ./install [--user | --sys-prefix | --prefix DIR] [--uninstall]\n       go run ./install --site DIR\n       go run ./install --wheel DIR [--platform NAME]")
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
