package triangles

import (
	"errors"
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Count counts the triangles of a graph on the runner's device. Of a part of a graph, it
// counts those of the part's own vertices.
//
// The graph is uploaded for the call: its rows and columns, of uint32. Error: none.
func Count(h ladder.Runner, g *Graph) (count uint64, err error) {
	o, err := Of(g)
	if err != nil {
		return 0, err
	}
	d, buffers := h.Device(), map[string]gpu.Buffer{}
	defer func() {
		for _, b := range buffers {
			err = errors.Join(err, b.Free())
		}
	}()
	for _, x := range []struct {
		name   string
		kind   gpu.Type
		length int
		values []uint32 // nil of the output
	}{{"rows", gpu.Uint32, len(g.Rows), g.Rows}, {"columns", gpu.Uint32, len(g.Columns), g.Columns}, {"count", gpu.Uint64, 1, nil}} {
		b, err := d.Alloc(x.kind, x.length)
		if err != nil {
			return 0, fmt.Errorf("ops: triangles: %s: %w", x.name, err)
		}
		buffers[x.name] = b.Label(x.name)
		if x.values != nil {
			if err := b.Upload(x.values); err != nil {
				return 0, fmt.Errorf("ops: triangles: upload %s: %w", x.name, err)
			}
		}
	}
	if err := ladder.Call(h, o, ladder.Size{g.Vertices(), g.Edges()}, buffers); err != nil {
		return 0, err
	}
	counts := make([]uint64, 1)
	if err := buffers["count"].Download(counts); err != nil {
		return 0, fmt.Errorf("ops: triangles: download: %w", err)
	}
	return counts[0], nil
}
