// Package kernelspec registers the kernel with Jupyter: the places where Jupyter looks
// for kernels, and the files of our kernel there. Its main types are Spec and Place;
// install and the warpbook command use it. It builds nothing, starts nothing, and must
// not import the packages that do.
package kernelspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/buildcache"
)

const (
	name        = "warpbook"
	displayName = "Go (warpbook)"
	specFile    = "kernel.json"
	resourceDir = "{resource_dir}" // Jupyter's word for the folder of kernel.json
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

// New describes the kernel that consists of these two programs, given by absolute paths.
// A path of the kernel that begins with {resource_dir} is relative to the folder of
// kernel.json; cells is "" for a program beside the kernel.
func New(kernel, cells string) Spec {
	env := map[string]string{}
	if cells != "" {
		env[cellbuild.Env] = cells
	}
	return Spec{
		Argv:            []string{kernel, "{connection_file}"},
		DisplayName:     displayName,
		Language:        "go",
		InterruptMode:   "message",
		ProtocolVersion: jupyter.Version,
		Env:             env,
		Metadata:        map[string]any{"debugger": true},
	}
}

// Write registers the kernel in a folder, and overwrites existing files. It writes
// kernel.json last, because that file makes Jupyter list the kernel.
func (s Spec) Write(dir string) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("kernelspec: %w", err)
	}
	for _, f := range files {
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

// files are the files of the registration, kernel.json last.
func (s Spec) files() ([]file, error) {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("kernelspec: encode: %w", err)
	}
	return append(logos(), file{specFile, append(data, '\n')}), nil
}

// Files are the files that Write writes, by name.
func (s Spec) Files() (map[string][]byte, error) {
	files, err := s.files()
	all := map[string][]byte{}
	for _, f := range files {
		all[f.name] = f.data
	}
	return all, err
}

// Read reads the registration in a folder. Its error is fs.ErrNotExist if there is
// none.
func Read(dir string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(dir, specFile))
	if err != nil {
		return s, fmt.Errorf("kernelspec: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("kernelspec: %s: %w", filepath.Join(dir, specFile), err)
	}
	for i, arg := range s.Argv { // as Jupyter does
		if rest, relative := strings.CutPrefix(arg, resourceDir); relative {
			s.Argv[i] = filepath.Join(dir, rest)
		}
	}
	return s, nil
}

// OfWheel reports whether a wheel has registered the kernel: its programs lie where the
// environment lies, and kernel.json does not name the cells program.
func (s Spec) OfWheel() bool { return s.kernel() != "" && s.Env[cellbuild.Env] == "" }

// Programs returns the paths of the kernel and of the cells program.
func (s Spec) Programs() [2]string {
	if s.Env[cellbuild.Env] == "" {
		return [2]string{s.kernel(), filepath.Join(filepath.Dir(s.kernel()), "cells")}
	}
	return [2]string{s.kernel(), s.Env[cellbuild.Env]}
}

// Check reports which program of the kernel is missing or damaged. It reads both
// programs.
func (s Spec) Check() error {
	for _, path := range s.Programs() {
		if err := buildcache.VerifyWhole(path); err != nil {
			return fmt.Errorf("kernelspec: program %w", err)
		}
	}
	return nil
}

func (s Spec) kernel() string {
	if len(s.Argv) == 0 {
		return ""
	}
	return s.Argv[0]
}

// Remove unregisters the kernel from a folder, and reports whether it was registered.
// It keeps files that other programs put into the folder.
func Remove(dir string) (bool, error) {
	removed := false
	for _, f := range append([]file{{name: specFile}}, logos()...) {
		err := os.Remove(filepath.Join(dir, f.name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("kernelspec: %w", err)
		}
		removed = removed || err == nil
	}
	os.Remove(dir) // fails if other files are left
	return removed, nil
}

// file is one file of the kernelspec.
type file struct {
	name string
	data []byte
}
