package server

import (
	"encoding/json"
	"os"
	"runtime"
	"testing"
)

// TestUsage: the reply has the figures of the cells program, and those of the host where
// the system has them.
func TestUsage(t *testing.T) {
	c := start(t).connect()
	for _, channel := range []string{"control", "shell"} {
		c.send(channel, "usage_request", `{}`)
		m := c.next(channel)
		var got usageReply
		if err := json.Unmarshal(m.Content, &got); err != nil {
			t.Fatal(err)
		}
		if got.PID != 42 || got.Memory != 1<<20 || got.CPU != 12.5 || got.Goroutines != 7 || got.CPUs != runtime.NumCPU() {
			t.Errorf("%s", m.Content)
		}
		host, _ := os.Hostname()
		if known := got.HostMemory != nil; known != (got.Hostname == host) || known != (runtime.GOOS == "linux") {
			t.Errorf("%s: a host has a name if its memory is known", m.Content)
		}
		if h := got.HostMemory; h != nil && (h.Total < h.Available || h.Active == 0 || h.Percent <= 0 || h.Percent > 100) {
			t.Errorf("%s", m.Content)
		}
	}
}

// TestMemoryOfHost: the figures are those of psutil 7.2.2 for the same file.
func TestMemoryOfHost(t *testing.T) {
	const meminfo = "MemTotal:       24684092 kB\nMemFree:        12920612 kB\nMemAvailable:   21508764 kB\nBuffers:           89536 kB\n" +
		"Cached:          8349284 kB\nSwapCached:            0 kB\nActive:          4418488 kB\nInactive:        6496912 kB\n" +
		"Active(anon):       1692 kB\nShmem:              8856 kB\nSlab:             549000 kB\nSReclaimable:     400000 kB\nHugePages_Total:       0\n"
	want := hostMemory{Total: 25276510208, Available: 22024974336, Percent: 12.9, Used: 3251535872, Free: 13230706688, Active: 4524531712,
		Inactive: 6652837888, Buffers: 91684864, Cached: 8959266816, Shared: 9068544, Slab: 562176000}
	if got, ok := memoryOfHost([]byte(meminfo)); !ok || got != want {
		t.Errorf("%+v, %v, expected %+v", got, ok, want)
	}
	for _, bad := range []string{"", "MemTotal: x kB\n", "MemTotal: 5 kB\nMemAvailable: 6 kB\n"} {
		if got, ok := memoryOfHost([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func TestPercentOfHost(t *testing.T) {
	var h hostTimes
	for i, test := range []struct {
		stat string
		want float64
	}{
		{"cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1", 0}, // there is nothing to compare with
		{"cpu  130 0 100 850 20 0 0 0 0 0\ncpu0 1", 30},
		{"cpu  130 0 100 850 20 0 0 0 0 0\ncpu0 1", 0},
		{"", 0},
		{"cpu  131 0 101 851 20 0 0 0 0 0\n", 66.7},
	} {
		if got := h.percent([]byte(test.stat)); got != test.want {
			t.Errorf("%d: %v, expected %v", i, got, test.want)
		}
	}
}
