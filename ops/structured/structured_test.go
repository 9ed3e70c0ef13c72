package structured

import (
	"math/rand/v2"
	"testing"
	"time"

	"warpbook/gpu/device"
)

// matrices are random whole numbers for which every product is exact.
func matrices(seed uint64) (full, right []float32) {
	random := rand.New(rand.NewPCG(seed, 0))
	full, right = make([]float32, Rows*Columns), make([]float32, Columns*Width)
	for i := range full {
		full[i] = float32(1+random.IntN(1000)) * float32(1-2*random.IntN(2))
	}
	for i := range right {
		right[i] = float32(random.IntN(1000))
	}
	return full, right
}

// TestPrune: two of each four stay, the largest, and their places restore the matrix.
func TestPrune(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	full, _ := matrices(seed)
	p := Prune(full)
	for i, v := range p.Kept {
		row, slot := i/(Columns/2), i%(Columns/2)
		column := slot/2*4 + int(p.Places[row]>>(2*slot)&3)
		if p.Values[row*Columns+column] != v || full[row*Columns+column] != v {
			t.Fatalf("seed %d: number %d of row %d is %v, and column %d of the pruned matrix is %v", seed, slot, row, v, column, p.Values[row*Columns+column])
		}
	}
	got := Prune([]float32{-3, 1, 2, 3, 5, 5, 5, 5})
	if want := []float32{-3, 3, 5, 5}; got.Values[0] != -3 || got.Values[1] != 0 || got.Values[2] != 0 || got.Values[3] != 3 || got.Values[4] != 5 || got.Values[6] != 0 {
		t.Errorf("pruned to %v, expected %v to stay", got.Values, want)
	}
}

// TestProducts: on an emulated H200 every product is that of the pruned matrix, a sparse
// one takes half of A, and wrong metadata gives another product.
func TestProducts(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	full, right := matrices(seed)
	h200 := device.MustOpen("emu:h200")
	defer h200.Close()
	products := Products(full, right)
	for i, p := range products {
		l, err := p.On(h200)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Verify(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if i%2 == 0 {
			if sparse := products[i+1]; 2*len(sparse.A) != len(p.A) {
				t.Errorf("%s has %d words of A, %s %d", sparse.Name, len(sparse.A), p.Name, len(p.A))
			}
			continue
		}
		for j := range p.E {
			p.E[j] = ^p.E[j]
		}
		wrong, err := p.On(h200)
		if err != nil {
			t.Fatal(err)
		}
		if err := wrong.Verify(); err == nil {
			t.Errorf("seed %d: %s with inverted metadata gives the same product", seed, p.Name)
		}
		for j := range p.E { // shared with other products
			p.E[j] = ^p.E[j]
		}
	}
}
