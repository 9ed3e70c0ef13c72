package module

import (
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"strings"
)

// reason is the reason why the engine cannot run a package, "" if none is known.
func (s *Set) reason(l listed) string {
	foreign := append(append(append(l.CgoFiles, l.CFiles...), l.CXXFiles...), l.SwigFiles...)
	if len(l.IgnoredGoFiles) > 0 {
		foreign = append(foreign, s.cgoFiles(l.Dir)...)
	}
	switch {
	case len(foreign) > 0:
		return "uses cgo (" + foreign[0] + ")"
	case len(l.SFiles) > 0:
		return "has assembly (" + l.SFiles[0] + ")"
	case len(l.SysoFiles) > 0:
		return "has object code (" + l.SysoFiles[0] + ")"
	case l.Error != nil:
		return "cannot be listed: " + lastLine(l.Error.Err)
	}
	if file := contains(l.Dir, l.GoFiles, "//go:linkname "); file != "" {
		return "uses go:linkname (" + file + ")"
	}
	for _, path := range l.Imports {
		if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") && path != "unsafe" && !s.Offered(path) {
			return "imports " + path + ", which is not offered to cells"
		}
	}
	return ""
}

// cgoFiles are the files of a package that use cgo when it is enabled. The files that
// such a package uses without cgo mostly return errors.
func (s *Set) cgoFiles(dir string) []string {
	ctx := build.Default
	ctx.CgoEnabled, ctx.BuildTags = true, s.Tags
	p, err := ctx.ImportDir(dir, 0)
	if err != nil { // the go command has reported the error, if any
		return nil
	}
	return p.CgoFiles
}

// contains is the first of the files that have a line which begins with text. A file
// that cannot be read is reported when it is interpreted.
func contains(dir string, files []string, text string) string {
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f))
		if err == nil && strings.Contains("\n"+string(data), "\n"+text) {
			return f
		}
	}
	return ""
}

// unlisted is the reason why a package of an added module is not listed: the go command
// omits packages that have only cgo files.
func (s *Set) unlisted(path string) error {
	for module, r := range s.roots {
		rest, ok := strings.CutPrefix(path, module+"/")
		if !ok {
			continue
		}
		dir := filepath.Join(r.dir, filepath.FromSlash(rest))
		if file := contains(dir, goFiles(dir), "import \"C\""); file != "" {
			return fmt.Errorf("module: package %s of %s cannot run in cells: it uses cgo (%s)", path, r.name, file)
		}
	}
	return nil
}

func goFiles(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // a missing folder has no entries
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") {
			names = append(names, e.Name())
		}
	}
	return names
}
