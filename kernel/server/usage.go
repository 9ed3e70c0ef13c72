package server

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"warpbook/kernel/cellproto"
)

// usageReply has the fields of ipykernel's reply that concern the kernel, for resource
// monitors of JupyterLab. It leaves out the fields that describe the host.
type usageReply struct {
	Hostname string  `json:"hostname"`
	PID      int     `json:"pid"`           // of the cells program
	CPU      float64 `json:"kernel_cpu"`    // percent of one core since the last request
	Memory   uint64  `json:"kernel_memory"` // bytes in memory, of both programs
	CPUs     int     `json:"cpu_count"`

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
	name, _ := os.Hostname() // "" if the host has none
	u := done.Usage
	return &usageReply{Hostname: name, PID: u.PID, CPU: u.CPU, Memory: u.Memory, CPUs: runtime.NumCPU(), Goroutines: u.Goroutines}, nil
}
