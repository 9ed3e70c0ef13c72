// Package monitor reports the state of a GPU that affects its speed while a bench
// times it: clocks, power, slow-downs, other processes, profilers. A Monitor samples
// nvidia-smi, which comes with the driver; ops/bench starts one. The package knows
// nothing of kernels and must never import a device.
package monitor

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Program is the command that is asked; tests put another in its place.
var Program = []string{"nvidia-smi"}

// Reasons are why clocks are lower than they could be, NVML's bits.
type Reasons uint64

// The reasons that matter here.
const (
	Idle            Reasons = 1 << 0
	PowerCap        Reasons = 1 << 2 // software power cap: a large GEMM is always under it
	Slowdown        Reasons = 1 << 3 // hardware slow-down
	SoftwareThermal Reasons = 1 << 5
	HardwareThermal Reasons = 1 << 6
	PowerBrake      Reasons = 1 << 7
)

var reasonNames = []struct {
	reason Reasons
	name   string
}{
	{PowerCap, "software power cap"}, {Slowdown, "hardware slow-down"}, {SoftwareThermal, "software thermal slow-down"},
	{HardwareThermal, "hardware thermal slow-down"}, {PowerBrake, "power brake"},
}

// String names the reasons that matter.
func (r Reasons) String() string {
	var names []string
	for _, n := range reasonNames {
		if r&n.reason != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

// Unfair are the reasons for which a time is not a property of the code.
func (r Reasons) Unfair() Reasons {
	return r & (Slowdown | SoftwareThermal | HardwareThermal | PowerBrake)
}

// State is the state of a GPU at a moment, or over a period: then the clock is the
// lowest, power and temperature the highest, and the reasons are all that occurred.
type State struct {
	ClockMHz int     `json:"clock_mhz"`
	PowerW   float64 `json:"power_w"`
	Celsius  int     `json:"celsius"`
	Reasons  Reasons `json:"reasons"`
}

// String is the state as a table shows it: "1980 MHz, 312 W".
func (s State) String() string {
	if s.ClockMHz == 0 {
		return "-"
	}
	text := fmt.Sprintf("%d MHz, %.0f W", s.ClockMHz, s.PowerW)
	if why := s.Reasons.String(); why != "" {
		text += ", " + why
	}
	return text
}

// with is the state over both.
func (s State) with(o State) State {
	if s.ClockMHz == 0 {
		return o
	}
	return State{min(s.ClockMHz, o.ClockMHz), max(s.PowerW, o.PowerW), max(s.Celsius, o.Celsius), s.Reasons | o.Reasons}
}

// period is how often a GPU is asked.
const period = 50 * time.Millisecond

// Monitor watches a GPU until it is closed.
type Monitor struct {
	stop    context.CancelFunc
	process *exec.Cmd
	out     io.Closer     // of the process; closed to end the reader, too
	done    chan struct{} // closed when the process was reaped

	mu     sync.Mutex
	news   sync.Cond // of mu: a sample, or the end
	latest []sample  // of the last minute or so; guarded by mu
	ended  bool      // guarded by mu
}

type sample struct {
	at    time.Time
	state State
}

// kept bounds the samples that are remembered.
const kept = 4096

// Watch starts to watch a GPU, named as nvidia-smi -i takes it: its UUID, or
// its number. The error says that nvidia-smi is not there.
func Watch(gpu string) (*Monitor, error) {
	ctx, stop := context.WithCancel(context.Background())
	args := append(Program[1:], "-i", gpu, "--format=csv,noheader,nounits", "-lms", strconv.Itoa(int(period/time.Millisecond)),
		"--query-gpu=clocks.sm,power.draw,temperature.gpu,clocks_throttle_reasons.active")
	m := &Monitor{stop: stop, process: exec.CommandContext(ctx, Program[0], args...), done: make(chan struct{})}
	m.news.L = &m.mu
	out, err := m.process.StdoutPipe()
	if err == nil {
		err = m.process.Start()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("monitor: nvidia-smi: %w", err)
	}
	m.out = out
	go m.read(out)
	return m, nil
}

// read keeps the samples until the process ends, and reaps it.
func (m *Monitor) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		state, ok := parseState(lines.Text())
		m.mu.Lock()
		if ok {
			m.latest = append(m.latest, sample{time.Now(), state})
		}
		if len(m.latest) > kept {
			m.latest = append(m.latest[:0], m.latest[kept/2:]...)
		}
		m.news.Broadcast()
		m.mu.Unlock()
	}
	m.process.Wait()
	m.mu.Lock()
	m.ended = true
	m.news.Broadcast()
	m.mu.Unlock()
	close(m.done)
}

// parseState reads a line "1980, 312.21, 41, 0x0000000000000004"; what a GPU
// does not tell is "[N/A]".
func parseState(line string) (State, bool) {
	fields := strings.Split(line, ",")
	if len(fields) != 4 {
		return State{}, false
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	clock, err := strconv.Atoi(fields[0])
	if err != nil || clock <= 0 {
		return State{}, false
	}
	s := State{ClockMHz: clock}
	s.PowerW, _ = strconv.ParseFloat(fields[1], 64) // 0 if nvidia-smi does not report it
	s.Celsius, _ = strconv.Atoi(fields[2])
	reasons, _ := strconv.ParseUint(fields[3], 0, 64)
	s.Reasons = Reasons(reasons)
	return s, true
}

// Since is the state from a moment until now. It waits for a sample, but not
// for long: without one the state is zero. A GPU that is idle has other clocks,
// so samples of an idle one count only where there are no others.
func (m *Monitor) Since(start time.Time) State {
	late := time.AfterFunc(10*period, m.news.Broadcast)
	defer late.Stop()
	deadline := time.Now().Add(10 * period)
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.ended && time.Now().Before(deadline) && (len(m.latest) == 0 || m.latest[len(m.latest)-1].at.Before(start)) {
		m.news.Wait()
	}
	var busy, idle State
	for _, s := range m.latest {
		switch {
		case s.at.Before(start):
		case s.state.Reasons&Idle != 0:
			idle = idle.with(s.state)
		default:
			busy = busy.with(s.state)
		}
	}
	if busy.ClockMHz == 0 {
		return idle
	}
	return busy
}

// Close ends the watch.
func (m *Monitor) Close() {
	m.stop()
	m.out.Close()
	<-m.done
}
