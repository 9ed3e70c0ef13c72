package ops

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"strconv"

	"warpbook/gpu"
	"warpbook/gpu/lazyregexp"
)

// sources are the package's own files: the PTX that devices load, and the
// CUDA and Go that environment blocks take a hash of.
//
//go:embed *.ptx *.cu *.cuh *.go
var sources embed.FS

// ptxFile is one committed PTX file.
type ptxFile struct {
	name    string // "reduce.sm_75.ptx"
	text    string
	target  gpu.Compute
	feature bool // an sm_90a: runs on this very compute capability alone
	version gpu.Version
}

var (
	ptxName    = lazyregexp.New(`^(.+)\.sm_(\d+)(\d)(a?)\.ptx$`)
	ptxVersion = lazyregexp.New(`(?m)^\.version (\d+)\.(\d+)$`)
)

// ptxFiles are the committed files of a source.
func ptxFiles(source string) ([]ptxFile, error) {
	entries, err := sources.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("embedded sources: %w", err)
	}
	var files []ptxFile
	for _, e := range entries {
		m := ptxName().FindStringSubmatch(e.Name())
		if m == nil || m[1] != source {
			continue
		}
		text, err := sources.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("embedded sources: %w", err)
		}
		f := ptxFile{name: m[0], text: string(text), feature: m[4] != ""}
		f.target = gpu.Compute{Major: number(m[2]), Minor: number(m[3])}
		if v := ptxVersion().FindStringSubmatch(f.text); v != nil {
			f.version = gpu.Version{Major: number(v[1]), Minor: number(v[2])}
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

// pick returns the file with the highest target that the device runs.
func pick(source string, files []ptxFile, info gpu.Info) (ptxFile, error) {
	var best *ptxFile
	for i, f := range files {
		fits := f.target == info.Compute || !f.feature && older(f.target, info.Compute)
		loads := f.version == info.PTX || older(gpu.Compute(f.version), gpu.Compute(info.PTX))
		if fits && loads && (best == nil || older(best.target, f.target) || f.feature) {
			best = &files[i]
		}
	}
	if best != nil {
		return *best, nil
	}
	var there string
	for _, f := range files {
		there += fmt.Sprintf(", %s (PTX %v)", f.name, f.version)
	}
	if there == "" {
		return ptxFile{}, fmt.Errorf("%s: no PTX: %w: run `go generate ./ops`", source, gpu.ErrNotFound)
	}
	return ptxFile{}, fmt.Errorf("%s: no PTX for %v, which loads up to PTX %v: %w, there is%s: "+
		"update the driver or run `go run ./gpu/nvrtc -arch sm_%d%d ops/%s.cu`", source, info, info.PTX,
		gpu.ErrUnsupported, there[1:], info.Compute.Major, info.Compute.Minor, source)
}

// older reports whether a comes before b.
func older(a, b gpu.Compute) bool {
	return a.Major < b.Major || a.Major == b.Major && a.Minor < b.Minor
}

// hash is what an environment block shows of the file.
func (f ptxFile) hash() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(f.text)))[:12] }
