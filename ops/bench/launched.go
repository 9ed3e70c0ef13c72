package bench

import (
	"strings"

	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// Launched is a launch of a rung, as a profiler sees it.
type Launched struct {
	Variant, Entry string
	Blocks         int
	PTX            ladder.PTX // the file with the entry; none for a kernel of a cell
}

// Launched are the launches of the named rungs, all that the device runs for none,
// in order: of those that launch something and end in no fault.
func (b *Bench) Launched(variants ...string) (all []Launched, err error) {
	var e results.Environment
	err = b.each("plan", variants, &e, func(r *trial) error {
		if r.Variant.Host != nil || strings.HasPrefix(b.expect(r.Variant), ladder.CheckFault) {
			return nil
		}
		var file ladder.PTX
		if r.Variant.Own == nil {
			if file, err = b.operator.PTX(r.Source(), b.site.Device.Info()); err != nil {
				return err
			}
		}
		for _, l := range r.Launches {
			g := l.Grid.Full()
			all = append(all, Launched{r.Variant.Name, l.Entry.Name(), g.X * g.Y * g.Z, file})
		}
		return nil
	})
	return all, err
}
