package mem

// Swizzled is the place of a byte of a tile in shared memory: the number of the span, of
// 128, 64 or 32 bytes, permutes its 16-byte parts. A span of 0 permutes nothing.
func Swizzled(at uint64, span int) uint64 {
	switch span {
	case 128:
		return at ^ at>>7&7<<4
	case 64:
		return at ^ at>>7&3<<4
	case 32:
		return at ^ at>>7&1<<4
	}
	return at
}
