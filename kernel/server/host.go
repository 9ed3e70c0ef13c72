package server

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
)

// hostMemory is the memory of the computer in bytes, with the names that psutil gives
// and ipykernel passes on.
type hostMemory struct {
	Total     uint64  `json:"total"`
	Available uint64  `json:"available"`
	Percent   float64 `json:"percent"`
	Used      uint64  `json:"used"`
	Free      uint64  `json:"free"`
	Active    uint64  `json:"active"`
	Inactive  uint64  `json:"inactive"`
	Buffers   uint64  `json:"buffers"`
	Cached    uint64  `json:"cached"`
	Shared    uint64  `json:"shared"`
	Slab      uint64  `json:"slab"`
}

// memoryOfHost reads Linux's /proc/meminfo. ok is false where there is none.
func memoryOfHost(meminfo []byte) (m hostMemory, ok bool) {
	bytesOf := map[string]uint64{}
	for line := range bytes.Lines(meminfo) {
		name, value, _ := strings.Cut(string(line), ":")
		n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err == nil {
			bytesOf[name] = n << 10
		}
	}
	m = hostMemory{
		Total: bytesOf["MemTotal"], Available: bytesOf["MemAvailable"], Free: bytesOf["MemFree"],
		Active: bytesOf["Active"], Inactive: bytesOf["Inactive"], Buffers: bytesOf["Buffers"],
		Cached: bytesOf["Cached"] + bytesOf["SReclaimable"], Shared: bytesOf["Shmem"], Slab: bytesOf["Slab"],
	}
	if m.Total == 0 || m.Available > m.Total {
		return m, false
	}
	m.Used = m.Total - m.Available
	m.Percent = math.Round(1000*float64(m.Used)/float64(m.Total)) / 10
	return m, true
}

// hostTimes are the processor times of the computer at the last usage request.
type hostTimes struct {
	mu         sync.Mutex // guards the fields below
	busy, idle uint64
}

// percent returns how busy all processors were since the last call; 0 at the first, or
// without Linux's /proc/stat.
func (h *hostTimes) percent(stat []byte) float64 {
	var user, nice, system, idle, wait, irq, soft, steal uint64
	if _, err := fmt.Sscanf(string(stat), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err != nil {
		return 0
	}
	busy, rest := user+nice+system+irq+soft+steal, idle+wait
	h.mu.Lock()
	defer h.mu.Unlock()
	first, worked, waited := h.busy == 0, float64(busy-h.busy), float64(rest-h.idle)
	h.busy, h.idle = busy, rest
	if first || worked+waited <= 0 {
		return 0
	}
	return math.Round(1000*worked/(worked+waited)) / 10
}

func readProc(name string) []byte {
	data, _ := os.ReadFile("/proc/" + name) // nil elsewhere than on Linux
	return data
}
