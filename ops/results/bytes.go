package results

// Bytes are the bytes that rungs move at each level of memory, by their counters: a picture
// of where a rung saves.
type Bytes struct {
	Counts *Counts
	Arrays float64 // bytes of the inputs and outputs, each element once
}

// Bytes are the bytes that the rungs of the table move.
func (c *Counts) Bytes() *Bytes {
	b := &Bytes{Counts: c}
	for _, t := range append(c.Operator.Inputs(c.Size), c.Operator.Outputs(c.Size)...) {
		b.Arrays += float64(t.Len * t.Elements().Bytes())
	}
	return b
}

// Title stands above the picture.
func (b *Bytes) Title() string {
	return "bytes at each level of memory: " + b.Counts.Operator.Describe(b.Counts.Size)
}

// Notes stand below the picture.
func (b *Bytes) Notes() []string {
	return []string{
		"shared: asked for by lanes of shared memory; global: asked for by lanes of global memory, which L1 sees; " +
			"sectors: 32 bytes for each sector of a request, the most that L2 sees; arrays: each element once, the least that memory moves",
		"one address that many lanes read counts for each of them; the emulator has no caches",
		"counted on " + b.Counts.Environment.Device,
	}
}

// Bars are the picture: a row for each rung.
func (b *Bytes) Bars() (axis string, labels, names []string, values [][]float64) {
	names, values = []string{"shared", "global", "sectors", "arrays"}, make([][]float64, 4)
	for _, r := range b.Counts.Rows {
		labels = append(labels, r.Name)
		c := r.Total
		for i, v := range []float64{float64(c.Shared().Bytes), float64(c.Global().Bytes), 32 * float64(c.Global().Sectors), b.Arrays} {
			values[i] = append(values[i], v/1e6)
		}
	}
	return "MB", labels, names, values
}
