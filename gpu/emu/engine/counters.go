package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// accessKind is what an access does.
type accessKind uint8

const (
	load accessKind = iota
	store
	update
)

// countRequest counts a request to memory. Parameters and constants have caches of their own
// and are not counted.
func countRequest(c *gpu.Counters, kind accessKind, space ptx.Space, p *gpu.Pattern) {
	switch space {
	case ptx.Shared:
		countShared([...]*gpu.SharedAccess{&c.SharedLoad, &c.SharedStore, &c.SharedAtomic}[kind], p)
	case ptx.Global:
		countGlobal([...]*gpu.GlobalAccess{&c.GlobalLoad, &c.GlobalStore, &c.GlobalAtomic}[kind], p)
	case ptx.Local:
		if kind != update {
			countLocal([...]*gpu.GlobalAccess{&c.LocalLoad, &c.LocalStore}[kind], p)
		}
	}
}

// accesses are the requests to memory that others may see.
func accesses(c *gpu.Counters) uint64 {
	return c.GlobalLoad.Requests + c.GlobalStore.Requests + c.GlobalAtomic.Requests +
		c.SharedLoad.Requests + c.SharedStore.Requests + c.SharedAtomic.Requests
}

func countGlobal(g *gpu.GlobalAccess, p *gpu.Pattern) {
	s, n := p.Sectors()
	g.Requests++
	g.Sectors += uint64(s)
	g.Lines += uint64(n)
	g.Bytes += uint64(popcount(p.Mask) * p.Bytes)
}

func countShared(s *gpu.SharedAccess, p *gpu.Pattern) {
	waves, groups := p.Wavefronts()
	s.Requests++
	s.Wavefronts += uint64(waves)
	s.Conflicts += uint64(waves - groups)
	s.Bytes += uint64(popcount(p.Mask) * p.Bytes)
}

// countLocal counts local memory in the layout of a GPU, where the same word of 32 lanes
// is contiguous.
func countLocal(g *gpu.GlobalAccess, p *gpu.Pattern) {
	word := gpu.Pattern{Mask: p.Mask, Bytes: min(p.Bytes, 4)}
	g.Requests++
	g.Bytes += uint64(popcount(p.Mask) * p.Bytes)
	for at := 0; at < p.Bytes; at += 4 {
		for x := p.Mask; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			a := p.Address[l] + uint64(at)
			word.Address[l] = a>>2<<7 | uint64(l)<<2 | a&3
		}
		s, n := word.Sectors()
		g.Sectors += uint64(s)
		g.Lines += uint64(n)
	}
}
