package bench

import (
	"errors"
	"fmt"
	"io/fs"

	"warpbook/gpu"
	"warpbook/gpu/explain"
	"warpbook/ops/ladder"
)

// Explain runs a rung once and reports the cost of each line of its CUDA source,
// all its launches together: a table of instructions, idle lanes, requests,
// sectors, wavefronts and conflicts, and for bank conflicts and uncoalesced
// accesses a picture of the lanes' addresses with what would remove them. The
// device must be one that counts, such as "emu"; the result is verified, and
// its verdict is a note of the report.
func (b *Bench) Explain(variant string) (*explain.Report, error) {
	v, err := b.operator.Variant(variant)
	if err != nil {
		return nil, err
	}
	if v.Host != nil {
		return nil, fmt.Errorf("ops: %s: explain: %w, it runs on the CPU", v.Name, gpu.ErrUnsupported)
	}
	sources, err := cudaSources(b.operator)
	if err != nil {
		return nil, err
	}
	if v.Own != nil {
		sources = append(sources, v.Own.Module().Texts()...)
	}
	r, err := b.prepare(v)
	if err != nil {
		return nil, err
	}
	profiles := make([]gpu.Profile, len(r.Launches))
	for i := range r.Launches {
		r.Launches[i].Profile = &profiles[i]
	}
	check, _, err := r.check()
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	report := explain.Profiles(profiles, sources...)
	report.Note(fmt.Sprintf("%s, %s, on the %v: %s.", v.Name, b.operator.Describe(b.site.Size), b.site.Device.Info(), check.Verdict))
	return report, nil
}

// cudaSources are the operator's CUDA sources and headers, as the line
// information of the PTX names them.
func cudaSources(o *ladder.Operator) (all []explain.Source, err error) {
	for _, pattern := range []string{"*.cu", "*.cuh"} {
		names, err := fs.Glob(o.Files, pattern)
		if err != nil {
			return nil, fmt.Errorf("ops: embedded sources: %w", err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(o.Files, name)
			if err != nil {
				return nil, fmt.Errorf("ops: embedded sources: %w", err)
			}
			all = append(all, explain.Source{Name: name, Text: string(text)})
		}
	}
	return all, nil
}
