package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"warpbook/kernel/kernelspec"
	"warpbook/kernel/program"
)

// The names of the two programs in their folder.
const (
	serverName = "warpbook"
	cellsName  = "cells"
)

// install builds, copies and registers, in an order in which an interruption
// leaves an older installation working.
func install(ctx context.Context, place kernelspec.Place) error {
	if err := os.MkdirAll(place.Programs, 0o755); err != nil {
		return elsewhere(err)
	}
	_, before := kernelspec.Read(place.Spec)
	server, cells := filepath.Join(place.Programs, serverName), filepath.Join(place.Programs, cellsName)
	built, err := program.Cells(ctx, os.Stdout)
	if err != nil {
		return err
	}
	if err := replace(cells, copyFrom(built)); err != nil {
		return err
	}
	if err := replace(server, buildServer(ctx)); err != nil {
		return err
	}
	if err := kernelspec.New(server, cells).Write(place.Spec); err != nil {
		return elsewhere(err)
	}
	if before == nil {
		fmt.Println("an older installation was replaced")
	}
	buildWorker(ctx)
	buildCompiler(ctx)
	fmt.Printf("programs   %s\n           %s\nkernelspec %s\n", server, cells, place.Spec)
	next(ctx)
	return nil
}

// elsewhere adds the remedy to an error about a folder that cannot be written.
func elsewhere(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: choose a folder that you may write with --user or --prefix DIR", err)
	}
	return err
}

// replace makes a program beside what a running kernel may be using, and puts
// it there whole.
func replace(target string, create func(fresh string) error) error {
	fresh := target + ".new"
	defer os.Remove(fresh) // if it is still there
	if err := create(fresh); err != nil {
		return elsewhere(err)
	}
	return os.Rename(fresh, target)
}

func copyFrom(source string) func(string) error {
	return func(fresh string) error {
		from, err := os.Open(source)
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		return errors.Join(err, to.Close())
	}
}

func buildServer(ctx context.Context) func(string) error {
	return func(fresh string) error {
		fmt.Println("building the server")
		c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", fresh, "warpbook/kernel/warpbook")
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go build warpbook/kernel/warpbook: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	}
}

// next says what to type now.
func next(ctx context.Context) {
	if err := exec.CommandContext(ctx, "jupyter", "lab", "--version").Run(); err != nil {
		fmt.Println("JupyterLab was not found; get it with: python3 -m pip install jupyterlab")
	}
	fmt.Println("start with: jupyter lab notebooks/01-reduce.ipynb")
}

// remove takes away the kernelspec first, so that Jupyter offers no kernel
// whose programs are gone.
func remove(place kernelspec.Place) error {
	found, err := kernelspec.Remove(place.Spec)
	if err != nil {
		return err
	}
	for _, name := range []string{serverName, cellsName} {
		err := os.Remove(filepath.Join(place.Programs, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		found = found || err == nil
	}
	os.Remove(place.Programs) // unless something is left in it
	os.Remove(filepath.Dir(place.Programs))
	if !found {
		fmt.Println("nothing is installed in", place.Spec)
		return nil
	}
	fmt.Println("removed", place.Spec, "and", place.Programs)
	return nil
}

// pythonPrefix is the root of the active Python environment.
func pythonPrefix(ctx context.Context) (string, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			return dir, nil
		}
	}
	out, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.prefix)").Output()
	if err != nil {
		return "", fmt.Errorf("--sys-prefix: python3: %w: activate an environment, or name it with --prefix DIR", err)
	}
	return strings.TrimSpace(string(out)), nil
}
