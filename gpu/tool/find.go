package tool

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"warpbook/gpu"
)

// permission is the profiler's error when the driver denies access to the counters.
const permission = "ERR_NVGPUCTRPERM"

var errPermission = errors.New("tool: ncu: " + permission + ": the driver lets administrators alone read the GPU's counters: " +
	"run as root, in a container with --cap-add=SYS_ADMIN, or put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` " +
	"into /etc/modprobe.d/nvidia.conf and restart the machine")

// find is where a tool of NVIDIA's is.
func find(name, part string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, home := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"} {
		if home == "" {
			continue
		}
		for _, dir := range []string{"bin", part} {
			if found := newest(filepath.Join(home, dir, name)); found != "" {
				return found, nil
			}
		}
	}
	if found := newest("/opt/nvidia/" + part + "*/*/" + name); found != "" {
		return found, nil
	}
	return "", fmt.Errorf("tool: %s: %w on this machine: it is part of the CUDA toolkit: install that, or set CUDA_HOME to it", name, gpu.ErrNotFound)
}

// newest is the last file that matches, "" for none.
func newest(pattern string) string {
	found, _ := filepath.Glob(pattern) // our patterns are well-formed
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}
