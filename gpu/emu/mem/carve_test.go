package mem

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

// TestCarve: two workers carve whole cache lines, apart from all their other memory, and
// never from the same page.
func TestCarve(t *testing.T) {
	const seed = 3
	random := rand.New(rand.NewPCG(seed, 0))
	var workers [2]Pages
	owner := map[uintptr]int{} // of pages
	used := map[uintptr]bool{} // lines
	var keep [][]uint32        // otherwise the memory would be carved again
	for round := range 2000 {
		who, n := round%2, 1+random.IntN(3000)
		v := Carve[uint32](&workers[who], n)
		keep = append(keep, v)
		start, end := uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[n-1]))
		if start%64 != 0 {
			t.Fatalf("round %d, seed %d: %d words start at %#x, expected a cache line", round, seed, n, start)
		}
		for line := start / 64; line <= end/64; line++ {
			if used[line] {
				t.Fatalf("round %d, seed %d: %d words lie in a line of others", round, seed, n)
			}
			used[line] = true
			if other, ok := owner[line*64/PageBytes]; ok && other != who {
				t.Fatalf("round %d, seed %d: %d words lie in a page of the other worker", round, seed, n)
			}
			owner[line*64/PageBytes] = who
		}
	}
	runtime.KeepAlive(keep)
}
