package simd

// Shuffle is shuffleLanes; valid may have other lanes too.
func (v Vectors) Shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	switch v {
	case AVX512:
		return shuffle512(d, a, b, c, m, mode)
	case AVX2:
		return shuffle256(d, a, b, c, m, mode)
	}
	return shuffleLanes(d, a, b, c, m, mode)
}

//go:noescape
func shuffle256(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32)

//go:noescape
func shuffle512(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32)

// Prefetch brings bytes at an address into the cache.
func Prefetch(at, bytes uintptr)
