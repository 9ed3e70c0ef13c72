package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"warpbook/gpu/compile/compiler"
)

// remedy ends every error about a missing library or header.
const remedy = "run `pip install --target DIR nvidia-cuda-nvrtc-cu12==12.0.140" +
	" nvidia-cuda-runtime-cu12==12.0.146 nvidia-cuda-cccl-cu12==12.9.27 nvidia-cuda-nvcc-cu12==12.0.140` and set WARPBOOK_NVRTC=DIR"

var errMissing = errors.New("nvrtc: libnvrtc not found: " + remedy)

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
		return nil, fmt.Errorf("nvrtc: %s: libnvrtc is opened on Linux only; the committed PTX needs no compiler", runtime.GOOS)
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
		return nil, fmt.Errorf("nvrtc: libnvrtc is %s, expected release %s: %s", strings.Join(others, ", "), release, remedy)
	}
	return nil, errMissing
}
