package structured

import (
	"errors"
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/gpu/format"
)

// Product is a kernel that multiplies the pruned A with B, with its operands as lanes load
// them: a, b, metadata e, and the result d in float32, with a number of loops.
type Product struct {
	Name    string
	Shape   string // of its instructions, as in "2 x m16n8k16"
	PTX     string
	Threads int
	K       int // of the product
	A, B, E []uint32

	multiply func(row, column int) float32 // of what A has been pruned to
}

// Products are the kernels for full, a matrix of Rows x Columns, and right, of Columns x
// Width: each dense product before its sparse one. Products of float16 are of 2:4, of TF32
// of 1:2 of the first 16 columns. The numbers are whole and below 2048, so that every
// product is exact.
func Products(full, right []float32) []Product {
	p := Prune(full)
	pairs := prunePairs(full)
	ofRight := func(k, column int) float32 { return right[k*Width+column] }
	dense := func(row, k int) float32 { return p.Values[row%Rows*Columns+k] }
	kept := func(row, i int) float32 { return p.Kept[row%Rows*Columns/2+i] }
	of24 := func(row, column int) (sum float32) {
		for k := range Columns {
			sum += dense(row, k) * ofRight(k, column)
		}
		return sum
	}
	of12 := func(row, column int) (sum float32) {
		for k := range Columns / 2 {
			sum += pairs.values[row*Columns/2+k] * ofRight(k, column)
		}
		return sum
	}
	transposed := func(column, k int) float32 { return ofRight(k, column) }
	b16, b32 := fragmentB(16, 32, ofRight), fragmentB(32, 16, ofRight)
	halves := metadata24(p.Places)
	return []Product{
		{"mma f16", "2 x m16n8k16", warpText("dense", 8, 4, mmaF16), 32, 32, fragmentA(16, 32, dense), b16, halves, of24},
		{"mma.sp f16", "1 x m16n8k32, 4 of 8 words of A", warpText("compressed", 4, 4, mmaSpF16), 32, 32, fragmentA(16, 16, kept), b16, halves, of24},
		{"mma tf32", "2 x m16n8k8", warpText("dense", 8, 4, mmaTF32), 32, 16,
			fragmentA(32, 16, func(row, k int) float32 { return pairs.values[row*Columns/2+k] }), b32, pairs.metadata, of12},
		{"mma.sp tf32", "1 x m16n8k16, 4 of 8 words of A", warpText("compressed", 4, 4, mmaSpTF32), 32, 16,
			fragmentA(32, 8, func(row, i int) float32 { return pairs.kept[row*Columns/4+i] }), b32, pairs.metadata, of12},
		{"wgmma f16", "2 x m64n8k16", groupText("dense", 1024, wgmmaF16), 128, 32, cores(64, 32, dense), cores(Width, 32, transposed), halves, of24},
		{"wgmma.sp f16", "1 x m64n8k32, 2 of 4 KiB of A", groupText("compressed", 512, wgmmaSpF16), 128, 32, cores(64, 16, kept), cores(Width, 32, transposed), halves, of24},
	}
}

// Loaded is a Product on a device.
type Loaded struct {
	Product
	device  gpu.Device
	entry   gpu.Entry
	buffers []gpu.Buffer // a, b, e, d
}

// On loads the product on a device of sm_90a and uploads its operands.
func (p Product) On(d gpu.Device) (*Loaded, error) {
	module, err := d.Load(p.Name+".ptx", p.PTX)
	if err != nil {
		return nil, err
	}
	entry, err := module.Entry(module.Entries()[0])
	if err != nil {
		return nil, err
	}
	l := &Loaded{Product: p, device: d, entry: entry}
	for _, values := range []any{p.A, p.B, p.E, make([]float32, 4*p.Threads)} {
		b, err := gpu.Upload(d, values)
		if err != nil {
			return nil, errors.Join(err, l.Free())
		}
		l.buffers = append(l.buffers, b)
	}
	return l, nil
}

// Launch multiplies with one block and adds the product so many times.
func (l *Loaded) Launch(loops int) gpu.Launch {
	b := l.buffers
	return gpu.Launch{Entry: l.entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: l.Threads}, Args: []any{b[0], b[1], b[2], b[3], uint32(loops)}}
}

