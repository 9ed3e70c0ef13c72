package emu

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"warpbook/gpu"
)

// profiledPattern is a launch of one warp, which loads and stores at the same offsets in
// global and in shared memory, by the text of patternModule.
type profiledPattern struct {
	Size    uint32 // bytes a lane
	Mask    uint32
	Offsets [32]uint32 // bytes
}

// profiledPatterns are the patterns that NVIDIA's profiler has counted: regular ones,
// then random ones, of every size. Their order is that of the profile.
func profiledPatterns() (all []profiledPattern) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []struct{ size, regular, random int }{{16, 110, 120}, {8, 110, 120}, {4, 60, 40}, {2, 15, 15}, {1, 15, 15}} {
		for i := range n.regular {
			all = append(all, newProfiledPattern(n.size, regularShape(i*len(regularShapes)/n.regular), regularMask(i, random), random))
		}
		for i := range n.random {
			all = append(all, newProfiledPattern(n.size, randomShape(i, random), regularMask(i/2, random), random))
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// newProfiledPattern starts a shape at a random place, for accesses of the size.
func newProfiledPattern(size int, shape [32]int, mask uint32, random *rand.Rand) profiledPattern {
	p := profiledPattern{Size: uint32(size), Mask: mask}
	start := random.IntN(64)
	for l := range shape {
		p.Offsets[l] = uint32(size * (start + shape[l]))
	}
	return p
}

// without is l with a bit taken out.
func without(l, bit int) int { return l&(1<<bit-1) | l>>(bit+1)<<bit }

var regularShapes = []func(l int) int{
	func(l int) int { return l }, func(l int) int { return 2 * l }, func(l int) int { return 3 * l },
	func(l int) int { return 4 * l }, func(l int) int { return 5 * l }, func(l int) int { return 8 * l },
	func(l int) int { return 9 * l }, func(l int) int { return 16 * l }, func(l int) int { return 17 * l },
	func(l int) int { return 32 * l }, func(l int) int { return 33 * l }, func(l int) int { return 0 },
	func(l int) int { return 31 - l }, func(l int) int { return l ^ 1 }, func(l int) int { return l ^ 5 },
	func(l int) int { return l ^ 18 }, func(l int) int { return l % 2 }, func(l int) int { return l % 4 },
	func(l int) int { return l % 8 }, func(l int) int { return l % 16 }, func(l int) int { return l / 4 },
	func(l int) int { return l / 8 }, func(l int) int { return l / 16 }, func(l int) int { return l%8*4 + l/8 },
	func(l int) int { return l/4*8 + l%4 }, func(l int) int { return l/8*32 + l%8 }, func(l int) int { return l % 4 * 8 },
	func(l int) int { return l / 4 * 2 }, func(l int) int { return l / 4 * 32 }, func(l int) int { return l%2 + l/16*2 },
	func(l int) int { return without(l, 0) }, func(l int) int { return without(l, 1) }, func(l int) int { return without(l, 2) },
	func(l int) int { return without(l, 3) }, func(l int) int { return 2 * without(l, 0) }, func(l int) int { return 2 * without(l, 1) },
	func(l int) int { return 4 * without(l, 0) }, func(l int) int { return 4 * without(l, 1) }, func(l int) int { return 8 * without(l, 0) },
	func(l int) int { return 8 * without(l, 1) }, func(l int) int { return 8 * without(l, 2) }, func(l int) int { return without(without(l, 1), 0) },
	func(l int) int { return 2 * without(without(l, 1), 0) }, func(l int) int { return 8 * without(without(l, 1), 0) },
	func(l int) int { return without(without(l, 2), 0) }, func(l int) int { return 8 * without(without(l, 3), 1) },
}

func regularShape(i int) (shape [32]int) {
	for l := range shape {
		shape[l] = regularShapes[i](l)
	}
	return shape
}

// randomShape makes lanes share addresses: all in the same way, or only some.
func randomShape(i int, random *rand.Rand) (shape [32]int) {
	span := 1 << (1 + random.IntN(9))
	for l := range shape {
		shape[l] = random.IntN(span)
	}
	free := shape
	pair := func(from, to, d int) {
		for l := from; l < to; l++ {
			shape[l] = shape[l&^d]
		}
	}
	d := 1 << random.IntN(5)
	switch i % 8 {
	case 1, 2:
		pair(0, 32, 1+i%2)
	case 3:
		pair(0, 32, d)
	case 4: // one lane differs
		pair(0, 32, 1+random.IntN(2))
		l := random.IntN(32)
		shape[l] = free[l]
	case 5: // one half of the warp
		from := 16 * random.IntN(2)
		pair(from, from+16, 1+random.IntN(2))
	case 6: // the halves in different ways
		pair(0, 16, 1+random.IntN(2))
		pair(16, 32, 1+random.IntN(2))
	case 7: // one quarter
		from := 8 * random.IntN(4)
		pair(from, from+8, 1+random.IntN(2))
	}
	return shape
}

func regularMask(i int, random *rand.Rand) uint32 {
	masks := []uint32{all, all, all, all, 0x0000ffff, 0xffff0000, 0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff,
		0x11111111, 1 << random.IntN(32), all &^ (1 << random.IntN(32)), random.Uint32() | 1, random.Uint32() | random.Uint32() | 1, 0xff << (8 * random.IntN(4))}
	return masks[i%len(masks)]
}

// profiledBytes is the input of the hash of the patterns, and of the launches on a GPU.
func profiledBytes() []byte {
	var b bytes.Buffer
	for _, p := range profiledPatterns() {
		_ = binary.Write(&b, binary.LittleEndian, p) // to memory, of a fixed size
	}
	return b.Bytes()
}

// TestWritePatterns writes the input of a GPU under the profiler: the bytes of the
// patterns, and the PTX for each size.
func TestWritePatterns(t *testing.T) {
	folder := os.Getenv("WARPBOOK_PATTERNS")
	if folder == "" {
		t.Skip("WARPBOOK_PATTERNS names no folder: the profiler's counts are not being taken")
	}
	files := map[string][]byte{"patterns.bin": profiledBytes()}
	for _, size := range []int{1, 2, 4, 8, 16} {
		files[fmt.Sprintf("%d.ptx", size)] = []byte(patternModule(size))
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// profiledCounts is the profiler's counts of one launch.
type profiledCounts [8]uint64

// TestPatternsEqualTheProfilers compares requests, sectors, wavefronts and conflicts of
// every pattern with the profiler's.
func TestPatternsEqualTheProfilers(t *testing.T) {
	text, err := os.ReadFile("testdata/patterns.h200.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Hash   string `json:"patterns_sha256"`
		Counts []profiledCounts
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	patterns := profiledPatterns()
	if sum := fmt.Sprintf("%x", sha256.Sum256(profiledBytes())); sum != golden.Hash || len(golden.Counts) != len(patterns) {
		t.Fatalf("the profile is of %d other patterns than these %d: take it again on a GPU", len(golden.Counts), len(patterns))
	}
	wrong := 0
	for _, long := range []bool{true, false} {
		for _, size := range []uint32{1, 2, 4, 8, 16} {
			d, e := loadEntry(t, patternModule(int(size)), "op")
			for i, p := range patterns {
				if p.Size != size {
					continue
				}
				r := runPattern(t, d, e, long, p.Offsets[:], p.Mask, 1<<13, -1)
				if r.err != "" {
					t.Fatalf("pattern %d: %s", i, r.err)
				}
				if got := countsOf(r.counters); got != golden.Counts[i] {
					if wrong++; wrong > 5 {
						t.Fatal("and more")
					}
					t.Errorf("pattern %d, %d bytes, lanes %#08x, the long way %v: counted %d, the profiler %d; offsets %d", i, size, p.Mask, long, got, golden.Counts[i], p.Offsets)
				}
			}
		}
	}
}

// countsOf are the counters in the order of the profile.
func countsOf(c gpu.Counters) profiledCounts {
	return profiledCounts{c.GlobalLoad.Requests, c.GlobalLoad.Sectors, c.GlobalStore.Requests, c.GlobalStore.Sectors,
		c.SharedLoad.Wavefronts, c.SharedLoad.Conflicts, c.SharedStore.Wavefronts, c.SharedStore.Conflicts}
}
