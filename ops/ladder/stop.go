package ladder

// Stop reports whether a computation on the host was interrupted. A long loop calls it
// every few milliseconds and returns an incomplete result; its caller also calls Stop,
// and discards that result. Nil never stops.
type Stop func() bool

func (stop Stop) Now() bool { return stop != nil && stop() }

// piece is how many elements a loop works on between two looks.
const Piece = 1 << 18

// pieces calls f for one part of n elements after the other.
func (stop Stop) Pieces(n int, f func(from, to int)) {
	for from := 0; from < n && !stop.Now(); from += Piece {
		f(from, min(from+Piece, n))
	}
}
