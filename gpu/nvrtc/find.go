package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"warpbook/gpu/compile/compiler"
)

// remedy ends every error about a missing library or header: what to do on this machine.
func remedy() string {
	python, managed := "python3", false
	if found := compiler.Pythons(); len(found) > 0 {
		python, managed = found[0], externallyManaged(found[0])
	}
	home, _ := os.UserHomeDir() // "" makes a folder of the root, which pip reports
	return remedyFor(runtime.GOOS, runtime.GOARCH, python, managed, filepath.Join(home, "nvrtc"))
}

// remedyFor is the remedy for a system, the Python whose packages are searched, and a
// folder that is free for wheels. A managed Python refuses pip without --target.
func remedyFor(system, arch, python string, managed bool, folder string) string {
	if system != "linux" {
		return "NVIDIA has no NVRTC for this system: cells with committed PTX and %%ptx cells run without one"
	}
	if arch != "amd64" && arch != "arm64" {
		return "NVIDIA has NVRTC for amd64 and arm64 only: cells with committed PTX and %%ptx cells run without one"
	}
	target := fmt.Sprintf("`%s -m pip install --target %s %s` and `%%env %s=%s` in a cell", python, folder, wheels(arch), compiler.FolderVariable, folder)
	if managed {
		return "run " + target
	}
	return fmt.Sprintf("run `%s -m pip install %s`, or, to keep the wheels apart, the same with `--target %s` and `%%env %s=%[3]s` in a cell",
		python, wheels(arch), folder, compiler.FolderVariable)
}

// wheels are NVRTC and CUDA's headers: of release 12.0, with which the committed PTX is
// made, and for arm64 of the oldest release that NVIDIA offers.
func wheels(arch string) string {
	compiler, headers := "12.0.140", "12.0.146"
	if arch == "arm64" {
		compiler, headers = "12.3.107", "12.3.101"
	}
	return fmt.Sprintf("nvidia-cuda-nvrtc-cu12==%[1]s nvidia-cuda-runtime-cu12==%[2]s nvidia-cuda-cccl-cu12==12.9.27 nvidia-cuda-nvcc-cu12==%[1]s", compiler, headers)
}

// externallyManaged reports whether a Python is the system's, into which pip installs
// nothing.
func externallyManaged(python string) bool {
	out, err := exec.Command(python, "-c", "import os, sys, sysconfig; print(sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED')))").Output()
	return err == nil && strings.TrimSpace(string(out)) == "True"
}

// missing is the error for a library that was not found.
func missing() error { return fmt.Errorf("nvrtc: libnvrtc not found: %s", remedy()) }

// folders lists the folders that may hold the library, best first. A folder that the
// user named is the only one.
func folders(named string) []string {
	for _, dir := range []string{named, os.Getenv(compiler.FolderVariable)} {
		if dir != "" {
			return []string{dir}
		}
	}
	return compiler.Folders()
}

// libraries lists the files that may be libnvrtc; the bare names at the end
// are for the loader to find.
func libraries(dirs []string) []string {
	var found []string
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			found = append(found, dir)
			continue
		}
		found = append(found, matches(dir, "libnvrtc.so*", "lib64/libnvrtc.so*", "lib/libnvrtc.so*",
			"nvidia/*/lib/libnvrtc.so*")...)
	}
	if len(dirs) > 1 {
		found = append(found, "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12")
	}
	return found
}

// headers lists the folders of CUDA's headers that belong to a library, and the folders
// where other headers may be.
func headers(lib string, dirs []string) []string {
	dir := filepath.Dir(lib)
	for _, root := range append([]string{filepath.Dir(dir), filepath.Join(dir, "../../..")}, dirs...) {
		found := matches(root, "include", "include/cccl", "nvidia/*/include", "nvidia/*/include/cccl")
		for _, f := range found {
			if _, err := os.Stat(filepath.Join(f, "cuda_runtime.h")); err == nil {
				return found
			}
		}
	}
	return nil
}

func matches(dir string, patterns ...string) []string {
	var found []string
	for _, p := range patterns {
		m, _ := filepath.Glob(filepath.Join(dir, p)) // errs on a malformed pattern only
		found = append(found, m...)
	}
	return found
}

// open opens the first library that has the wanted release, or any if none is
// wanted.
func open(dirs []string, release string) (*library, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("nvrtc: %s: %s", runtime.GOOS, remedy())
	}
	var others []string
	for _, path := range libraries(dirs) {
		lib, err := load(path)
		if err != nil {
			continue // not a library, or not for this machine: try the next
		}
		if release == "" || lib.release == release {
			lib.headers = headers(path, dirs)
			return lib, nil
		}
		others = append(others, lib.release+" in "+path)
	}
	if len(others) > 0 {
		return nil, fmt.Errorf("nvrtc: libnvrtc is %s, expected release %s: %s", strings.Join(others, ", "), release, remedy())
	}
	return nil, missing()
}
