package engine

import (
	"os/exec"
	"sync"

	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/stop"
)

// registerWaits makes waits in compiled code end when the cell is stopped, if that loses
// no data: locks, wait groups and subprocesses. A wait for a sync.Cond is not among
// them, since it must end with the lock held.
func (e *host) registerWaits() {
	for name, f := range map[string]any{
		"(*sync.Mutex).Lock":     func(m *sync.Mutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).Lock":   func(m *sync.RWMutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).RLock":  func(m *sync.RWMutex) { e.stop.Lock(stop.ReadLock(m)) },
		rewrite.GroupGo:          e.groupGo,
		"(*sync.WaitGroup).Wait": func(g *sync.WaitGroup) { e.stop.Await(g.Wait) },
		"os/exec.Command": func(name string, arg ...string) *exec.Cmd {
			return exec.CommandContext(e.stop.Context(), name, arg...)
		},
	} {
		e.external(name, f)
	}
}
