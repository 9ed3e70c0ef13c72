package gemm

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// hopper is the only compute capability with wgmma.
var hopper = gpu.Compute{Major: 9}

// hopperProduct is the argument of the entries of gemm_hopper.cu.
type hopperProduct struct {
	M, N, K     uint32
	Alpha, Beta float32
}

// Two blocks of gemm_hopper.cu are a cluster, which has a tile of 256 x 256. A block
// has at most 192 KB of stages along k and 32 KB on the way to D.
const (
	hopperSide    = 256 // = side
	hopperThreads = 384 // = maxntid(gemm_bf16_wgmma)
	hopperBytes   = (192 + 32) << 10
)

// hopperVariants are the rungs of a type on wgmma.
func (o Options) hopperVariants(kind tensorKind) []ladder.Variant {
	wgmma := o.hopperVariant("gemm_"+kind.name+"_wgmma", "Hopper: the copy engine brings tiles, also to a neighbour, and stores, while two warpgroups multiply", kind.size)
	wgmma.Plan = kind.rounded(func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		if s[0] == 0 || s[1] == 0 {
			return ladder.Plan{}
		}
		a, b := o.boxes("a", s, kind.size), o.boxes("b", s, kind.size)
		a.TF32, b.TF32 = kind.size == 4, kind.size == 4
		return ladder.Plan{Depth: o.depth(s), Steps: []ladder.Step{o.hopperStep(entry, s, info, kind.size, a, b)}}
	})
	variants := []ladder.Variant{wgmma}
	if kind.size == 4 {
		variants = append(variants, o.inParts()...)
	}
	for i, v := range variants {
		variants[i].Refuses = o.copyEngineStores(v.Name, kind.size)
	}
	return variants
}

// inParts are the rungs that add float32 as products of parts in fewer bits.
func (o Options) inParts() []ladder.Variant {
	tf32 := o.hopperVariant("gemm_tf32x3", "A and B are split into two TF32 numbers each: three products, added to float32 sums after each 32 k", 4)
	tf32.Plan = o.tf32x3
	bf16 := o.hopperVariant("gemm_bf16x3", "A and B are split into three bfloat16 numbers each: six products, added to float32 sums after each 64 k", 4)
	bf16.Plan = o.bf16x3
	fp16 := o.hopperVariant("gemm_fp16x3", "A and B are split into two float16 numbers each, of rows and columns that are scaled first: three products", 4)
	fp16.Plan = o.fp16x3
	return []ladder.Variant{tf32, bf16, fp16}
}

func (o Options) hopperVariant(name, adds string, size int) ladder.Variant {
	return ladder.Variant{Name: name, Adds: adds, Source: "ours", Needs: hopper, Module: "gemm_hopper", Refuses: o.copyEngineRefuses(name, size)}
}

