package engine

// LimitMarks bounds the bytes of marks of searches for races between blocks, and returns
// the bound before.
func LimitMarks(bytes int64) (before int64) {
	before, mostMarks = mostMarks, bytes
	return before
}
