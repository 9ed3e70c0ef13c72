package emu

import "unsafe"

// What is below exists for AVX-512 and in Go for AVX2, which has no masks.

// match reports whether the active lanes of a have the pattern's distances.
func (v Vectors) match(a *[32]uint32, p *pattern) bool {
	first := a[lowest(p.mask)&31]
	if v == AVX512 {
		return match512(a, first, &p.delta, p.mask)
	}
	for x := p.mask; x != 0; x &= x - 1 {
		if l := lowest(x) & 31; int32(a[l]-first) != p.delta[l] {
			return false
		}
	}
	return true
}

func (v Vectors) matchWide(a *[32]uint64, p *pattern) bool {
	first := a[lowest(p.mask)&31]
	if v == AVX512 {
		return matchWide512(a, first, &p.delta, p.mask)
	}
	for x := p.mask; x != 0; x &= x - 1 {
		if l := lowest(x) & 31; int64(a[l]-first) != int64(p.delta[l]) {
			return false
		}
	}
	return true
}

// loadUnit loads words that lie side by side; base is that of the lowest lane.
func (v Vectors) loadUnit(d *[32]uint32, base unsafe.Pointer, m uint32) {
	switch {
	case v == AVX512:
		loadUnit512(d, base, m)
	case m == all:
		*d = *(*[32]uint32)(base)
	default:
		first := lowest(m)
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			d[l] = *(*uint32)(unsafe.Add(base, 4*(l-first)))
		}
	}
}

func (v Vectors) storeUnit(s *[32]uint32, base unsafe.Pointer, m uint32) {
	switch {
	case v == AVX512:
		storeUnit512(s, base, m)
	case m == all:
		*(*[32]uint32)(base) = *s
	default:
		first := lowest(m)
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			*(*uint32)(unsafe.Add(base, 4*(l-first))) = s[l]
		}
	}
}

// gather loads a word for each lane of the pattern.
func (v Vectors) gather(d *[32]uint32, base unsafe.Pointer, p *pattern) {
	if v == AVX512 {
		gather512(d, base, &p.delta, p.mask)
		return
	}
	for x := p.mask; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		d[l] = *(*uint32)(unsafe.Add(base, p.delta[l]))
	}
}

// scatter stores them; of lanes with the same address, the highest wins.
func (v Vectors) scatter(s *[32]uint32, base unsafe.Pointer, p *pattern) {
	if v == AVX512 {
		scatter512(s, base, &p.delta, p.mask)
		return
	}
	for x := p.mask; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		*(*uint32)(unsafe.Add(base, p.delta[l])) = s[l]
	}
}

// loadQuads loads four words for every lane into four slots; it reports whether
// it can.
func (v Vectors) loadQuads(slots unsafe.Pointer, regs *[4]uint32, base unsafe.Pointer, delta *[32]int32) bool {
	if v == AVX512 {
		loadQuads512(slots, regs, base, delta)
	}
	return v == AVX512
}

// shuffle is shuffleLanes; valid may have other lanes too.
func (v Vectors) shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	if v == AVX512 {
		return shuffle512(d, a, b, c, m, mode)
	}
	return shuffleLanes(d, a, b, c, m, mode)
}

//go:noescape
func shuffle512(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32)

//go:noescape
func match512(a *[32]uint32, first uint32, delta *[32]int32, m uint32) bool

//go:noescape
func matchWide512(a *[32]uint64, first uint64, delta *[32]int32, m uint32) bool

// prefetch brings bytes at an address into the cache.
func prefetch(at, bytes uintptr)

// written reports whether all bytes of a load were written; false if it cannot
// tell.
func (v Vectors) written(p *pattern, c *contents, base uint64) bool {
	return v == AVX512 && written512(&c.written[base>>5], &p.words, &p.bits)
}

//go:noescape
func written512(first *uint32, words *[32]int32, bits *[32]uint32) bool

//go:noescape
func loadUnit512(d *[32]uint32, base unsafe.Pointer, m uint32)

//go:noescape
func storeUnit512(s *[32]uint32, base unsafe.Pointer, m uint32)

//go:noescape
func gather512(d *[32]uint32, base unsafe.Pointer, delta *[32]int32, m uint32)

//go:noescape
func scatter512(s *[32]uint32, base unsafe.Pointer, delta *[32]int32, m uint32)

//go:noescape
func loadQuads512(slots unsafe.Pointer, regs *[4]uint32, base unsafe.Pointer, delta *[32]int32)
