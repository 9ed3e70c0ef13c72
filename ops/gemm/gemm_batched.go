package gemm

import (
	"fmt"
	"math"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Batched multiplies a batch of matrices: d[i] = a[i] b[i].
//
// Shapes: a (batch, m, k), b (batch, k, n), d (batch, m, n). Types: float32,
// reference float64.
// Error:  |d - ref| <= bound(k) * sum|a||b|, see Bound.
// Cost:   2 batch mnk flops, 4 batch (mk + kn + mn) bytes.
// Source: cublasSgemmStridedBatched and cublasSgemmBatched, with which it is
// compared.
var Batched = withCases(batched(), batchedCases)

func batched() *ladder.Operator {
	one := Options{Alpha: 1}
	elements := func(s ladder.Size, rows, columns int) int { return s[0] * rows * columns }
	return &ladder.Operator{
		Name: "gemm_batched", Folder: folder, Files: files, Peers: []string{"gemm.py"},
		Formula: "d[i] = a[i] b[i]", Source: "ours",
		Dims: []string{"batch", "m", "n", "k"}, MaxDim: math.MaxInt32, Valid: batchedValid,
		Inputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "a", Len: elements(s, s[1], s[3])}, {Name: "b", Len: elements(s, s[3], s[2])}}
		},
		Outputs:   func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "d", Len: elements(s, s[1], s[2])}} },
		Reference: batchedReference,
		Exact: func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
			random := ladder.NewRandom(seed)
			return []ladder.Values{signs(stop, elements(s, s[1], s[3]), random), signs(stop, elements(s, s[3], s[2]), random)}
		},
		Work: func(s ladder.Size) ladder.Work {
			work := Operator.Work(s[1:])
			work.Bytes, work.Operations = float64(s[0])*work.Bytes, float64(s[0])*work.Operations
			return work
		},
		Variants: one.batchedVariants(denseStrides, strided),
	}
}

// batchedVariants are rungs whose launches get the addresses of a batch's matrices.
func (o Options) batchedVariants(next func(ladder.Size) strides, at finder) []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "gemm_batched_strided", Adds: "gemm_wide for each matrix of a batch, in one launch", Source: "ours", Plan: o.stridedPlan(next),
		},
		{
			// Of the machine code: before its loop PTX has one more ld.shared.v2, of floats that the
			// ld.shared.v4 before it has read; the assembler drops it, one per warp.
			Dropped: 4,
			Name:    "gemm_batched_pointers", Adds: "matrices anywhere: a launch takes up to 32 addresses by value", Source: "ours", Plan: o.pointersPlan(at),
		},
		o.specializedBatch(next),
	}
}

// batchedValid refuses batches that are too large to number.
func batchedValid(s ladder.Size) error {
	rows := s[0]
	if s[1] > 0 && rows > math.MaxInt32/s[1] {
		rows = math.MaxInt32
	} else {
		rows *= s[1]
	}
	return Options{}.valid(ladder.Size{max(rows, min(math.MaxInt32, s[0]*min(s[3], 1<<20))), s[2], s[3]})
}

func batchedReference(stop ladder.Stop, s ladder.Size, values []ladder.Values) []ladder.Expected {
	inputs := ladder.Slices[float32](values)
	all := ladder.Expected{}
	m, n, k := s[1], s[2], s[3]
	for i := 0; i < s[0] && !stop.Now(); i++ {
		one := Options{Alpha: 1}.reference(stop, s[1:], []ladder.Values{inputs[0][i*m*k : (i+1)*m*k], inputs[1][i*k*n : (i+1)*k*n]})[0]
		all.Value, all.Magnitude = append(all.Value, one.Value...), append(all.Magnitude, one.Magnitude...)
	}
	return []ladder.Expected{all}
}

// strides are the elements from one matrix of a batch to the next; of C as of D.
type strides struct{ A, B, D uint64 }

// denseStrides are those of matrices without a gap.
func denseStrides(s ladder.Size) strides {
	m, n, k := uint64(s[1]), uint64(s[2]), uint64(s[3])
	return strides{m * k, k * n, m * n}
}

// mostGrid is the largest second dimension of a grid.
const mostGrid = 65535

func (o Options) stridedPlan(next func(ladder.Size) strides) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		one, batch := s[1:], s[0]
		p := o.wide(entry, one, info)
		if len(p.Steps) == 0 || batch == 0 {
			return ladder.Plan{}
		}
		step := p.Steps[0]
		step.Args = append(step.Args, next(s))
		return each(p, step, batch, mostGrid, func(first, _ int) []any { return append(step.Args[:len(step.Args):len(step.Args)], uint32(first)) })
	}
}

