package ops

import (
	"fmt"

	"warpbook/gpu"
)

// hopper is the only compute capability with wgmma.
var hopper = gpu.Compute{Major: 9}

// hopperProduct is what entries of gemm_hopper.cu are told of a product.
type hopperProduct struct {
	M, N, K     uint32
	Alpha, Beta float32
}

// Two blocks of gemm_hopper.cu are a cluster, which has a tile of 256 x 256. A block
// has at most 192 KB of stages along k and 32 KB on the way to D.
const (
	hopperSide    = 256
	hopperThreads = 384
	hopperBytes   = (192 + 32) << 10
)

// hopperVariants are the rungs of a type on wgmma.
func (o GemmOptions) hopperVariants(kind tensorKind) []Variant {
	wgmma := o.hopperVariant("gemm_"+kind.name+"_wgmma", "Hopper: the copy engine brings tiles, also to a neighbour, and stores, while two warpgroups multiply", kind.size)
	wgmma.Plan = kind.rounded(func(entry string, s Size, info gpu.Info) Plan {
		if s[0] == 0 || s[1] == 0 {
			return Plan{}
		}
		a, b := o.boxes("a", s, kind.size), o.boxes("b", s, kind.size)
		a.TF32, b.TF32 = kind.size == 4, kind.size == 4
		return Plan{Depth: o.depth(s), Steps: []Step{o.hopperStep(entry, s, info, kind.size, a, b)}}
	})
	variants := []Variant{wgmma}
	if kind.size == 4 {
		variants = append(variants, o.inParts()...)
	}
	for i, v := range variants {
		variants[i].Refuses = o.copyEngineStores(v.Name, kind.size)
	}
	return variants
}

// inParts are the rungs that add float32 as products of parts in fewer bits.
func (o GemmOptions) inParts() []Variant {
	tf32 := o.hopperVariant("gemm_tf32x3", "A and B are split into two TF32 numbers each: three products, added to float32 sums after each 32 k", 4)
	tf32.Plan = o.tf32x3
	bf16 := o.hopperVariant("gemm_bf16x3", "A and B are split into three bfloat16 numbers each: six products, added to float32 sums after each 64 k", 4)
	bf16.Plan = o.bf16x3
	fp16 := o.hopperVariant("gemm_fp16x3", "A and B are split into two float16 numbers each, of rows and columns that are scaled first: three products", 4)
	fp16.Plan = o.fp16x3
	return []Variant{tf32, bf16, fp16}
}

func (o GemmOptions) hopperVariant(name, adds string, size int) Variant {
	return Variant{Name: name, Adds: adds, Source: "ours", Needs: hopper, Module: "gemm_hopper", Refuses: o.copyEngineRefuses(name, size)}
}

// copyEngineRefuses names what the copy engine does not take.
func (o GemmOptions) copyEngineRefuses(name string, size int) func(Size) error {
	return func(s Size) error {
		shapes := o.shapes(s)
		switch {
		case s[0] == 0 || s[1] == 0:
			return nil
		case s[2] == 0 || o.Alpha == 0:
			return fmt.Errorf("%w: the copy engine takes no matrix without elements, nothing is multiplied, use another rung", gpu.ErrUnsupported)
		}
		for _, x := range []struct {
			name string
			ld   int
		}{{"lda", shapes.a.ld}, {"ldb", shapes.b.ld}, {"ldc", shapes.d.ld}} {
			if x.ld*size%16 != 0 {
				return fmt.Errorf("%w: %s = %d: the copy engine takes rows of a multiple of %d elements, use another rung",
					gpu.ErrUnsupported, x.name, x.ld, 16/size)
			}
		}
		return nil
	}
}

