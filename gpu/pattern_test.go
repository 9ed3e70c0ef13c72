package gpu

import (
	"math/rand/v2"
	"testing"
)

const all = 1<<32 - 1

// TestWavefronts checks the formula on patterns worked by hand.
func TestWavefronts(t *testing.T) {
	for _, c := range []struct {
		name          string
		address       func(lane uint64) uint64
		mask          uint32
		bytes         int
		write         bool
		waves, groups int
	}{
		{"32 words side by side", func(l uint64) uint64 { return 4 * l }, all, 4, false, 1, 1},
		{"one word for all", func(l uint64) uint64 { return 64 }, all, 4, false, 1, 1},
		{"stride 2", func(l uint64) uint64 { return 8 * l }, all, 4, false, 2, 1},
		{"stride 32", func(l uint64) uint64 { return 128 * l }, all, 4, false, 32, 1},
		{"stride 33", func(l uint64) uint64 { return 132 * l }, all, 4, false, 1, 1},
		{"stride 32, half of the lanes", func(l uint64) uint64 { return 128 * l }, 0x0000ffff, 4, false, 16, 1},
		{"bytes", func(l uint64) uint64 { return l }, all, 1, false, 1, 1},
		{"64 bits side by side", func(l uint64) uint64 { return 8 * l }, all, 8, false, 2, 2},
		{"64 bits, stride 2", func(l uint64) uint64 { return 16 * l }, all, 8, false, 4, 2},
		{"64 bits, one half warp", func(l uint64) uint64 { return 8 * l }, 0xffff, 8, false, 1, 1},
		{"128 bits side by side", func(l uint64) uint64 { return 16 * l }, all, 16, false, 4, 4},
		{"128 bits, stride 2", func(l uint64) uint64 { return 32 * l }, all, 16, false, 8, 4},
		{"128 bits, pairs of lanes", func(l uint64) uint64 { return 16 * (l / 2) }, all, 16, false, 2, 2},
		{"128 bits stored, pairs of lanes", func(l uint64) uint64 { return 16 * (l / 2) }, all, 16, true, 4, 4},
		{"128 bits, one lane", func(l uint64) uint64 { return 16 }, 1, 16, false, 1, 1},
	} {
		p := Pattern{Mask: c.mask, Bytes: c.bytes, Write: c.write}
		for l := range p.Address {
			p.Address[l] = c.address(uint64(l))
		}
		if waves, groups := p.Wavefronts(); waves != c.waves || groups != c.groups {
			t.Errorf("%s: %d wavefronts in %d groups, expected %d in %d", c.name, waves, groups, c.waves, c.groups)
		}
	}
}

// TestSectors checks the fast count against sets, on patterns of every kind.
func TestSectors(t *testing.T) {
	const seed = 3
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range 2000 {
		size := uint64(1) << random.IntN(5)
		spread := uint64(1) << random.IntN(12)
		mask := random.Uint32()
		if n%3 == 0 {
			mask = all
		}
		if mask == 0 {
			continue
		}
		var addr [32]uint64
		for l := range addr {
			addr[l] = 1<<36 + size*(random.Uint64()%spread)
			if n%2 == 0 {
				addr[l] = 1<<36 + size*uint64(l)*(1+uint64(n)%5)
			}
		}
		sectorSet, lineSet := map[uint64]bool{}, map[uint64]bool{}
		for l := range addr {
			if mask>>l&1 != 0 {
				sectorSet[addr[l]/32] = true
				lineSet[addr[l]/128] = true
			}
		}
		p := Pattern{Mask: mask, Bytes: int(size), Address: addr}
		if s, lines := p.Sectors(); s != len(sectorSet) || lines != len(lineSet) {
			t.Fatalf("%d sectors and %d lines, expected %d and %d (seed %d, round %d)", s, lines, len(sectorSet), len(lineSet), seed, n)
		}
	}
}
