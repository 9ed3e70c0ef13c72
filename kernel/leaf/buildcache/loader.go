package buildcache

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNoLoader is in the error of a program whose dynamic loader is not on this system.
var ErrNoLoader = errors.New("its dynamic loader is missing")

// StartError returns the reason for the error with which a program did not start. Linux
// says that the program does not exist also where its dynamic loader does not.
func StartError(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	loader := loaderOf(path)
	if loader == "" {
		return err
	}
	if _, missing := os.Stat(loader); missing == nil {
		return err
	}
	return fmt.Errorf("%s does not start: %w: %s, expected a system with glibc, not musl", path, ErrNoLoader, loader)
}

// loaderOf is the path of the dynamic loader that a program names, "" for none.
func loaderOf(path string) string {
	program, err := elf.Open(path)
	if err != nil {
		return "" // no ELF, as on macOS, or not there
	}
	defer program.Close()
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP {
			name, _ := io.ReadAll(segment.Open()) // what is cut off names no file
			return string(bytes.TrimRight(name, "\x00"))
		}
	}
	return ""
}
