package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"sync"

	"warpbook/kernel/engine/stop"
	"warpbook/kernel/leaf/processes"
)

// registerWaits makes waits in compiled code end when the cell is stopped, if that loses
// no data: locks, wait groups, conditions, writes to pipes and subprocesses.
func (e *host) registerWaits() {
	for name, f := range map[string]any{
		"(*sync.Mutex).Lock":       func(m *sync.Mutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).Lock":     func(m *sync.RWMutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).RLock":    func(m *sync.RWMutex) { e.stop.Lock(stop.ReadLock(m)) },
		"(*sync.WaitGroup).Go":     e.groupGo,
		"(*sync.WaitGroup).Wait":   func(g *sync.WaitGroup) { e.stop.Await(g.Wait) },
		"(*sync.Cond).Wait":        func(c *sync.Cond) { e.stop.WaitCond(c) },
		"(*io.PipeWriter).Write":   func(w *io.PipeWriter, p []byte) (int, error) { return pipeWriter{e, w}.Write(p) },
		"io.WriteString":           func(w io.Writer, s string) (int, error) { return io.WriteString(e.piped(w), s) },
		"bufio.NewWriter":          func(w io.Writer) *bufio.Writer { return bufio.NewWriter(e.piped(w)) },
		"encoding/json.NewEncoder": func(w io.Writer) *json.Encoder { return json.NewEncoder(e.piped(w)) },
		"os/exec.Command": func(name string, arg ...string) *exec.Cmd {
			c := exec.CommandContext(e.stop.Context(), name, arg...)
			c.Cancel = func() error { return processes.KillTree(c.Process.Pid) }
			return c
		},
	} {
		e.external(name, f)
	}
}

// pipeWriter is a pipe that cells, or compiled code for them, write to.
type pipeWriter struct {
	host *host
	pipe *io.PipeWriter
}

// Write is pipe.Write. One that a stop interrupts goes on, as reads do: the next reader gets
// its data.
func (w pipeWriter) Write(p []byte) (n int, err error) {
	kept := bytes.Clone(p)
	w.host.stop.Await(func() { n, err = w.pipe.Write(kept) })
	return n, err
}

// piped is w, or the writer that stands for it if it is a pipe.
func (e *host) piped(w io.Writer) io.Writer {
	if p, ok := w.(*io.PipeWriter); ok {
		return pipeWriter{e, p}
	}
	return w
}
