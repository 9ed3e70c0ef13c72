package engine

// comparison is the comparison of setp and set. Those from unequal on, and the unordered
// ones, are computed from the others.
type comparison uint8

const (
	equal comparison = iota
	less
	lessEqual
	greater
	greaterEqual
	unequal
	isNumber
	isNaN
)
