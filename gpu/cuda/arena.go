package cuda

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
)

// arena is memory that the client and its workers map: one unnamed file, much
// larger than its used part. Host memory is allocated from it. It stays mapped
// as long as the process lives, so that a slice that outlives its Host reads
// zeros and does not crash.
type arena struct {
	file   *os.File
	memory []byte
	words  atomic.Uint32 // given out, in the first page

	mu   sync.Mutex
	free []span // in order, none next to each other; guarded by mu
}

// span is a part of the arena, whole pages.
type span struct{ offset, bytes int64 }

// page is the unit of allocation. Large parts begin at a huge page, because they
// then register faster.
const (
	page     = 64 << 10
	hugePage = 2 << 20
)

// one is the arena of this process, made at first use.
var one struct {
	sync.Mutex
	arena *arena
}

func sharedArena() (*arena, error) {
	one.Lock()
	defer one.Unlock()
	if one.arena != nil {
		return one.arena, nil
	}
	file, memory, err := mapShared()
	if err != nil {
		return nil, fmt.Errorf("cuda: shared memory: %w", err)
	}
	// The first page holds words that the client and the worker share.
	one.arena = &arena{file: file, memory: memory, free: []span{{page, int64(len(memory)) - page}}}
	return one.arena, nil
}

// word is a 32-bit word of the first page that a device and its workers share. A
// process that opens thousands of devices reuses the words.
func (a *arena) word() (at int64, word *atomic.Uint32) {
	at = int64(a.words.Add(1)) * 4 % page
	return at, (*atomic.Uint32)(unsafe.Pointer(&a.memory[at]))
}

// take allocates a part of the arena.
func (a *arena) take(bytes int64) (span, error) {
	align := int64(page)
	if bytes >= hugePage {
		align = hugePage
	}
	want := (max(bytes, 1) + page - 1) / page * page
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, f := range a.free {
		start := (f.offset + align - 1) / align * align
		before, after := start-f.offset, f.offset+f.bytes-start-want
		if after < 0 {
			continue
		}
		var rest []span
		if before > 0 {
			rest = append(rest, span{f.offset, before})
		}
		if after > 0 {
			rest = append(rest, span{start + want, after})
		}
		a.free = slices.Replace(a.free, i, i+1, rest...)
		return span{start, want}, nil
	}
	return span{}, fmt.Errorf("%w: %d bytes of host memory, expected at most %d", gpu.ErrMemory, bytes, len(a.memory))
}

// give frees a part; its memory returns to the system.
func (a *arena) give(s span) {
	release(a.file, a.memory, s)
	a.mu.Lock()
	defer a.mu.Unlock()
	i, _ := slices.BinarySearchFunc(a.free, s.offset, func(f span, offset int64) int { return int(f.offset - offset) })
	a.free = slices.Insert(a.free, i, s)
	for i := max(0, i-1); i+1 < len(a.free); {
		if a.free[i].offset+a.free[i].bytes != a.free[i+1].offset {
			i++
			continue
		}
		a.free[i].bytes += a.free[i+1].bytes
		a.free = slices.Delete(a.free, i+1, i+2)
	}
}
