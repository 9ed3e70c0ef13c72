package ladder

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"warpbook/gpu"
)

// CodeHash is a hash of the PTX that a rung launches on a device at the operator's
// cases: of EntryHash of each entry. It is "" for a rung that runs on the CPU or picks
// another one. Data that stands outside of entries, such as a file's constants, is not in it.
func (o *Operator) CodeHash(v Variant, info gpu.Info) (string, error) {
	if v.Host != nil || v.Picks {
		return "", nil
	}
	file, err := o.PTX(o.ModuleOf(v), info)
	if err != nil {
		return "", fmt.Errorf("ops: %s: %w", v.Name, err)
	}
	all := sha256.New()
	for _, entry := range o.launches(v, info) {
		hash := EntryHash(file.Text, entry)
		if hash == "" {
			return "", fmt.Errorf("ops: %s: entry %s: %w in %s: run `go generate ./%s`", v.Name, entry, gpu.ErrNotFound, file.Name, o.Folder)
		}
		fmt.Fprintln(all, entry, hash)
	}
	return fmt.Sprintf("%x", all.Sum(nil))[:16], nil
}

// launches are the entries that a rung launches at the operator's ordinary cases, sorted.
func (o *Operator) launches(v Variant, info gpu.Info) (entries []string) {
	for _, c := range o.Cases {
		if c.Long || v.Refuses != nil && v.Refuses(c.Size) != nil {
			continue
		}
		for _, s := range v.Plan(v.Name, c.Size, info).Steps {
			entries = append(entries, s.Entry)
		}
	}
	slices.Sort(entries)
	return slices.Compact(entries)
}