// Verify multiplies once and compares every element with the product on the CPU.
func (l *Loaded) Verify() error {
	product := make([]float32, 4*l.Threads)
	if err := errors.Join(l.device.Launch(l.Launch(1)), l.device.Sync(), l.buffers[3].Download(product)); err != nil {
		return err
	}
	for row := range l.Threads / 2 {
		for column := range Width {
			got := product[(row/16*32+row%8*4+column/2)*4+row%16/8*2+column%2]
			if want := l.multiply(row%Rows, column); got != want {
				return fmt.Errorf("structured: %s: element (%d, %d) is %v, expected %v", l.Name, row, column, got, want)
			}
		}
	}
	return nil
}

// Free releases the operands.
func (l *Loaded) Free() (err error) {
	for _, b := range l.buffers {
		err = errors.Join(err, b.Free())
	}
	return err
}

// word packs numbers from the lowest bits on, of 16 bits as float16 and of 32 as they are.
func word(bits int, numbers ...float32) (packed uint32) {
	for i, v := range numbers {
		code := math.Float32bits(v)
		if bits == 16 {
			_, code = format.Float16.Round(float64(v))
		}
		packed |= code << (i * bits)
	}
	return packed
}

// lanes are the words of each lane for so many k: from a step on, words of each of the rows
// that the lane has.
func lanes(bits, k, halves int, number func(lane, half, k int) float32) (words []uint32) {
	per := 32 / bits
	for lane := range 32 {
		for step := range k / (4 * per) {
			for half := range halves {
				var numbers []float32
				for i := range per {
					numbers = append(numbers, number(lane, half, step*4*per+lane%4*per+i))
				}
				words = append(words, word(bits, numbers...))
			}
		}
	}
	return words
}

// fragmentA has rows l/4 and l/4 + 8 for lane l, fragmentB column l/4.
func fragmentA(bits, k int, rows func(row, k int) float32) []uint32 {
	return lanes(bits, k, 2, func(lane, half, k int) float32 { return rows(lane/4+8*half, k) })
}

func fragmentB(bits, k int, columns func(k, column int) float32) []uint32 {
	return lanes(bits, k, 1, func(lane, _, k int) float32 { return columns(k, lane/4) })
}

// cores are rows of k numbers of 16 bits in cores of 8 rows x 16 bytes, as wgmma reads them.
func cores(rows, k int, number func(row, k int) float32) []uint32 {
	words := make([]uint32, rows*k/2)
	for row := range rows {
		for i := 0; i < k; i += 2 {
			words[i/8*rows*4+row/8*32+row%8*4+i%8/2] = word(16, number(row, i), number(row, i+1))
		}
	}
	return words
}

// metadata24 is the metadata of each lane for 2:4: lane 4r has columns 0 to 15 of rows r
// and r + 8, lane 4r + 1 the others.
func metadata24(places []uint32) []uint32 {
	words := make([]uint32, 32)
	for row := range Rows {
		for side := range 2 {
			words[row%8*4+side] |= places[row] >> (16 * side) & 0xffff << (row / 8 * 16)
		}
	}
	return words
}

// pruned12 is 1:2 of the first 16 columns: of each two the larger is kept.
type pruned12 struct {
	values, kept []float32
	metadata     []uint32
}

func prunePairs(full []float32) (p pruned12) {
	p = pruned12{values: make([]float32, Rows*Columns/2), kept: make([]float32, Rows*Columns/4), metadata: make([]uint32, 32)}
	for i := range p.kept {
		row, pair, second := i/8, i%8, 0
		if math.Abs(float64(full[row*Columns+2*pair+1])) > math.Abs(float64(full[row*Columns+2*pair])) {
			second = 1
		}
		p.kept[i] = full[row*Columns+2*pair+second]
		p.values[row*Columns/2+2*pair+second] = p.kept[i]
		p.metadata[row%8*4+pair/4] |= []uint32{0b0100, 0b1110}[second] << (row/8*16 + pair%4*4)
	}
	return p
}