// each launches a step for every so many of a batch.
func each(p ladder.Plan, step ladder.Step, batch, most int, args func(first, count int) []any) ladder.Plan {
	p.Steps = nil
	for first := 0; first < batch; first += most {
		count := min(most, batch-first)
		step.Grid.Y, step.Args = count, args(first, count)
		p.Steps = append(p.Steps, step)
	}
	return p
}

// places are the matrices of a launch of gemm_batched_pointers.
type places struct{ A, B, C, D [32]gpu.Buffer }

// finder is the i-th matrix, of so many elements, of a batch a, b, c or d.
type finder = func(memory func(string) gpu.Buffer, name string, i, elements int) (gpu.Buffer, error)

// strided finds matrices without a gap.
func strided(memory func(string) gpu.Buffer, name string, i, elements int) (gpu.Buffer, error) {
	return memory(name).View(i*elements, elements)
}

func (o Options) pointersPlan(at finder) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		one, batch := s[1:], s[0]
		p := o.wide(entry, one, info)
		if len(p.Steps) == 0 || batch == 0 {
			return ladder.Plan{}
		}
		step := p.Steps[0]
		c, numbers := step.Args[2].(string), step.Args[4:]
		return each(p, step, batch, len(places{}.A), func(first, count int) []any {
			found := ladder.Argument(func(memory func(string) gpu.Buffer) (any, error) { return placesOf(at, memory, c, s, first, count) })
			return append([]any{found}, numbers...)
		})
	}
}

// placesOf are those of count matrices from the first on; c is the name of C.
func placesOf(at finder, memory func(string) gpu.Buffer, c string, s ladder.Size, first, count int) (p places, err error) {
	find := func(name string, i, elements int) (found gpu.Buffer) {
		if err == nil && elements > 0 {
			found, err = at(memory, name, i, elements)
		}
		return found
	}
	for i := range count {
		p.A[i], p.B[i] = find("a", first+i, s[1]*s[3]), find("b", first+i, s[3]*s[2])
		p.C[i], p.D[i] = find(c, first+i, s[1]*s[2]), find("d", first+i, s[1]*s[2])
	}
	return p, err
}

// products is the argument of gemm_batched_specialized for a batch: the number of
// products, the last matrix of A and of B, and the elements from one D to the next.
type products struct {
	Count, LastA, LastB uint32
	Next                uint64
}

// specializedBatch computes the tiles of all matrices in turn, each by one block.
func (o Options) specializedBatch(next func(ladder.Size) strides) ladder.Variant {
	v := o.hopperVariant("gemm_batched_specialized", "gemm_specialized for the tiles of all matrices of a batch, which the copy engine finds by number", 4)
	v.Module = "gemm_specialized"
	one := v.Refuses
	v.Refuses = func(s ladder.Size) error {
		if n := next(s); s[0] > 1 && (n.A%4 != 0 || n.B%4 != 0) {
			return fmt.Errorf("%w: matrices lie %d and %d elements apart: the copy engine takes a multiple of 4, use another rung", gpu.ErrUnsupported, n.A, n.B)
		}
		return one(s[1:])
	}
	v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		c, n := specializedStream, next(s)
		p := o.staged(c.rows, c.columns, c.threads, c.bytes(info))(entry, s[1:], info)
		if len(p.Steps) == 0 || s[0] == 0 {
			return ladder.Plan{}
		}
		step := &p.Steps[0]
		tiles := s[0] * step.Grid.X
		step.Grid.X = min(tiles, info.SMs)
		a, b := o.batchMap("a", s, n.A), o.batchMap("b", s, n.B)
		b.Box[1] = c.columns
		step.Args = slices.Concat([]any{a, b}, step.Args[2:7], step.Args[9:], []any{uint32(tiles), products{uint32(s[0]), uint32(a.Count - 1), uint32(b.Count - 1), n.D}})
		return p
	}
	return v
}

// batchMap is the map of a batch of matrices, or of one for all.
func (o Options) batchMap(name string, s ladder.Size, next uint64) ladder.TensorMap {
	m := o.boxes(name, s[1:], 4)
	if m.Count, m.Next = s[0], int(next); next == 0 {
		m.Count, m.Next = 1, m.Rows*m.LD // any will do
	}
	return m
}
