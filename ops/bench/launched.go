package bench

import (
	"strings"

	"warpbook/ops/ladder"
)

// Launched is a launch of a variant, as a profiler sees it.
type Launched struct {
	Variant, Entry string
	Blocks         int
	PTX            ladder.PTX // the file with the entry; none for a kernel of a cell
}

// Launched are the launches of the named variants, all that the device runs for none,
// in order: of those that launch something and end in no fault.
func (b *Bench) Launched(variants ...string) (all []Launched, err error) {
	var e Environment
	err = b.each("plan", variants, &e, func(r *run) error {
		if r.variant.Host != nil || strings.HasPrefix(b.expect(r.variant), ladder.CheckFault) {
			return nil
		}
		var file ladder.PTX
		if r.variant.Own == nil {
			if file, err = b.operator.PTX(r.source(), b.device.Info()); err != nil {
				return err
			}
		}
		for _, l := range r.launches {
			g := l.Grid.Full()
			all = append(all, Launched{r.variant.Name, l.Entry.Name(), g.X * g.Y * g.Z, file})
		}
		return nil
	})
	return all, err
}