// copyEngineStores refuses also what it would store too much of: whole vectors, 16
// bytes, up to 14 of them in the gap behind a row of D.
func (o GemmOptions) copyEngineStores(name string, size int) func(Size) error {
	loads := o.copyEngineRefuses(name, size)
	return func(s Size) error {
		if err := loads(s); err != nil {
			return err
		}
		if s[0] > 0 && s[1]*size%16 != 0 {
			return fmt.Errorf("%w: n = %d: the copy engine stores 16 bytes at once, expected a multiple of %d, use another rung", gpu.ErrUnsupported, s[1], 16/size)
		}
		return nil
	}
}

// boxes describes a, 128 rows at a time, b, as many rows as a step has k, or c or d,
// 32 rows; 128 bytes of each row.
func (o GemmOptions) boxes(name string, s Size, size int) TensorMap {
	shapes := o.shapes(s)
	x, rows := shapes.d, 32
	switch name {
	case "a":
		x, rows = shapes.a, 128
	case "b":
		x, rows = shapes.b, 128/size
	}
	return TensorMap{Tensor: name, Rows: x.rows, Columns: x.columns, LD: x.ld, Box: [2]int{rows, 128 / size}}
}

// hopperStep launches a cluster for every two multiprocessors, or the fewest that take
// as many rounds: the others would idle in the last one, and the clock that the limit of
// power leaves is the higher. Maps are those of the factors, size is that of an element of D.
func (o GemmOptions) hopperStep(entry string, s Size, info gpu.Info, size int, maps ...TensorMap) Step {
	c := "c"
	if o.Beta == 0 {
		c = "d" // which is not read
	}
	tiles := ceilDiv(s[0], hopperSide) * ceilDiv(s[1], hopperSide)
	rounds := max(1, ceilDiv(tiles, max(1, info.SMs/2)))
	step := Step{Entry: entry, Grid: gpu.Dim{X: 2 * max(1, ceilDiv(tiles, rounds))}, Block: gpu.Dim{X: hopperThreads}, Shared: hopperBytes}
	for _, m := range append(maps, o.boxes(c, s, size), o.boxes("d", s, size)) {
		step.Args = append(step.Args, m)
	}
	step.Args = append(step.Args, hopperProduct{uint32(s[0]), uint32(s[1]), uint32(s[2]), o.Alpha, o.Beta})
	return step
}

// splitGrid has a thread for so many elements of a row, or of several rows.
func splitGrid(rows, columns, elements int) gpu.Dim {
	return gpu.Dim{X: ceilDiv(columns, 256*elements), Y: min(rows, 65535)}
}

// promotedDepth counts the roundings of sums that tensor cores add over chunks of k
// and float32 adds. Each step of a chunk cuts 8 or 16 products and the sum before
// off, 25 bits below the largest, and the new sum: 10.5 u for 16. The steps of first
// parts, 4 a chunk, cost 42 u so, those of others 2^-7 of as much: fewer than one u
// for each k of a chunk.
func (o GemmOptions) promotedDepth(s Size, chunk int) int {
	return o.depth(Size{s[0], s[1], ceilDiv(s[2], chunk) + min(s[2], chunk)}) + tensorRoundings
}

// tf32x3 drops the product of the second parts, 2^-22 of the term, and what is left
// of a factor after two parts, half as much each.
func (o GemmOptions) tf32x3(entry string, s Size, info gpu.Info) Plan {
	if s[0] == 0 || s[1] == 0 {
		return Plan{}
	}
	p := Plan{Depth: o.promotedDepth(s, 32), Round: 0x1.01p-21}
	a := o.shapes(s).a
	high, low := p.scratch("high", a.rows*a.ld), p.scratch("low", a.rows*a.ld)
	maps := []TensorMap{o.boxes("a", s, 4), o.boxes("a", s, 4), o.boxes("b", s, 4)}
	maps[0].Tensor, maps[1].Tensor = high, low
	p.Steps = []Step{
		{Entry: entry, Grid: splitGrid(a.rows, a.columns, 4), Block: gpu.Dim{X: 256},
			Args: []any{"a", high, low, uint32(a.rows), uint32(a.columns), uint32(a.ld)}},
		o.hopperStep(entry+"_2", s, info, 4, maps...),
	}
	return p
}

