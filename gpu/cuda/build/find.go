package build

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// findCompiler is the C compiler that cgo would use.
func findCompiler() (string, error) {
	names := []string{"gcc", "clang", "cc"}
	if cc := os.Getenv("CC"); cc != "" {
		names = []string{cc}
	}
	for _, n := range names {
		if _, err := exec.LookPath(n); err == nil {
			return n, nil
		}
	}
	return "", fmt.Errorf("build: worker: %w: C compiler, looked for %s: install gcc or set CC", ErrMissing, strings.Join(names, ", "))
}

// findHeaders is the folder of cuda.h. The error names the searched places.
func findHeaders() (string, error) { return findHeadersIn(headerPlaces()) }

func findHeadersIn(places []string) (string, error) {
	for _, pattern := range places {
		found, _ := filepath.Glob(pattern) // our patterns are well-formed
		slices.Sort(found)
		for _, dir := range slices.Backward(found) { // the newest version
			if info, err := os.Stat(filepath.Join(dir, "cuda.h")); err == nil && !info.IsDir() {
				return dir, nil
			}
		}
	}
	return "", fmt.Errorf("build: worker: %w: cuda.h, looked in %s: install the CUDA toolkit, or run "+
		"pip install nvidia-cuda-runtime-cu12, or set CUDA_HOME", ErrMissing, strings.Join(places, ", "))
}

// headerPlaces are patterns of folders, the first choice first.
func headerPlaces() []string {
	var places []string
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(v); home != "" {
			places = append(places, filepath.Join(home, "include"), filepath.Join(home, "targets/*/include"), home)
		}
	}
	places = append(places, "/usr/local/cuda/include", "/usr/local/cuda-*/include", "/opt/cuda/include",
		"/usr/lib/cuda/include", "/usr/include", "/usr/include/cuda")
	for _, site := range sitePackages() {
		places = append(places, filepath.Join(site, "nvidia/*/include"))
	}
	return places
}

// sitePackages are the folders of Python's packages: those that Python names,
// without it the usual ones.
func sitePackages() []string {
	const script = "import site, sys; print('\\n'.join([p for p in sys.path if p] + site.getsitepackages() + [site.getusersitepackages()]))"
	var sites []string
	if out, err := exec.Command("python3", "-c", script).Output(); err == nil {
		for _, p := range strings.Fields(string(out)) {
			if strings.HasSuffix(p, "-packages") && !slices.Contains(sites, p) {
				sites = append(sites, p)
			}
		}
	}
	if venv := os.Getenv("VIRTUAL_ENV"); venv != "" {
		sites = append(sites, filepath.Join(venv, "lib/python3*/site-packages"))
	}
	if len(sites) == 0 {
		home, _ := os.UserHomeDir()
		sites = []string{filepath.Join(home, ".local/lib/python3*/site-packages"), "/usr/lib/python3*/dist-packages"}
	}
	return sites
}
