package server

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"warpbook/kernel/cellproto"
)

// usageReply has the fields of ipykernel's reply, for resource monitors of JupyterLab.
// jupyter-resource-usage shows the memory of every host that has a name, so without the
// memory the host has none.
type usageReply struct {
	Hostname string  `json:"hostname,omitempty"`
	PID      int     `json:"pid"`           // of the cells program
	CPU      float64 `json:"kernel_cpu"`    // percent of one core since the last request
	Memory   uint64  `json:"kernel_memory"` // bytes in memory, of both programs
	CPUs     int     `json:"cpu_count"`

	HostCPU    float64     `json:"host_cpu_percent,omitempty"` // of all processors since the last request; absent: 0 or unknown
	HostMemory *hostMemory `json:"host_virtual_memory,omitempty"`

	Goroutines int `json:"goroutines"` // of the cells program; ipykernel has no such field
}

// usageTime is how long the cells program may take to answer. A front end asks every
// few seconds, and an interrupt queued after the request waits for its answer.
const usageTime = 500 * time.Millisecond

func usage(c *call, _ none) (*usageReply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), usageTime)
	defer cancel()
	done, err := c.server.cells.Ask(ctx, cellproto.Request{Type: cellproto.AskUsage})
	if err != nil {
		return nil, err
	}
	if done.Usage == nil {
		return nil, fmt.Errorf("server: usage_request: the reply of the cells program has no figures")
	}
	u := done.Usage
	reply := &usageReply{PID: u.PID, CPU: u.CPU, Memory: u.Memory, CPUs: runtime.NumCPU(), Goroutines: u.Goroutines}
	if m, ok := memoryOfHost(readProc("meminfo")); ok {
		reply.HostMemory = &m
		reply.Hostname, _ = os.Hostname() // "" if the host has none
		reply.HostCPU = c.server.host.percent(readProc("stat"))
	}
	return reply, nil
}
