package histogram

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Count counts the values 0 to bins-1 of a vector, with as many bins as counts has elements:
// counts[v] = |{i : x[i] = v}|. dropped[0] counts all other values.
//
// Shapes: x (n), counts (bins, 1 to 65536), dropped (1). Types: x int32, counts and dropped
// uint32. Error: none.
func Count(h ladder.Runner, x, counts, dropped gpu.Buffer) error {
	o, err := OfBins(ladder.Elements(counts))
	if err != nil {
		return err
	}
	return ladder.Call(h, o, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"x": x, "counts": counts, "dropped": dropped})
}

// CountBytes counts the bytes of a vector: counts[v] = |{i : x[i] = v}|.
//
// Shapes: x (n), counts (256). Types: x uint8, counts uint32. Error: none.
func CountBytes(h ladder.Runner, x, counts gpu.Buffer) error {
	return ladder.Call(h, Bytes, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"x": x, "counts": counts})
}
