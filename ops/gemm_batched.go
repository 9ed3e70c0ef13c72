package ops

import (
	"fmt"
	"math"
	"slices"

	"warpbook/gpu"
)

// GemmBatched multiplies a batch of matrices: d[i] = a[i] b[i].
//
// Shapes: a (batch, m, k), b (batch, k, n), d (batch, m, n). Types: float32,
// reference float64.
// Error:  |d - ref| <= bound(k) * sum|a||b|, see Bound.
// Cost:   2 batch mnk flops, 4 batch (mk + kn + mn) bytes.
// Source: cublasSgemmStridedBatched and cublasSgemmBatched, which it is measured
// beside.
var GemmBatched = gemmBatched()

func gemmBatched() *Operator {
	one := GemmOptions{Alpha: 1}
	elements := func(s Size, rows, columns int) int { return s[0] * rows * columns }
	return &Operator{
		Name: "gemm_batched", Formula: "d[i] = a[i] b[i]", Source: "ours",
		Dims: []string{"batch", "m", "n", "k"}, MaxDim: math.MaxInt32, Valid: batchedValid,
		Inputs: func(s Size) []Tensor {
			return []Tensor{{Name: "a", Len: elements(s, s[1], s[3])}, {Name: "b", Len: elements(s, s[3], s[2])}}
		},
		Outputs:   func(s Size) []Tensor { return []Tensor{{Name: "d", Len: elements(s, s[1], s[2])}} },
		Reference: batchedReference,
		Exact: func(stop Stop, s Size, seed uint64) [][]float32 {
			random := newRandom(seed)
			return [][]float32{signs(stop, elements(s, s[1], s[3]), random), signs(stop, elements(s, s[3], s[2]), random)}
		},
		Bytes:        func(s Size) float64 { return float64(s[0]) * Gemm.Bytes(s[1:]) },
		Flops:        func(s Size) float64 { return float64(s[0]) * Gemm.Flops(s[1:]) },
		ComputeBound: true,
		Variants:     one.batchedVariants(denseStrides, strided),
	}
}

// batchedVariants are told where the matrices of a batch are.
func (o GemmOptions) batchedVariants(next func(Size) strides, at finder) []Variant {
	return []Variant{
		{
			Name: "gemm_batched_strided", Adds: "gemm_wide for each matrix of a batch, in one launch", Source: "ours", Plan: o.stridedPlan(next),
		},
		{
			Name: "gemm_batched_pointers", Adds: "matrices anywhere: a launch is told up to 32 places by value", Source: "ours", Plan: o.pointersPlan(at),
		},
		o.specializedBatch(next),
	}
}

// batchedValid refuses batches that are too large to number.
func batchedValid(s Size) error {
	rows := s[0]
	if s[1] > 0 && rows > math.MaxInt32/s[1] {
		rows = math.MaxInt32
	} else {
		rows *= s[1]
	}
	return GemmOptions{}.valid(Size{max(rows, min(math.MaxInt32, s[0]*min(s[3], 1<<20))), s[2], s[3]})
}

func batchedReference(stop Stop, s Size, inputs [][]float32) []Expected {
	all := Expected{}
	m, n, k := s[1], s[2], s[3]
	for i := 0; i < s[0] && !stop.now(); i++ {
		one := GemmOptions{Alpha: 1}.reference(stop, s[1:], [][]float32{inputs[0][i*m*k : (i+1)*m*k], inputs[1][i*k*n : (i+1)*k*n]})[0]
		all.Value, all.Magnitude = append(all.Value, one.Value...), append(all.Magnitude, one.Magnitude...)
	}
	return []Expected{all}
}

// strides are the elements from one matrix of a batch to the next; of C as of D.
type strides struct{ A, B, D uint64 }

// denseStrides are those of matrices without a gap.
func denseStrides(s Size) strides {
	m, n, k := uint64(s[1]), uint64(s[2]), uint64(s[3])
	return strides{m * k, k * n, m * n}
}

// mostGrid is the largest second dimension of a grid.
const mostGrid = 65535

func (o GemmOptions) stridedPlan(next func(Size) strides) planner {
	return func(entry string, s Size, info gpu.Info) Plan {
		one, batch := s[1:], s[0]
		p := o.wide(entry, one, info)
		if len(p.Steps) == 0 || batch == 0 {
			return Plan{}
		}
		step := p.Steps[0]
		step.Args = append(step.Args, next(s))
		return p.each(step, batch, mostGrid, func(first, _ int) []any { return append(step.Args[:len(step.Args):len(step.Args)], uint32(first)) })
	}
}

// each launches a step for every so many of a batch.
func (p Plan) each(step Step, batch, most int, args func(first, count int) []any) Plan {
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

func (o GemmOptions) pointersPlan(at finder) planner {
	return func(entry string, s Size, info gpu.Info) Plan {
		one, batch := s[1:], s[0]
		p := o.wide(entry, one, info)
		if len(p.Steps) == 0 || batch == 0 {
			return Plan{}
		}
		step := p.Steps[0]
		c, numbers := step.Args[2].(string), step.Args[4:]
		return p.each(step, batch, len(places{}.A), func(first, count int) []any {
			found := Argument(func(memory func(string) gpu.Buffer) (any, error) { return placesOf(at, memory, c, s, first, count) })
			return append([]any{found}, numbers...)
		})
	}
}

// placesOf are those of count matrices from the first on; c is the name of C.
func placesOf(at finder, memory func(string) gpu.Buffer, c string, s Size, first, count int) (p places, err error) {
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

// products is what gemm_batched_specialized is told of a batch: how many there are, the
// last matrix of A and of B, and the elements from one D to the next.
type products struct {
	Count, LastA, LastB uint32
	Next                uint64
}

// specializedBatch takes the tiles of all matrices in turn, and shares none.
func (o GemmOptions) specializedBatch(next func(Size) strides) Variant {
	v := o.hopperVariant("gemm_batched_specialized", "gemm_specialized for the tiles of all matrices of a batch, which the copy engine finds by number", 4)
	v.Module = "gemm_specialized"
	one := v.Refuses
	v.Refuses = func(s Size) error {
		if n := next(s); s[0] > 1 && (n.A%4 != 0 || n.B%4 != 0) {
			return fmt.Errorf("%w: matrices lie %d and %d elements apart: the copy engine takes a multiple of 4, use another rung", gpu.ErrUnsupported, n.A, n.B)
		}
		return one(s[1:])
	}
	v.Plan = func(entry string, s Size, info gpu.Info) Plan {
		c, n := specializedStream, next(s)
		p := o.staged(c.rows, c.columns, c.threads, c.bytes(info))(entry, s[1:], info)
		if len(p.Steps) == 0 || s[0] == 0 {
			return Plan{}
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
func (o GemmOptions) batchMap(name string, s Size, next uint64) TensorMap {
	m := o.boxes(name, s[1:], 4)
	if m.Count, m.Next = s[0], int(next); next == 0 {
		m.Count, m.Next = 1, m.Rows*m.LD // any will do
	}
	return m
}
