// Package kernelspec registers the kernel with Jupyter: where Jupyter looks
// for kernels, and the files by which it knows ours. It builds nothing and
// starts nothing.
package kernelspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"warpbook/kernel/atomicfile"
	"warpbook/kernel/program"
	"warpbook/kernel/wire"
)

const (
	name        = "warpbook"
	displayName = "Go (warpbook)"
	specFile    = "kernel.json"
)

// Spec is the content of kernel.json.
type Spec struct {
	Argv            []string          `json:"argv"`
	DisplayName     string            `json:"display_name"`
	Language        string            `json:"language"`
	InterruptMode   string            `json:"interrupt_mode"`
	ProtocolVersion string            `json:"kernel_protocol_version"`
	Env             map[string]string `json:"env"`
	Metadata        map[string]any    `json:"metadata"`
}

// New describes the kernel that consists of these two programs, given by
// absolute paths.
func New(server, cells string) Spec {
	return Spec{
		Argv:            []string{server, "serve", "{connection_file}"},
		DisplayName:     displayName,
		Language:        "go",
		InterruptMode:   "message",
		ProtocolVersion: wire.Version,
		Env:             map[string]string{program.Env: cells},
		Metadata:        map[string]any{"debugger": false},
	}
}

// Write registers the kernel in a folder, over what may stand there. kernel.json
// comes last: with it Jupyter sees the kernel.
func (s Spec) Write(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("kernelspec: encode: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("kernelspec: %w", err)
	}
	for _, f := range append(logos(), file{specFile, append(data, '\n')}) {
		err := atomicfile.Write(filepath.Join(dir, f.name), func(w io.Writer) error {
			_, err := w.Write(f.data)
			return err
		})
		if err != nil {
			return fmt.Errorf("kernelspec: %w", err)
		}
	}
	return nil
}

// Read reads what is registered in a folder. Its error is fs.ErrNotExist where
// nothing is.
func Read(dir string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(dir, specFile))
	if err != nil {
		return s, fmt.Errorf("kernelspec: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("kernelspec: %s: %w", filepath.Join(dir, specFile), err)
	}
	return s, nil
}

// Check reports which program of the kernel is not there.
func (s Spec) Check() error {
	for _, path := range []string{s.server(), s.Env[program.Env]} {
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return fmt.Errorf("kernelspec: program %q: no executable file", path)
		}
	}
	return nil
}

func (s Spec) server() string {
	if len(s.Argv) == 0 {
		return ""
	}
	return s.Argv[0]
}

// Remove takes the kernel out of a folder, and reports whether it was there.
// What others put into the folder stays.
func Remove(dir string) (bool, error) {
	removed := false
	for _, f := range append([]file{{name: specFile}}, logos()...) {
		err := os.Remove(filepath.Join(dir, f.name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("kernelspec: %w", err)
		}
		removed = removed || err == nil
	}
	os.Remove(dir) // unless something is left in it
	return removed, nil
}

// file is one file of the kernelspec.
type file struct {
	name string
	data []byte
}
