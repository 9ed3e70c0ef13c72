package ladder

import "warpbook/ops/published"

// Published returns the figures that the founding notes print of a quantity of one of their
// kernels, such as the "latency" of "000 reduce_v0", in the form of tables and
// records.
func Published(kernel, quantity string) []Figure {
	var figures []Figure
	for _, f := range published.Of(kernel, quantity) {
		q := Figure{Value: f.Value, Unit: f.Unit, Size: f.Size, Device: f.Device, Where: f.Where(), Comment: f.Comment}
		if f.Unit == "" {
			q.Comment = f.String()
		}
		figures = append(figures, q)
	}
	return figures
}
