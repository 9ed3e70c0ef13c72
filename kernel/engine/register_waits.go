package engine

import (
	"os/exec"
	"sync"

	"warpbook/kernel/engine/stop"
	"warpbook/kernel/leaf/processes"
)

// registerWaits makes waits in compiled code end when the cell is stopped, if that loses
// no data: locks, wait groups, conditions and subprocesses.
func (e *host) registerWaits() {
	for name, f := range map[string]any{
		"(*sync.Mutex).Lock":     func(m *sync.Mutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).Lock":   func(m *sync.RWMutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).RLock":  func(m *sync.RWMutex) { e.stop.Lock(stop.ReadLock(m)) },
		"(*sync.WaitGroup).Go":   e.groupGo,
		"(*sync.WaitGroup).Wait": func(g *sync.WaitGroup) { e.stop.Await(g.Wait) },
		"(*sync.Cond).Wait":      func(c *sync.Cond) { e.stop.WaitCond(c) },
		"os/exec.Command": func(name string, arg ...string) *exec.Cmd {
			c := exec.CommandContext(e.stop.Context(), name, arg...)
			c.Cancel = func() error { return processes.KillTree(c.Process.Pid) }
			return c
		},
	} {
		e.external(name, f)
	}
}
