package buildcache

import (
	"os"
	"path/filepath"
)

// Installed returns the path of a program that was installed together with the running
// one, "" if there is none. The programs of an installation lie in one folder,
// PREFIX/share/warpbook/bin, but for the command, which lies in PREFIX/bin.
func Installed(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return installedFor(self, name)
}

// installedFor is Installed for the program at a path.
func installedFor(self, name string) string {
	dir := filepath.Dir(self)
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, "..", "share", "warpbook", "bin", name)} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
