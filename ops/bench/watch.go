package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"warpbook/gpu"
	"warpbook/ops/bench/monitor"
)

// ErrDisturbed is the kind of error of a time that is not taken, because other work
// on the GPU would change it.
var ErrDisturbed = errors.New("disturbed")

// watch is the known state of a GPU while a bench times it.
type watch struct {
	monitor *monitor.Monitor // nil on the emulator, and where nvidia-smi is not there
	notes   []string
	judged  time.Time // when other processes were looked for
}

// fresh is how long a kept watch does not look for other processes again.
const fresh = 5 * time.Second

// watcher begins the watches of a bench. The zero value begins one for each call of Time.
type watcher struct {
	keep bool
	kept *watch // nil before the first call of Time
}

// KeepWatch lets the calls of Time share one watch of the GPU until Close, which saves
// two starts of nvidia-smi a call. It is for a program that times rungs one by one;
// a notebook's bench would watch between cells, too.
func (b *Bench) KeepWatch() { b.watcher.keep = true }

// begin returns the kept watch, or a new one by start. The caller ends it by end.
func (w *watcher) begin(start func() (*watch, error)) (*watch, error) {
	if w.kept != nil && time.Since(w.kept.judged) < fresh {
		return w.kept, nil
	}
	watch, err := start()
	if err != nil || !w.keep {
		return watch, err
	}
	w.close()
	w.kept = watch
	return watch, nil
}

func (w *watcher) end(one *watch) {
	if one != w.kept {
		one.close()
	}
}

// close ends the kept watch.
func (w *watcher) close() {
	if w.kept != nil {
		w.kept.close()
		w.kept = nil
	}
}

// busy is from how many per cent of the multiprocessors' time on another
// process disturbs.
const busy = 5

// startWatch refuses to time an operator under a profiler and beside a process that
// computes, and begins to watch the clocks. A device whose worker runs under a tool
// refuses by itself.
func startWatch(ctx context.Context, operator string, info gpu.Info) (*watch, error) {
	w := &watch{judged: time.Now()}
	if info.Emulated {
		return w, nil
	}
	if tool := monitor.Profiler(); tool != "" {
		return nil, fmt.Errorf("ops: %s: time: %w: this runs under %s, which replays and slows kernels: time it without",
			operator, ErrDisturbed, tool)
	}
	others, err := monitor.Others(ctx, info.UUID)
	if err != nil {
		w.notes = append(w.notes, "clocks, power and other processes are not known: "+err.Error())
		return w, nil
	}
	if w.notes, err = judge(others); err != nil {
		return nil, fmt.Errorf("ops: %s: time: %w", operator, err)
	}
	if w.monitor, err = monitor.Watch(info.UUID); err != nil {
		w.notes = append(w.notes, "clocks and power are not known: "+err.Error())
	}
	return w, nil
}

// judge rejects times beside a process that computes; others are noted.
func judge(others []monitor.Process) (notes []string, err error) {
	for _, p := range others {
		switch {
		case p.Compute && p.Busy >= busy:
			return nil, fmt.Errorf("%w: %v keeps %d %% of the GPU busy: end it, or wait for its end", ErrDisturbed, p, p.Busy)
		case p.Busy >= busy:
			notes = append(notes, fmt.Sprintf("warning: %v draws on the GPU and took %d %% of its time", p, p.Busy))
		default:
			notes = append(notes, fmt.Sprintf("on the GPU besides, idle: %v", p))
		}
	}
	return notes, nil
}

// since is the GPU's state since a row was begun, and why its times are not to
// be shown, "" if they are.
func (w *watch) since(start time.Time) (state monitor.State, refused string) {
	if w.monitor == nil {
		return state, ""
	}
	state = w.monitor.Since(start)
	if why := state.Reasons.Unfair(); why != 0 {
		refused = fmt.Sprintf("%v at %d MHz: let the GPU cool or mend its power supply", strings.ToLower(why.String()), state.ClockMHz)
	}
	return state, refused
}

func (w *watch) close() {
	if w.monitor != nil {
		w.monitor.Close()
	}
}
