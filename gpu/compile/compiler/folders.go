package compiler

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// sitePackages asks each Python, where there is one.
func sitePackages() (dirs []string) {
	for _, python := range Pythons() {
		out, err := exec.Command(python, "-c", "import site; print('\\n'.join(site.getsitepackages()))").Output()
		if err != nil {
			continue // it does not start: nothing to search
		}
		for dir := range strings.Lines(string(out)) {
			if dir = strings.TrimSpace(dir); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// Pythons are the interpreters into whose environments wheels are installed: that of the
// Jupyter that started this program, python3 in PATH, and the one beside jupyter in PATH.
func Pythons() (paths []string) {
	candidates := []string{parentPython()}
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			candidates = append(candidates, path)
			break
		}
	}
	if jupyter, err := exec.LookPath("jupyter"); err == nil {
		candidates = append(candidates, filepath.Join(filepath.Dir(jupyter), "python3"))
		if target, err := filepath.EvalSymlinks(jupyter); err == nil { // pipx links to the environment's
			candidates = append(candidates, filepath.Join(filepath.Dir(target), "python3"))
		}
	}
	for _, path := range candidates {
		if path != "" && executable(path) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// mostParents is how many processes may stand between Jupyter and this program.
const mostParents = 8

// parentPython is the Python that started this program, directly or through others; "" if
// none did, or where processes are not files. A virtual environment is known by the path
// with which its Python was called, not by the program behind that link.
func parentPython() string {
	pid := os.Getppid()
	for range mostParents {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return ""
		}
		path, _, _ := strings.Cut(string(line), "\x00")
		if filepath.IsAbs(path) && strings.HasPrefix(filepath.Base(path), "python") {
			return path
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return ""
		}
		_, rest, _ := strings.Cut(string(status), "\nPPid:")
		if _, err := fmt.Sscan(rest, &pid); err != nil || pid <= 1 {
			return ""
		}
	}
	return ""
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
