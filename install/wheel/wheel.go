// Package wheel builds a Python wheel of the notebooks' programs: with it, pip installs
// the kernel, its kernelspec, the command warpbook and the notebooks, and the machine needs
// neither Go nor a compiler. The command install calls Build.
//
// The wheel has no Python code. Its programs are data files of the environment, in the
// places of kernelspec.InPrefix, and find each other by buildcache.Installed.
package wheel

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/release"
)

// The folders of the wheel, which pip unpacks into the environment.
const (
	dist     = "warpbook-" + release.Version
	info     = dist + ".dist-info/"
	scripts  = dist + ".data/scripts/"
	data     = dist + ".data/data/"
	programs = data + "share/warpbook/bin/"
	spec     = data + "share/jupyter/kernels/warpbook/"
	books    = data + "share/warpbook/notebooks/"
)

// Platform is a kind of machine that a wheel is for.
type Platform struct {
	Name   string // of --platform
	OS     string // GOOS
	Arch   string // GOARCH
	Tag    string // of the wheel's name, PEP 425 and 600
	Worker bool   // it may have the GPU worker
}

// platforms are those that wheels are built for. Linux programs but the worker are static.
var platforms = []Platform{
	{Name: "linux-x86_64", OS: "linux", Arch: "amd64", Tag: "manylinux_2_17_x86_64", Worker: true},
	{Name: "linux-aarch64", OS: "linux", Arch: "arm64", Tag: "manylinux_2_17_aarch64"},
	{Name: "macos-arm64", OS: "darwin", Arch: "arm64", Tag: "macosx_12_0_arm64"},
}

// Find returns a platform by name.
func Find(name string) (Platform, error) {
	var names []string
	for _, p := range platforms {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Platform{}, fmt.Errorf("platform %q: expected one of %s; Windows runs the Linux wheel in WSL2", name, strings.Join(names, ", "))
}

// Host returns the platform of a system and processor.
func Host(system, arch string) (Platform, error) {
	i := slices.IndexFunc(platforms, func(p Platform) bool { return p.OS == system && p.Arch == arch })
	if i < 0 {
		return Platform{}, fmt.Errorf("no wheel for %s/%s: name another platform with --platform", system, arch)
	}
	return platforms[i], nil
}

// File is the name of the wheel.
func (p Platform) File() string { return dist + "-py3-none-" + p.Tag + ".whl" }

// entry is a file of the wheel.
type entry struct {
	name string
	path string // of its content, or
	text []byte // the content
	run  bool   // executable
}

// Build writes the wheel of a platform into a folder and returns its path. root is the
// folder of this module's go.mod. progress gets a line a program.
func Build(ctx context.Context, root, dir string, p Platform, progress io.Writer) (string, error) {
	scratch, err := os.MkdirTemp("", "warpbook-wheel-")
	if err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	defer os.RemoveAll(scratch)
	hash, err := cellbuild.HashSource(root)
	if err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	entries, err := programsOf(ctx, root, scratch, hash, p, progress)
	if err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	found, err := notebooks(filepath.Join(root, "notebooks"))
	if err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	registration, err := kernel()
	if err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	about, err := metadata(ctx, root, hash, p)
	if err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	entries = slices.Concat(entries, found, registration, about)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	to := filepath.Join(dir, p.File())
	if err := atomicfile.Write(to, func(w io.Writer) error { return write(w, entries) }); err != nil {
		return "", fmt.Errorf("wheel: %w", err)
	}
	return to, nil
}

// kernel are the files of the kernelspec. Jupyter replaces resource_dir by the folder
// of kernel.json, so the environment may be moved.
func kernel() (entries []entry, err error) {
	files, err := kernelspec.New("{resource_dir}/../../../warpbook/bin/warpbook-kernel", "").Files()
	for name, text := range files {
		entries = append(entries, entry{name: spec + name, text: text})
	}
	return entries, err
}

// notebooks are the notebooks and their files, without the results.
func notebooks(dir string) (entries []entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "results" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.Type().IsRegular() || filepath.Ext(file) == ".go": // of the module, not of the notebooks
			return nil
		}
		name, err := filepath.Rel(dir, file)
		entries = append(entries, entry{name: books + filepath.ToSlash(name), path: file})
		return err
	})
	return entries, err
}

// made is the time of every file of a wheel: equal programs make equal wheels.
var made = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// write writes the archive: the files in the order of their names, and last the record of
// their hashes, as PEP 427 has it.
func write(w io.Writer, entries []entry) error {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	archive := zip.NewWriter(w)
	var record strings.Builder
	for _, e := range entries {
		line, err := e.write(archive)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		record.WriteString(line)
	}
	record.WriteString(info + "RECORD,,\n")
	if _, err := (entry{name: info + "RECORD", text: []byte(record.String())}).write(archive); err != nil {
		return err
	}
	return archive.Close()
}

// write adds the file to the archive and returns its line of the record.
func (e entry) write(archive *zip.Writer) (line string, err error) {
	header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: made}
	header.SetMode(0o644)
	if e.run {
		header.SetMode(0o755)
	}
	to, err := archive.CreateHeader(header)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	n, err := e.copyTo(io.MultiWriter(to, h))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(h.Sum(nil)), n), nil
}

func (e entry) copyTo(w io.Writer) (int64, error) {
	if e.path == "" {
		n, err := w.Write(e.text)
		return int64(n), err
	}
	from, err := os.Open(e.path)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, from)
	return n, errors.Join(err, from.Close())
}

// program is the name of a program in the wheel.
func program(name string) string { return path.Join(programs, name) }
