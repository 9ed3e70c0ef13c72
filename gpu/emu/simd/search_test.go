package simd

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// searched is an access of a warp to shared memory.
type searched struct {
	warp  uint32
	store bool
	mask  uint32
	count int // words a lane
	at    [32]uint32
}

// pattern is its pattern, with the words and the lanes as package engine finds them.
func (a searched) pattern(number uint32) (p Pattern, base uint32) {
	first := bits.TrailingZeros32(a.mask)
	base = a.at[first]
	p = Pattern{Mask: a.mask, Low: base & 31, First: int32(first), Number: number, How: MoveGather}
	if a.store {
		p.Marks, p.How = 1, MoveScatter
	}
	stored, end := map[uint32]bool{}, int64(0)
	for l := range 32 {
		if a.mask>>l&1 == 0 {
			continue
		}
		d := int32(a.at[l]) - int32(base)
		p.Delta[l] = d
		p.Min, end = min(p.Min, int64(d)), max(end, int64(d)+int64(4*a.count))
		if a.count > 1 || d != int32(4*(l-first)) {
			p.First = Uneven
		}
		word := int32(a.at[l]>>5) - int32(base>>5)
		i := slices.Index(p.Words[:p.Covered], word)
		if i < 0 {
			i = int(p.Covered)
			p.Words[i] = word
			p.Covered++
		}
		p.Bits[i] |= uint32(1<<(4*a.count)-1) << (a.at[l] & 31)
	}
	for l := range 32 {
		for at := a.at[l]; a.store && a.mask>>l&1 != 0 && at < a.at[l]+uint32(4*a.count); at += 4 {
			if stored[at] {
				p.First = Clash
			}
			stored[at] = true
		}
	}
	switch {
	case p.First >= 0 && a.store:
		p.How = MoveStoreUnit
	case p.First >= 0:
		p.How = MoveLoadUnit
	}
	p.Bytes = uint64(end - p.Min)
	return p, base
}

// randomSearched is an access in so many words, often of lanes to their own ones.
func randomSearched(random *rand.Rand, words uint32) (a searched) {
	a = searched{warp: uint32(random.IntN(8) / 7), store: random.IntN(2) == 0, mask: all, count: [...]int{1, 1, 1, 1, 2, 4}[random.IntN(6)]}
	start, shape := uint32(random.IntN(8)/7*3), random.IntN(8)
	if lanes := random.IntN(40); lanes < 32 {
		a.mask = (1<<(1+lanes/4) - 1) << random.IntN(32)
		if random.IntN(4) == 0 {
			a.mask &= 0x55555555
		}
		a.mask |= 1 << random.IntN(32) & a.mask >> 1
	}
	if a.mask == 0 {
		a.mask = 1 << random.IntN(32)
	}
	for l := range uint32(32) {
		word := l*uint32(a.count) + start
		switch shape {
		case 0:
			word = (l ^ 1) * uint32(a.count)
		case 1:
			word = start * uint32(a.count)
		case 2:
			word = 32 + l*uint32(a.count)
		case 3:
			word = random.Uint32N(words)
		}
		a.at[l] = 4 * (word % words / uint32(a.count) * uint32(a.count))
	}
	return a
}

// thread is one of those that have accessed a word.
type thread struct {
	warp  uint32
	lane  int
	store bool
}

// races reports whether an access races with those to the words in a phase, without any
// order between lanes of a warp, and notes it.
func (a searched) races(phase map[uint32][]thread) (race bool) {
	var own []uint32
	for l := range 32 {
		for at := a.at[l]; a.mask>>l&1 != 0 && at < a.at[l]+uint32(4*a.count); at += 4 {
			own = append(own, at)
			phase[at] = append(phase[at], thread{a.warp, l, a.store})
		}
	}
	for _, at := range own {
		for i, x := range phase[at] {
			for _, y := range phase[at][:i] {
				race = race || (x.store || y.store) && (x.warp != y.warp || x.lane != y.lane)
			}
		}
	}
	return race
}