// copyEngineRefuses rejects operands that the copy engine does not take.
func (o Options) copyEngineRefuses(name string, size int) func(ladder.Size) error {
	return func(s ladder.Size) error {
		shapes := o.shapes(s)
		switch {
		case s[0] == 0 || s[1] == 0:
			return nil
		case s[2] == 0 || o.Alpha == 0:
			return fmt.Errorf("%w: the copy engine takes no matrix without elements, use another rung", gpu.ErrUnsupported)
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

// copyEngineStores also refuses matrices beyond which the copy engine would write: it
// stores vectors of 16 bytes, of which up to 14 bytes may lie in the gap after a row of D.
func (o Options) copyEngineStores(name string, size int) func(ladder.Size) error {
	loads := o.copyEngineRefuses(name, size)
	return func(s ladder.Size) error {
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
func (o Options) boxes(name string, s ladder.Size, size int) ladder.TensorMap {
	shapes := o.shapes(s)
	x, rows := shapes.d, 32
	switch name {
	case "a":
		x, rows = shapes.a, 128
	case "b":
		x, rows = shapes.b, 128/size
	}
	return ladder.TensorMap{Tensor: name, Rows: x.rows, Columns: x.columns, LD: x.ld, Box: [2]int{rows, 128 / size}}
}

// hopperStep launches a cluster for every two multiprocessors, or the fewest that take
// as many rounds: the others would idle in the last one, and the clock that the limit of
// power leaves is the higher. Maps are those of the factors, size is that of an element of D.
func (o Options) hopperStep(entry string, s ladder.Size, info gpu.Info, size int, maps ...ladder.TensorMap) ladder.Step {
	c := "c"
	if o.Beta == 0 {
		c = "d" // which is not read
	}
	tiles := ladder.CeilDiv(s[0], hopperSide) * ladder.CeilDiv(s[1], hopperSide)
	rounds := max(1, ladder.CeilDiv(tiles, max(1, info.SMs/2)))
	step := ladder.Step{Entry: entry, Grid: gpu.Dim{X: 2 * max(1, ladder.CeilDiv(tiles, rounds))}, Block: gpu.Dim{X: hopperThreads}, Shared: hopperBytes}
	for _, m := range append(maps, o.boxes(c, s, size), o.boxes("d", s, size)) {
		step.Args = append(step.Args, m)
	}
	step.Args = append(step.Args, hopperProduct{uint32(s[0]), uint32(s[1]), uint32(s[2]), o.Alpha, o.Beta})
	return step
}

// splitGrid has a thread for so many elements of a row, or of several rows.
func splitGrid(rows, columns, elements int) gpu.Dim {
	return gpu.Dim{X: ladder.CeilDiv(columns, 256*elements), Y: min(rows, 65535)}
}

// promotedDepth counts the roundings of sums that tensor cores add over chunks of k
// and float32 adds. Each step of a chunk cuts 8 or 16 products and the sum before
// off, 25 bits below the largest, and the new sum: 10.5 u for 16. The steps of first
// parts, 4 a chunk, cost 42 u so, those of others 2^-7 of as much: fewer than one u
// for each k of a chunk.
func (o Options) promotedDepth(s ladder.Size, chunk int) int {
	return o.depth(ladder.Size{s[0], s[1], ladder.CeilDiv(s[2], chunk) + min(s[2], chunk)}) + tensorRoundings
}

// tf32x3 drops the product of the second parts, 2^-22 of the term, and the rest of
// each factor after two parts, half as much each.
func (o Options) tf32x3(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	if s[0] == 0 || s[1] == 0 {
		return ladder.Plan{}
	}
	p := ladder.Plan{Depth: o.promotedDepth(s, 32), Round: 0x1.01p-21}
	a := o.shapes(s).a
	high, low := p.NewScratch("high", a.rows*a.ld), p.NewScratch("low", a.rows*a.ld)
	maps := []ladder.TensorMap{o.boxes("a", s, 4), o.boxes("a", s, 4), o.boxes("b", s, 4)}
	maps[0].Tensor, maps[1].Tensor = high, low
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: splitGrid(a.rows, a.columns, 4), Block: gpu.Dim{X: 256},
			Args: []any{"a", high, low, uint32(a.rows), uint32(a.columns), uint32(a.ld)}},
		o.hopperStep(entry+"_2", s, info, 4, maps...),
	}
	return p
}

// bf16x3 drops three products of parts: two of 2^-25 of the term, and one of 2^-34.
func (o Options) bf16x3(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	if s[0] == 0 || s[1] == 0 {
		return ladder.Plan{}
	}
	p := ladder.Plan{Depth: o.promotedDepth(s, 64), Round: 0x1.01p-24}
	shapes := o.shapes(s)
	var maps []ladder.TensorMap
	for _, x := range []struct {
		name   string
		matrix matrix
		rows   int // of a box
	}{{"a", shapes.a, 128}, {"b", shapes.b, 64}} {
		split := parts(&p, x.name, x.matrix, gpu.BFloat16, 3, x.rows)
		maps = append(maps, split...)
		p.Steps = append(p.Steps, ladder.Step{Entry: entry, Grid: splitGrid(x.matrix.rows, x.matrix.columns, 8), Block: gpu.Dim{X: 256},
			Args: []any{x.name, split[0].Tensor, split[1].Tensor, split[2].Tensor, uint32(x.matrix.rows), uint32(x.matrix.columns), uint32(x.matrix.ld), uint32(split[0].LD)}})
	}
	p.Steps = append(p.Steps, o.hopperStep(entry+"_2", s, info, 4, maps...))
	return p
}

// fp16x3 drops what tf32x3 does, but of numbers below 2^-17 of the largest of their
// row of A or column of B more: 2^-39 of that.
func (o Options) fp16x3(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	if s[0] == 0 || s[1] == 0 {
		return ladder.Plan{}
	}
	p := ladder.Plan{Depth: o.promotedDepth(s, 64), Round: 0x1.01p-21}
	a, b := o.shapes(s).a, o.shapes(s).b
	maps := append(parts(&p, "a", a, gpu.Float16, 2, 128), parts(&p, "b", b, gpu.Float16, 2, 64)...)
	rows, columns := p.NewScratch("rows", ladder.CeilDiv(a.rows, hopperSide)*hopperSide), p.NewScratch("columns", ladder.CeilDiv(b.columns, hopperSide)*hopperSide)
	product := o.hopperStep(entry+"_4", s, info, 4, maps...)
	product.Args = append(product.Args, rows, columns)
	var zero []string // entry _4 reads the bits of whole tiles, entry writes those of rows
	if a.rows%hopperSide != 0 {
		zero = []string{"rows"}
	}
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: min(a.rows, 65535)}, Block: gpu.Dim{X: 256}, Zero: zero,
			Args: []any{"a", maps[0].Tensor, maps[1].Tensor, rows, uint32(a.rows), uint32(a.columns), uint32(a.ld), uint32(maps[0].LD)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: ladder.CeilDiv(b.columns, 256*4), Y: ladder.CeilDiv(b.rows, 64)}, Block: gpu.Dim{X: 256}, Zero: []string{"columns"},
			Args: []any{"b", columns, uint32(b.rows), uint32(b.columns), uint32(b.ld)}},
		{Entry: entry + "_3", Grid: splitGrid(b.rows, b.columns, 8), Block: gpu.Dim{X: 256},
			Args: []any{"b", maps[2].Tensor, maps[3].Tensor, columns, uint32(b.rows), uint32(b.columns), uint32(b.ld), uint32(maps[2].LD)}},
		product,
	}
	return p
}

// parts adds scratch for the parts of a matrix, whose rows start at multiples of
// eight, and describes boxes of so many rows.
func parts(p *ladder.Plan, name string, x matrix, elements gpu.Type, count, rows int) (maps []ladder.TensorMap) {
	ld := ladder.CeilDiv(x.columns, 8) * 8
	for i := range count {
		part := fmt.Sprint(name, i)
		p.Scratch = append(p.Scratch, ladder.Tensor{Name: part, Len: x.rows * ld, Type: elements})
		maps = append(maps, ladder.TensorMap{Tensor: part, Rows: x.rows, Columns: x.columns, LD: ld, Box: [2]int{rows, 64}})
	}
	return maps
}
