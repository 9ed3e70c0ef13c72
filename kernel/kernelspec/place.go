package kernelspec

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"warpbook/kernel/leaf/buildcache"
)

// Place is the destination of one installation.
type Place struct {
	Programs string // folder of the programs
	Spec     string // folder of kernel.json
}

// Kernel returns the path of the program that Jupyter starts.
func (p Place) Kernel() string { return filepath.Join(p.Programs, "warpbook-kernel") }

// Former returns the path of the program that Jupyter started until November 2026. An
// installation over an older one removes it.
func (p Place) Former() string { return filepath.Join(p.Programs, "warpbook") }

// Cells returns the path of the cells program.
func (p Place) Cells() string { return filepath.Join(p.Programs, "cells") }

// Compiler returns the path of the program that compiles %%cuda cells with NVRTC.
func (p Place) Compiler() string { return filepath.Join(p.Programs, "nvrtc") }

// ForUser returns the place of the user's own kernels, visible to every Jupyter that
// the user starts.
func ForUser() (Place, error) {
	data, err := DataDir()
	if err != nil {
		return Place{}, err
	}
	jupyter, err := jupyterDir()
	if err != nil {
		return Place{}, err
	}
	return Place{filepath.Join(data, "bin"), specIn(jupyter)}, nil
}

// InPrefix returns the place in an environment, such as /usr/local or a Python virtual
// environment.
func InPrefix(prefix string) Place {
	share := filepath.Join(prefix, "share")
	return Place{filepath.Join(share, name, "bin"), specIn(filepath.Join(share, "jupyter"))}
}

// Places lists the places where this user's Jupyter may find the kernel.
func Places() []Place {
	var places []Place
	if p, err := ForUser(); err == nil {
		places = append(places, p)
	}
	for _, dir := range filepath.SplitList(os.Getenv("JUPYTER_PATH")) {
		places = append(places, Place{Spec: specIn(dir)})
	}
	for _, prefix := range []string{ownPrefix(), os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"), "/usr/local", "/usr"} {
		same := func(p Place) bool { return p.Spec == InPrefix(prefix).Spec }
		if prefix != "" && !slices.ContainsFunc(places, same) {
			places = append(places, InPrefix(prefix))
		}
	}
	return places
}

// ownPrefix is the environment that a wheel has installed this program into, "" for
// another program.
func ownPrefix() string {
	kernel := buildcache.Installed("warpbook-kernel")
	if kernel == "" {
		return ""
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(kernel)))) // PREFIX/share/warpbook/bin/warpbook-kernel
}

func specIn(jupyter string) string { return filepath.Join(jupyter, "kernels", name) }

// DataDir returns the folder of the kernel's data for this user.
func DataDir() (string, error) {
	data, err := dataDir()
	return filepath.Join(data, name), err
}

// dataDir returns the system's folder for the data of a user's programs.
func dataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("kernelspec: %w", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "share"), nil
}

// jupyterDir returns Jupyter's data folder, by the rules of jupyter_core.
func jupyterDir() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if runtime.GOOS == "darwin" {
		home, err := os.UserHomeDir()
		return filepath.Join(home, "Library", "Jupyter"), err
	}
	data, err := dataDir()
	return filepath.Join(data, "jupyter"), err
}
