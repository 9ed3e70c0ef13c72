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
	"strings"
	"testing"

	"warpbook/gpu"
)

// copyKinds are the forms of cp.async: the cache, the bytes of a lane, and whether a
// register gives the number of bytes that are read.
var copyKinds = []struct {
	name, cache string
	size        int
	sized       bool
}{
	{"copy_4", "ca", 4, false}, {"copy_8", "ca", 8, false}, {"copy_16", "ca", 16, false}, {"bypass_16", "cg", 16, false},
	{"copy_4_sized", "ca", 4, true}, {"copy_8_sized", "ca", 8, true}, {"copy_16_sized", "ca", 16, true}, {"bypass_16_sized", "cg", 16, true},
}

// profiledCopy is a launch of one warp, which copies from global to shared memory once:
// the parameters of each lane.
type profiledCopy struct {
	Kind  uint32
	Lanes [32]struct{ From, To, Read, On uint32 } // bytes; On is 0 for a lane that copies nothing
}

// profiledCopies are those that NVIDIA's profiler has counted.
func profiledCopies() (copies []profiledCopy) {
	const seed, each = 11, 60
	random := rand.New(rand.NewPCG(seed, 0))
	for kind, k := range copyKinds {
		for i := range each {
			c := profiledCopy{Kind: uint32(kind)}
			mask := uint32(all)
			if i%4 == 3 {
				mask = regularMask(i/4, random)
			}
			from, to := copyShape(random), copyShape(random)
			start := random.IntN(16)
			for l := range c.Lanes {
				x := &c.Lanes[l]
				x.From, x.To, x.Read, x.On = uint32(k.size*(start+from(l))), uint32(k.size*to(l)), uint32(k.size), mask>>l&1
				if k.sized && i%3 > 0 {
					x.Read = uint32(random.IntN(k.size/4+1) * 4)
				}
			}
			copies = append(copies, c)
		}
	}
	return copies
}

// copyShape is where lanes read or write, in their own size: in rows of a tile
// that lie a pitch apart, in a permutation, or anywhere.
func copyShape(random *rand.Rand) func(l int) int {
	width, pitch := 1<<random.IntN(6), 1+random.IntN(40)
	twist := random.IntN(8)
	var anywhere [32]int
	for l := range anywhere {
		anywhere[l] = random.IntN(256)
	}
	switch random.IntN(6) {
	case 0:
		return func(l int) int { return l }
	case 1, 2:
		return func(l int) int { return l/width*max(width, pitch) + l%width }
	case 3:
		return func(l int) int { return l%width*max(32/width, pitch) + l/width }
	case 4:
		return func(l int) int { return l/width*max(width, pitch) + (l%width^l/width&twist)%width }
	default:
		return func(l int) int { return anywhere[l] }
	}
}

// copyModule is the PTX of all kinds. A lane reads its parameters in one load of 16
// bytes, which is one request and 16 sectors in the profile.
func copyModule() string {
	var b strings.Builder
	b.WriteString(".version 7.8\n.target sm_80\n.address_size 64\n")
	for _, k := range copyKinds {
		read := ""
		if k.sized {
			read = ", %read"
		}
		fmt.Fprintf(&b, `.visible .entry %s(.param .u64 x, .param .u64 lanes) {
	.reg .pred %%off; .reg .b32 %%lane, %%from, %%to, %%read, %%on, %%tile; .reg .b64 %%x, %%lanes, %%d;
	.shared .align 16 .b8 tile[32768];
	ld.param.u64 %%x, [x];
	ld.param.u64 %%lanes, [lanes];
	mov.u32 %%lane, %%tid.x;
	mul.wide.u32 %%d, %%lane, 16;
	add.u64 %%lanes, %%lanes, %%d;
	ld.global.v4.u32 {%%from, %%to, %%read, %%on}, [%%lanes];
	setp.eq.u32 %%off, %%on, 0;
	mov.u32 %%tile, tile;
	add.u32 %%to, %%to, %%tile;
	cvt.u64.u32 %%d, %%from;
	add.u64 %%x, %%x, %%d;
	@%%off bra done;
	cp.async.%s.shared.global [%%to], [%%x], %d%s;
done:
	cp.async.wait_all;
	ret;
}
`, k.name, k.cache, k.size, read)
	}
	return b.String()
}

// copyBytes is the input of the hash of the copies, and of the launches on a GPU.
func copyBytes() []byte {
	var b bytes.Buffer
	for _, c := range profiledCopies() {
		_ = binary.Write(&b, binary.LittleEndian, c) // to memory, of a fixed size
	}
	return b.Bytes()
}

// TestWriteCopies writes the input of a GPU under the profiler.
func TestWriteCopies(t *testing.T) {
	folder := os.Getenv("WARPBOOK_PATTERNS")
	if folder == "" {
		t.Skip("WARPBOOK_PATTERNS names no folder: the profiler's counts are not being taken")
	}
	for name, data := range map[string][]byte{"copies.bin": copyBytes(), "copies.ptx": []byte(copyModule())} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopiesEqualTheProfilers compares requests and sectors of every copy with the
// profiler's.
func TestCopiesEqualTheProfilers(t *testing.T) {
	text, err := os.ReadFile("testdata/copies.h200.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Hash   string `json:"copies_sha256"`
		Counts [][2]uint64
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	copies := profiledCopies()
	if sum := fmt.Sprintf("%x", sha256.Sum256(copyBytes())); sum != golden.Hash || len(golden.Counts) == 0 || len(golden.Counts) > len(copies) {
		t.Fatalf("the profile is of %d other copies than these %d: take it again on a GPU", len(golden.Counts), len(copies))
	}
	wrong := 0
	for i, c := range copies[:len(golden.Counts)] {
		got := runCopy(t, c).GlobalLoad
		got.Requests, got.Sectors = got.Requests-1, got.Sectors-16 // of the load of its parameters
		if want := golden.Counts[i]; got.Requests != want[0] || got.Sectors != want[1] {
			if wrong++; wrong > 5 {
				t.Fatal("and more")
			}
			t.Errorf("copy %d, %s: %d requests and %d sectors, the profiler counted %d; lanes %v", i, copyKinds[c.Kind].name, got.Requests, got.Sectors, want, c.Lanes)
		}
	}
}

func runCopy(t *testing.T, c profiledCopy) (counters gpu.Counters) {
	t.Helper()
	d, e := loadEntry(t, copyModule(), copyKinds[c.Kind].name)
	x := uploadBut(t, d, make([]uint32, 1<<14), -1)
	var told []uint32
	for _, l := range c.Lanes {
		told = append(told, l.From, l.To, l.Read, l.On)
	}
	err := d.Launch(gpu.Launch{Entry: e, Block: gpu.Dim{X: 32}, Grid: gpu.Dim{X: 1}, Args: []any{x, uploadBut(t, d, told, -1)},
		Counters: &counters, Checks: gpu.CheckFaults})
	if err != nil {
		t.Fatal(err)
	}
	return counters
}