// TestSearch compares random accesses with the rule for races, and the assembly with Go:
// rows pass none that may race, nearly all of lanes to their own words that do not, and
// assembly passes the same, notes the same and loads what is there.
func TestSearch(t *testing.T) {
	const phases, words, seed = 20_000, 256, 3
	random := rand.New(rand.NewPCG(seed, 0))
	if Best == NoVectors {
		t.Log("without vectors: the assembly is not compared")
	}
	search, vector := NewSearch(4*words), NewSearch(4*words)
	passed, ownPassed, refused, ownRefused := 0, 0, 0, 0
	for phase := range uint64(phases) {
		search.Used, vector.Used = 0, 0
		known := map[uint32][]thread{}
		if random.IntN(50) == 0 {
			search.Used = search.Room - notedBytes
			vector.Used = search.Used
		}
		for n := range uint32(1 + random.IntN(12)) {
			a := randomSearched(random, words)
			p, base := a.pattern(n)
			stamp := Stamp{random.Uint32(), random.Uint32(), random.Uint32(), a.warp}
			race, full := a.races(known), search.Full()
			pass := search.Pass(&p, uint64(base), phase<<32|uint64(a.warp), stamp)
			if Best != NoVectors {
				if by := vector.run(t, a, p, base, phase<<32|uint64(a.warp), stamp); by != pass {
					t.Fatalf("seed %d, phase %d: assembly passes %v, Go %v: %+v", seed, phase, by, pass, a)
				}
			}
			own := p.First >= 0 && base == uint32(4*p.First)
			switch {
			case pass && (race || full):
				t.Fatalf("seed %d, phase %d: passed, although it races (%v) or the log is full (%v): %+v", seed, phase, race, full, a)
			case pass && own:
				ownPassed++
			case pass:
				passed++
			case !race && !full && own:
				ownRefused++
			case !race && !full:
				refused++
			}
			if !pass {
				break
			}
			if Best != NoVectors && (!slices.Equal(search.Rows, vector.Rows) || !slices.Equal(search.Logged(), vector.Logged())) {
				t.Fatalf("seed %d, phase %d: assembly notes other rows or another log than Go after %+v", seed, phase, a)
			}
		}
		copy(vector.Rows, search.Rows) // after an access that did not pass they may differ
	}
	t.Logf("%d and %d own accesses passed, %d and %d did not without a race", passed, ownPassed, refused, ownRefused)
	if passed < phases/4 || ownPassed < phases/10 || ownRefused > ownPassed/10 {
		t.Errorf("%d and %d own accesses passed, %d own ones did not without a race", passed, ownPassed, ownRefused)
	}
}

// run runs an access as a step, and reports whether it passed.
func (s *Search) run(t *testing.T, a searched, p Pattern, base uint32, key uint64, stamp Stamp) bool {
	t.Helper()
	var slots [6][32]uint32 // addresses, 4 words, others
	slots[0] = a.at
	data := make([]uint32, len(s.Rows)*8)
	for i := range data {
		data[i] = uint32(i) * 0x9e3779b1
	}
	written, whole, preds := make([]uint32, len(data)/8), uint32(1), uint32(all)
	site := Site{Count: uint32(a.count), Regs: [4]uint32{128, 256, 384, 512}, Room: uint64(4 * len(data))}
	site.Known[WayOf(a.mask, base&31)] = &p
	shared := Memory{Base: unsafe.Pointer(&data[0]), Written: unsafe.Pointer(&written[0]), Whole: &whole}
	steps := [2]Step{{Op: AccessShared}}
	r := Run{Steps: &steps[0], Base: &steps[0], Slots: unsafe.Pointer(&slots[0]), Preds: &preds, N: 1, Mask: a.mask, Warp: a.warp,
		Sites: unsafe.Pointer(&site), Shared: &shared, Search: s, Key: key, Stamp: stamp}
	before := slots
	Best.Run(&r)
	passed := r.N == 0
	if passed != (r.Found == nil) || r.Found != nil && r.Found != &p || passed != (p.Runs == 1) {
		t.Fatalf("%d steps are left, found %v, %d runs", r.N, r.Found != nil, p.Runs)
	}
	for l := range 32 {
		for k := range a.count {
			want := before[1+k][l]
			if passed && !a.store && a.mask>>l&1 != 0 {
				want = data[a.at[l]/4+uint32(k)]
			}
			if slots[1+k][l] != want {
				t.Fatalf("lane %d has %#x in word %d, expected %#x: %+v", l, slots[1+k][l], k, want, a)
			}
		}
	}
	return passed
}
