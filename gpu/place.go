package gpu

// Place is where a buffer's elements lie: a range of bytes of an allocation.
type Place struct {
	Device Device
	Memory any // the allocation: equal for a buffer and all of its views, and for no other
	Start  int64
	Bytes  int64
}

// Overlaps reports whether two places have a byte in common.
func (p Place) Overlaps(q Place) bool {
	return p.Memory == q.Memory && p.Bytes > 0 && q.Bytes > 0 && p.Start < q.Start+q.Bytes && q.Start < p.Start+p.Bytes
}
