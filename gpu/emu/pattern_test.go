package emu

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// patternText is an entry that copies a word, or more, from an address of x
// that each thread reads, through shared memory at another, to one of y.
const patternText = `.version 7.8
.target sm_90
.address_size 64
.visible .entry op(.param .u64 x, .param .u64 y, .param .u64 at, .param .u32 mask)
{
	.reg .pred %idle;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .b32 %v<4>;
	.shared .align 16 .b8 tile[24576];
	.shared .align 16 .b8 behind[8192];
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [y];
	ld.param.u64 %rd2, [at];
	ld.param.u32 %r0, [mask];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd3, %rd2, %rd3;
	and.b32 %r7, %r1, 31;
	shr.u32 %r3, %r0, %r7;
	and.b32 %r3, %r3, 1;
	setp.eq.u32 %idle, %r3, 0;
	@%idle bra done;
	ld.global.u32 %r2, [%rd3];
	mov.u32 %r5, behind;
	mov.u32 %r4, tile;
	add.s32 %r4, %r4, %r2;
	cvt.u64.u32 %rd4, %r2;
	add.s64 %rd5, %rd0, %rd4;
	add.s64 %rd6, %rd1, %rd4;
	LOAD.global [%rd5];
	STORE.shared [%r4];
	bar.warp.sync %r0;
	LOAD.shared [%r4];
	STORE.global [%rd6];
done:
	ret;
}
`

func patternModule(size int) string {
	data := map[int]string{8: "{%v0, %v1}", 16: "{%v0, %v1, %v2, %v3}"}[size]
	if data == "" {
		data = "%v0"
	}
	typ := map[int]string{1: ".u8", 2: ".u16", 4: ".b32", 8: ".v2.b32", 16: ".v4.b32"}[size]
	text := patternText
	for _, space := range []string{"global", "shared"} {
		text = strings.ReplaceAll(text, "LOAD."+space+" ", "ld."+space+typ+" "+data+", ")
		i := strings.Index(text, "STORE."+space+" ")
		end := i + strings.Index(text[i:], ";")
		address := strings.TrimPrefix(text[i:end], "STORE."+space+" ")
		text = text[:i] + "st." + space + typ + " " + address + ", " + data + text[end:]
	}
	return text
}

// addressPatterns are the offsets of 32 lanes, in accesses of a size.
var addressPatterns = []func(l, step int, random *rand.Rand) int{
	func(l, step int, _ *rand.Rand) int { return l },
	func(l, step int, _ *rand.Rand) int { return l * step },
	func(l, step int, _ *rand.Rand) int { return 31 - l },
	func(l, step int, _ *rand.Rand) int { return l / 16 * 2 },
	func(l, step int, _ *rand.Rand) int { return l % 16 * 2 },
	func(l, step int, _ *rand.Rand) int { return step },
	func(l, step int, random *rand.Rand) int { return random.IntN(100) },
	func(l, step int, random *rand.Rand) int { return l * 9 },
}

// TestPatterns runs accesses of many patterns on the fast path and on the slow one:
// memory, counters and faults are the same.
func TestPatterns(t *testing.T) {
	const seed, words = 11, 1 << 13
	random := rand.New(rand.NewPCG(seed, 0))
	faults := map[string]int{}
	for _, size := range []int{4, 8, 16} {
		d, e := loadEntry(t, patternModule(size), "op")
		for round := range 300 {
			offsets := make([]uint32, 256)
			shape := addressPatterns[round%len(addressPatterns)]
			start, step := random.IntN(64), 1+random.IntN(4)*random.IntN(10)
			for i := range offsets {
				if i%32 == 0 {
					start += random.IntN(20)
				}
				offsets[i] = uint32(size * (start + shape(i%32, step, random)))
			}
			switch round % 29 {
			case 7:
				offsets[random.IntN(256)] += 2 // not aligned
			case 11:
				offsets[random.IntN(256)] += 1 << 15 // past the buffers
			case 17:
				offsets[random.IntN(256)] = 25000 &^ 15 // past the tile in shared memory, in the next variable
			case 13:
				offsets[random.IntN(256)] -= 1 << 7 // perhaps before them
			}
			m := patternMasks[random.IntN(len(patternMasks))]
			hole := -1
			if round%5 == 0 {
				hole = int(offsets[random.IntN(256)]/4) % words
			}
			got, want := runPattern(t, d, e, false, offsets, m, words, hole), runPattern(t, d, e, true, offsets, m, words, hole)
			for _, what := range []string{"buffer x", "variable tile", "align", "uninitialized", "launch shape"} {
				if strings.Contains(want.err, what) {
					faults[what]++
				}
			}
			if got.err != want.err || got.counters != want.counters || want.err == "" && !slices.Equal(got.y, want.y) {
				t.Fatalf("size %d, round %d, lanes %#08x, seed %d, offsets %d\n%s\n%+v\nexpected\n%s\n%+v",
					size, round, m, seed, offsets[:32], got.err, got.counters, want.err, want.counters)
			}
		}
	}
	if faults["buffer x"] < 9 || faults["variable tile"] < 9 || faults["align"] < 3 || faults["uninitialized"] < 9 || faults["launch shape"] > 0 {
		t.Errorf("faults %v, expected more of each kind", faults)
	}
}

type patternResult struct {
	y        []uint32
	counters gpu.Counters
	err      string
}

// allocated matches the part that differs from run to run: the number of the buffer.
var allocated = regexp.MustCompile(`address 0x[0-9a-f]+`)

// uploadBut makes a buffer with one unwritten word, or none.
func uploadBut(t *testing.T, d *Device, v []uint32, hole int) gpu.Buffer {
	t.Helper()
	b, err := d.Alloc(gpu.Uint32, len(v))
	if err != nil {
		t.Fatal(err)
	}
	parts := [][2]int{{0, len(v)}}
	if hole >= 0 {
		parts = [][2]int{{0, hole}, {hole + 1, len(v)}}
	}
	for _, p := range parts {
		view, err := b.View(p[0], p[1]-p[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := view.Upload(v[p[0]:p[1]]); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// patternMasks are the lanes that run.
var patternMasks = []uint32{all, all, 1, 0xffff, 0xffff0000, 0x80000000, 0x55555555, 0}

// runPattern runs the entry with offsets, of lanes in a mask, into a buffer of
// words of which one, unless it is negative, was never written.
func runPattern(t *testing.T, d *Device, e gpu.Entry, long bool, offsets []uint32, m uint32, words, hole int) (r patternResult) {
	t.Helper()
	d.engine.LimitPatterns(long)
	d.LimitWorkers(1)
	in := make([]uint32, words)
	for i := range in {
		in[i] = uint32(i) * 0x9e3779b1
	}
	x, at := uploadBut(t, d, in, hole).Label("x"), uploadBut(t, d, offsets, -1)
	y, err := d.Alloc(gpu.Uint32, words)
	if err != nil {
		t.Fatal(err)
	}
	y.Label("y")
	err = d.Launch(gpu.Launch{Entry: e, Block: gpu.Dim{X: len(offsets)}, Grid: gpu.Dim{X: 1}, Args: []any{x, y, at, m}, Counters: &r.counters})
	if err != nil {
		r.err = allocated.ReplaceAllString(err.Error(), "")
	}
	r.y = make([]uint32, words)
	if err := y.Download(r.y); err != nil {
		t.Fatal(err)
	}
	for _, b := range []gpu.Buffer{x, y, at} {
		if err := b.Free(); err != nil {
			t.Fatal(err)
		}
	}
	return r
}
