package engine

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"sync"

	"warpbook/kernel/engine/stop"
	"warpbook/kernel/leaf/processes"
)

// registerWaits makes waits in compiled code end when the cell is stopped, if that loses
// no data: locks, wait groups, conditions, channels of package reflect and subprocesses.
func (e *host) registerWaits() {
	for name, f := range map[string]any{
		"(*sync.Mutex).Lock":       func(m *sync.Mutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).Lock":     func(m *sync.RWMutex) { e.stop.Lock(m) },
		"(*sync.RWMutex).RLock":    func(m *sync.RWMutex) { e.stop.Lock(stop.ReadLock(m)) },
		"(*sync.WaitGroup).Go":     e.groupGo,
		"(*sync.WaitGroup).Wait":   func(g *sync.WaitGroup) { e.stop.Await(g.Wait) },
		"(*sync.Cond).Wait":        func(c *sync.Cond) { e.stop.WaitCond(c) },
		"io.WriteString":           func(w io.Writer, s string) (int, error) { return io.WriteString(e.patiently(w), s) },
		"bufio.NewWriter":          func(w io.Writer) *bufio.Writer { return e.newWriter(w, 0) },
		"bufio.NewWriterSize":      e.newWriter,
		"encoding/json.NewEncoder": func(w io.Writer) *json.Encoder { return json.NewEncoder(e.patiently(w)) },
		"encoding/binary.Write":    func(w io.Writer, o binary.ByteOrder, data any) error { return binary.Write(e.patiently(w), o, data) },
		"reflect.Select":           e.selectCases,
		"(reflect.Value).Recv":     e.receive,
		"(reflect.Value).Send":     e.send,
		"os/exec.Command": func(name string, arg ...string) *exec.Cmd {
			c := exec.CommandContext(e.stop.Context(), name, arg...)
			c.Cancel = func() error { return processes.KillTree(c.Process.Pid) }
			return c
		},
		"(*os/exec.Cmd).Run":  e.runCommand,
		"(*os/exec.Cmd).Wait": e.waitCommand,
		"(*os.Process).Wait":  e.waitProcess,
	} {
		e.external(name, f)
	}
	e.method("Lock", reflect.TypeOf(new(sync.RWMutex).RLocker()), func(l sync.Locker) {
		e.stop.Lock(stop.ReadLock((*sync.RWMutex)(reflect.ValueOf(l).UnsafePointer())))
	})
}

// killer ends a process and those that it has started.
type killer struct{ *os.Process }

func (k killer) Close() error { return processes.KillTree(k.Pid) }

func (e *host) runCommand(c *exec.Cmd) error {
	if err := c.Start(); err != nil {
		return err
	}
	return e.waitCommand(c)
}

func (e *host) waitCommand(c *exec.Cmd) error {
	if c.Process == nil {
		return c.Wait() // an error
	}
	return e.stop.Closing(killer{c.Process}, c.Wait)
}

func (e *host) waitProcess(p *os.Process) (state *os.ProcessState, err error) {
	err = e.stop.Closing(killer{p}, func() error {
		state, err = p.Wait()
		return err
	})
	return state, err
}

// selectCases is reflect.Select.
func (e *host) selectCases(cases []reflect.SelectCase) (chosen int, recv reflect.Value, recvOK bool) {
	for _, c := range cases {
		if c.Dir == reflect.SelectDefault {
			return reflect.Select(cases)
		}
	}
	stopped := reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(e.stop.Channel())}
	chosen, recv, recvOK = reflect.Select(append(slices.Clip(cases), stopped))
	if chosen == len(cases) {
		e.stop.Killed()
	}
	return chosen, recv, recvOK
}

// receive is c.Recv.
func (e *host) receive(c reflect.Value) (reflect.Value, bool) {
	if c.Kind() != reflect.Chan || c.Type().ChanDir()&reflect.RecvDir == 0 || !c.CanInterface() {
		return c.Recv() // a panic
	}
	_, x, ok := e.selectCases([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: c}})
	return x, ok
}

// send is c.Send(x).
func (e *host) send(c, x reflect.Value) {
	if c.Kind() != reflect.Chan || c.Type().ChanDir()&reflect.SendDir == 0 || !x.IsValid() || !c.CanInterface() || !x.CanInterface() || !x.Type().AssignableTo(c.Type().Elem()) {
		c.Send(x) // a panic
	}
	e.selectCases([]reflect.SelectCase{{Dir: reflect.SelectSend, Chan: c, Send: x}})
}
