package compiler

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// FolderVariable is the environment variable with the folder of a CUDA toolkit
// or of pip install --target, searched before all others.
const FolderVariable = "WARPBOOK_NVRTC"

// Folders lists the folders that may hold a CUDA toolkit or Python's packages, best first.
func Folders() (dirs []string) {
	add := func(found ...string) {
		for _, dir := range found {
			if dir != "" {
				dirs = append(dirs, dir)
			}
		}
	}
	add(os.Getenv(FolderVariable), os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda")
	if home, err := os.UserHomeDir(); err == nil {
		add(glob(home, ".local/lib/python3*/site-packages")...)
	}
	for _, env := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(env); dir != "" {
			add(glob(dir, "lib/python3*/site-packages")...)
		}
	}
	add(sitePackages()...)
	return dirs
}

// sitePackages asks Python, where there is one.
func sitePackages() []string {
	out, err := exec.Command("python3", "-c", "import site; print('\\n'.join(site.getsitepackages()))").Output()
	if err != nil {
		return nil // no Python: nothing to search
	}
	return strings.Fields(string(out))
}

func glob(dir string, patterns ...string) (found []string) {
	for _, p := range patterns {
		m, _ := filepath.Glob(filepath.Join(dir, p)) // errs on a malformed pattern only
		found = append(found, m...)
	}
	return found
}

// FindTool returns the path of a program of the toolkit, "" if it is not found.
func FindTool(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range Folders() {
		for _, path := range glob(dir, "bin/"+name, "nvidia/*/bin/"+name) {
			if executable(path) {
				return path
			}
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