// bf16x3 drops three products of parts: two of 2^-25 of the term, and one of 2^-34.
func (o GemmOptions) bf16x3(entry string, s Size, info gpu.Info) Plan {
	if s[0] == 0 || s[1] == 0 {
		return Plan{}
	}
	p := Plan{Depth: o.promotedDepth(s, 64), Round: 0x1.01p-24}
	shapes := o.shapes(s)
	var maps []TensorMap
	for _, x := range []struct {
		name   string
		matrix matrix
		rows   int // of a box
	}{{"a", shapes.a, 128}, {"b", shapes.b, 64}} {
		parts := p.parts(x.name, x.matrix, gpu.BFloat16, 3, x.rows)
		maps = append(maps, parts...)
		p.Steps = append(p.Steps, Step{Entry: entry, Grid: splitGrid(x.matrix.rows, x.matrix.columns, 8), Block: gpu.Dim{X: 256},
			Args: []any{x.name, parts[0].Tensor, parts[1].Tensor, parts[2].Tensor, uint32(x.matrix.rows), uint32(x.matrix.columns), uint32(x.matrix.ld), uint32(parts[0].LD)}})
	}
	p.Steps = append(p.Steps, o.hopperStep(entry+"_2", s, info, 4, maps...))
	return p
}

// fp16x3 drops what tf32x3 does, but of numbers below 2^-17 of the largest of their
// row of A or column of B more: 2^-39 of that.
func (o GemmOptions) fp16x3(entry string, s Size, info gpu.Info) Plan {
	if s[0] == 0 || s[1] == 0 {
		return Plan{}
	}
	p := Plan{Depth: o.promotedDepth(s, 64), Round: 0x1.01p-21}
	a, b := o.shapes(s).a, o.shapes(s).b
	maps := append(p.parts("a", a, gpu.Float16, 2, 128), p.parts("b", b, gpu.Float16, 2, 64)...)
	rows, columns := p.scratch("rows", ceilDiv(a.rows, hopperSide)*hopperSide), p.scratch("columns", ceilDiv(b.columns, hopperSide)*hopperSide)
	product := o.hopperStep(entry+"_4", s, info, 4, maps...)
	product.Args = append(product.Args, rows, columns)
	p.Steps = []Step{
		{Entry: entry, Grid: gpu.Dim{X: min(a.rows, 65535)}, Block: gpu.Dim{X: 256},
			Args: []any{"a", maps[0].Tensor, maps[1].Tensor, rows, uint32(a.rows), uint32(a.columns), uint32(a.ld), uint32(maps[0].LD)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: ceilDiv(b.columns, 256*4), Y: ceilDiv(b.rows, 64)}, Block: gpu.Dim{X: 256}, Zero: []string{"columns"},
			Args: []any{"b", columns, uint32(b.rows), uint32(b.columns), uint32(b.ld)}},
		{Entry: entry + "_3", Grid: splitGrid(b.rows, b.columns, 8), Block: gpu.Dim{X: 256},
			Args: []any{"b", maps[2].Tensor, maps[3].Tensor, columns, uint32(b.rows), uint32(b.columns), uint32(b.ld), uint32(maps[2].LD)}},
		product,
	}
	return p
}

// parts adds scratch for the parts of a matrix, whose rows start at multiples of
// eight, and describes boxes of so many rows.
func (p *Plan) parts(name string, x matrix, elements gpu.Type, count, rows int) (maps []TensorMap) {
	ld := ceilDiv(x.columns, 8) * 8
	for i := range count {
		part := fmt.Sprint(name, i)
		p.Scratch = append(p.Scratch, Tensor{Name: part, Len: x.rows * ld, Type: elements})
		maps = append(maps, TensorMap{Tensor: part, Rows: x.rows, Columns: x.columns, LD: ld, Box: [2]int{rows, 64}})
	}
	return maps
}
