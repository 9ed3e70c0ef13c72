package matrix

import "warpbook/gpu/ptx"

// The manual does not define which lane holds which element of a wmma fragment. In the
// emulator they lie in the order of memory, lane by lane; if there are more places than
// elements, lanes 16 to 31 (or more) hold copies.

// Fragment is one operand of wmma.
type Fragment struct {
	*Tile
	Rows, Cols int
	Across     bool // it lies column by column
}

// Elements is the number of elements in each lane.
func (f *Fragment) Elements() int { return len(f.Slots) * f.Per() }

// Index is the row and column of element e of a lane.
func (f *Fragment) Index(lane, e int) (row, col int) {
	n := (lane*f.Elements() + e) % (f.Rows * f.Cols)
	if f.Across {
		return n % f.Rows, n / f.Rows
	}
	return n / f.Cols, n % f.Cols
}

// WholeShape reports whether wmma has a product of the shape and the type of the factors, ""
// for any type.
func (p *Product) WholeShape() bool {
	k := map[ptx.Type]int{"f16": 16, "bf16": 16, "s8": 16, "u8": 16, "tf32": 8, "f64": 4}[p.Of]
	known := p.K == 16 && (p.M == 16 && p.N == 16 || p.M == 32 && p.N == 8 || p.M == 8 && p.N == 32) ||
		p.K == 8 && p.M == 16 && p.N == 16 || p.K == 4 && p.M == 8 && p.N == 8
	return known && (p.Of == "" || p.K == k)
}

// Fragment is the operand a, b, c or d of a product, in a type.
func (p *Product) Fragment(which string, of ptx.Type, layout string) *Fragment {
	f := &Fragment{Across: layout == "col"}
	switch which {
	case "a":
		f.Rows, f.Cols = p.M, p.K
	case "b":
		f.Rows, f.Cols = p.K, p.N
	default:
		f.Rows, f.Cols, f.Across = p.M, p.N, false
	}
	n := f.Rows * f.Cols
	if of == "f16" && which != "c" && which != "d" {
		n = 512 // always 8 registers
	}
	f.Tile = NewTile(of, n)
	return f
}
