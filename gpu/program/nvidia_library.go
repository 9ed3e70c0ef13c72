//go:build linux

package program

import (
	"errors"
	"os"
	"path/filepath"

	"warpbook/gpu/compile/compiler"
)

// runtimeName is NVIDIA's runtime, whose numbers and structures our headers have: that of
// CUDA 12, which drivers of CUDA 12 and 13 run.
const runtimeName = "libcudart.so.12"

// errNoRuntime is the error where NVIDIA's runtime is not found.
var errNoRuntime = errors.New("a GPU needs NVIDIA's " + runtimeName + ", which is not here: run `python3 -m pip install nvidia-cuda-runtime-cu12==12.0.146`")

// NVIDIA is the file of NVIDIA's runtime: that of the folder that the user named, of a toolkit or
// of Python's packages.
func NVIDIA() (string, error) {
	dirs := compiler.Folders()
	if dir := os.Getenv(compiler.FolderVariable); dir != "" {
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		for _, where := range []string{"lib64", "lib", "nvidia/*/lib"} {
			found, _ := filepath.Glob(filepath.Join(dir, where, runtimeName)) // errs on a malformed pattern only
			if len(found) > 0 {
				return filepath.Abs(found[0])
			}
		}
	}
	return "", errNoRuntime
}
