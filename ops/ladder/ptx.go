package ladder

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"warpbook/gpu"
	"warpbook/gpu/ptxfile"
	"warpbook/kernel/leaf/lazyregexp"
)

// PTX is one committed PTX file.
type PTX struct {
	Name    string // "reduce.sm_75.ptx"
	Text    string
	Target  gpu.Compute
	Feature bool // an sm_90a: runs on this very compute capability alone
	Version gpu.Version
}

var (
	ptxName    = lazyregexp.New(`^(.+)\.sm_(\d+)(\d)(a?)\.ptx$`)
	ptxVersion = lazyregexp.New(`(?m)^\.version (\d+)\.(\d+)$`)
)

// PTXFiles are the committed files of a module of the operator's.
func (o *Operator) PTXFiles(module string) ([]PTX, error) {
	names, err := ptxfile.Glob(o.Files, "*.ptx")
	if err != nil {
		return nil, fmt.Errorf("embedded sources: %w", err)
	}
	var files []PTX
	for _, name := range names {
		m := ptxName().FindStringSubmatch(name)
		if m == nil || m[1] != module {
			continue
		}
		text, err := ptxfile.Read(o.Files, name)
		if err != nil {
			return nil, fmt.Errorf("embedded sources: %w", err)
		}
		f := PTX{Name: m[0], Text: text, Feature: m[4] != ""}
		f.Target = gpu.Compute{Major: number(m[2]), Minor: number(m[3])}
		if v := ptxVersion().FindStringSubmatch(f.Text); v != nil {
			f.Version = gpu.Version{Major: number(v[1]), Minor: number(v[2])}
		}
		files = append(files, f)
	}
	return files, nil
}

// number reads digits that a regular expression has found.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// PTX is the file of a module that a device runs.
func (o *Operator) PTX(module string, info gpu.Info) (PTX, error) {
	files, err := o.PTXFiles(module)
	if err != nil {
		return PTX{}, err
	}
	return pick(o.Folder, module, files, info)
}

// pick returns the file with the highest target that the device runs.
func pick(folder, source string, files []PTX, info gpu.Info) (PTX, error) {
	var best *PTX
	for i, f := range files {
		fits := f.Target == info.Compute || !f.Feature && Older(f.Target, info.Compute)
		loads := f.Version == info.PTX || Older(gpu.Compute(f.Version), gpu.Compute(info.PTX))
		if fits && loads && (best == nil || Older(best.Target, f.Target) || f.Feature) {
			best = &files[i]
		}
	}
	if best != nil {
		return *best, nil
	}
	var there string
	for _, f := range files {
		there += fmt.Sprintf(", %s (PTX %v)", f.Name, f.Version)
	}
	if there == "" {
		return PTX{}, fmt.Errorf("%s: no PTX: %w: run `go generate ./%s`", source, gpu.ErrNotFound, folder)
	}
	return PTX{}, fmt.Errorf("%s: no PTX for %v, which loads up to PTX %v: %w, there is%s: "+
		"update the driver or run `go run ./gpu/nvrtc -arch sm_%d%d %s/%s.cu`", source, info, info.PTX,
		gpu.ErrUnsupported, there[1:], info.Compute.Major, info.Compute.Minor, folder, source)
}

// Older reports whether a comes before b.
func Older(a, b gpu.Compute) bool {
	return a.Major < b.Major || a.Major == b.Major && a.Minor < b.Minor
}

// Hash is the part of the file's SHA-256 that an environment block shows.
func (f PTX) Hash() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(f.Text)))[:12] }

// Ampere is the first compute capability with cp.async.
var Ampere = gpu.Compute{Major: 8}
