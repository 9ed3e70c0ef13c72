//go:build cells

package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"warpbook/kernel/cellproto"
)

// usages measures what this program and its session take.
type usages struct {
	mu   sync.Mutex // guards the last measurement
	at   time.Time
	busy time.Duration
}

// measure returns the memory of both programs, and the processor time of this one
// since the last measurement.
func (u *usages) measure() *cellproto.Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	now, busy := time.Now(), processorTime()
	usage := &cellproto.Usage{PID: os.Getpid(), Memory: resident(os.Getpid()) + resident(os.Getppid()), Goroutines: runtime.NumGoroutine()}
	if !u.at.IsZero() && now.After(u.at) {
		usage.CPU = 100 * float64(busy-u.busy) / float64(now.Sub(u.at))
	}
	u.at, u.busy = now, busy
	return usage
}

// resident returns how many bytes of a process are in memory. Without /proc it returns
// the memory that the Go runtime holds, and 0 for another process.
func resident(pid int) uint64 {
	var all, in uint64
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil {
		if _, err := fmt.Sscan(string(text), &all, &in); err == nil {
			return in * uint64(os.Getpagesize())
		}
	}
	if pid != os.Getpid() {
		return 0
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}
