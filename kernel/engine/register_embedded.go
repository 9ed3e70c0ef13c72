//go:build !js

package engine

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"unsafe"

	"warpbook/kernel/engine/rewrite"
)

// registerEmbedded offers packages of modules the files that they embed.
func (e *host) registerEmbedded() {
	e.external(rewrite.RuntimePath+".Embedded", embedded)
	e.external(rewrite.RuntimePath+".EmbeddedFS", embeddedFS)
}

// embedded is the text of a file.
func embedded(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(fmt.Errorf("go:embed: %w", err))
	}
	return string(text)
}

// embeddedFile has the layout of the files in an embed.FS, which the compiler knows:
// a sorted list of files and folders.
type embeddedFile struct {
	name, data string
	_          [16]byte
}

// embeddedFS is an embed.FS with files of a folder.
func embeddedFS(dir string, names ...string) any {
	all := map[string]embeddedFile{}
	for _, name := range names {
		all[name] = embeddedFile{name: name, data: embedded(filepath.Join(dir, filepath.FromSlash(name)))}
		for up := path.Dir(name); up != "."; up = path.Dir(up) {
			all[up] = embeddedFile{name: up + "/"}
		}
	}
	files := make([]embeddedFile, 0, len(all))
	for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(path.Dir(a), path.Dir(b)), cmp.Compare(path.Base(a), path.Base(b)))
	}) {
		files = append(files, all[name])
	}
	var f embed.FS
	*(**[]embeddedFile)(unsafe.Pointer(&f)) = &files
	return f
}
