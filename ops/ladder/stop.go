package ladder

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Stop reports whether a computation on the host was interrupted. A long loop calls it
// every few milliseconds and returns an incomplete result; its caller also calls Stop,
// and discards that result. Nil never stops. Several goroutines may call it.
type Stop func() bool

// Now reports whether the computation was interrupted.
func (stop Stop) Now() bool { return stop != nil && stop() }

// Piece is how many elements a loop works on before it looks at its Stop again.
const Piece = 1 << 18

// Pieces calls f for one part of n elements after the other.
func (stop Stop) Pieces(n int, f func(from, to int)) { stop.inOrder(Piece, n, f) }

// inOrder is Pieces in parts of so many elements.
func (stop Stop) inOrder(piece, n int, f func(from, to int)) {
	for from := 0; from < n && !stop.Now(); from += piece {
		f(from, min(from+piece, n))
	}
}

// Parallel is Pieces on all processors: several goroutines call f, which writes nothing that
// another part has. A panic of f is one of the caller's goroutine.
func (stop Stop) Parallel(n int, f func(from, to int)) { stop.ParallelBy(Piece, n, f) }

// ParallelBy is Parallel for elements that take so long that a part has only piece of them.
func (stop Stop) ParallelBy(piece, n int, f func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n/piece)
	if workers < 2 {
		stop.inOrder(piece, n, f)
		return
	}
	var (
		next     atomic.Int64
		done     sync.WaitGroup
		panicked atomic.Pointer[any]
	)
	for range workers {
		done.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					panicked.CompareAndSwap(nil, &r)
				}
			}()
			for panicked.Load() == nil && !stop.Now() {
				from := int(next.Add(int64(piece))) - piece
				if from >= n {
					return
				}
				f(from, min(from+piece, n))
			}
		})
	}
	done.Wait()
	if r := panicked.Load(); r != nil {
		panic(*r)
	}
}
