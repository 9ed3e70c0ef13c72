//go:build cells && edited && !js

package main

import (
	"fmt"
	"path"

	emu "warpbook/gpu/emu/engine"
	"warpbook/gpu/inspect"
	"warpbook/kernel/debug"
)

// to is the same lane of the launch at another time.
func (l *lane) to(time uint64) *lane {
	m := *l
	m.time, m.failed, m.warp = time, false, 0
	return &m
}

// kept says why the launch has no past, nil if it has one.
func (l *lane) kept() error {
	if ok, used, most := l.trail.Kept(); !ok {
		return fmt.Errorf("the past of this launch is not kept: the device has %d MB in use, at most %d MB are copied", used>>20, most>>20)
	}
	return nil
}

// here is the place of the stop.
func (l *lane) here() (here warpAt) {
	l.with(func(v *inspect.View) { here = placeOf(v.Stop) })
	return here
}

// back is the line before this one of the same warp, or the breakpoint before.
// Breakpoints with a condition do not count there.
func (l *lane) back(line bool) (*debug.Stop, error) {
	if err := l.kept(); err != nil {
		return nil, err
	}
	here, why := l.here(), debug.AtStep
	match := func(at *emu.Stop) bool {
		if !at.NewLine {
			return false
		}
		there := placeOf(at)
		return there.same(here) && there.depth <= here.depth
	}
	if !line {
		match, why = l.kernels.breakpoint, debug.AtBreakpoint
	}
	time, found := l.trail.Last(l.time, match)
	if !found {
		return nil, fmt.Errorf("nothing is before it: here the past of the launch begins")
	}
	return l.to(time).stop(why, ""), nil
}

// breakpoint reports whether a stop is at a breakpoint without a condition, or accesses
// data that has one.
func (k *kernels) breakpoint(at *emu.Stop) bool {
	if text, _ := k.touches(at); text != "" {
		return true
	}
	if !at.NewLine {
		return false
	}
	file, line := at.Place()
	k.mu.Lock()
	defer k.mu.Unlock()
	conditional, set := k.watch.Lines[k.paths[path.Base(file)]][line]
	return set && !bool(conditional)
}

// forward is the place to which a step in the past leads, or the next breakpoint there; the
// present if there is none before it.
func (l *lane) forward(step *debug.StepKind) *debug.Stop {
	here, why := l.here(), debug.AtStep
	match := func(at *emu.Stop) bool {
		there := placeOf(at)
		switch {
		case !at.NewLine:
			return false
		case *step == debug.In:
			return there.block == here.block
		case *step == debug.Out:
			return there.same(here) && at.AfterBarrier()
		}
		return there.same(here) && there.depth <= here.depth
	}
	if step == nil {
		match, why = l.kernels.breakpoint, debug.AtBreakpoint
	}
	end := l.trail.End()
	if l.live != nil {
		end = l.live.Time()
	}
	if time, found := l.trail.First(l.time+1, end, match); found {
		return l.to(time).stop(why, "")
	}
	if l.live == nil {
		return nil
	}
	return l.to(l.live.Time()).stop(why, "the present")
}

// lastWrite is the last access that wrote what an expression names, before this time.
func (l *lane) lastWrite(expression string) (*lane, string, error) {
	var p place
	var known bool
	var err error
	l.with(func(v *inspect.View) {
		var x inspect.Value
		if x, err = v.Evaluate(expression); err == nil {
			p, known = placeOfValue(v, inspect.Named{Name: expression, Value: x})
		}
	})
	switch {
	case err != nil:
		return nil, "", err
	case !known:
		return nil, "", fmt.Errorf("%s has no place in memory", expression)
	}
	text, lane := "", 0
	time, found := l.trail.Last(l.time, func(at *emu.Stop) bool {
		for _, a := range at.Accesses() {
			if at.Fault == nil && p.touched(at, a, false) {
				text, lane = p.describe(at, a), a.Lane
				return true
			}
		}
		return false
	})
	if !found {
		return nil, "", fmt.Errorf("%s: nothing of the launch has written it", expression)
	}
	to := l.to(time)
	to.focus = lane
	return to, text, nil
}

// firstNaN is the first instruction of the launch that made a NaN.
func (l *lane) firstNaN() (*lane, string, error) {
	var before emu.Stop
	text, lane := "", 0
	var made uint64
	_, found := l.trail.First(0, l.trail.End(), func(at *emu.Stop) bool {
		if before.Valid() && at.Fault == nil {
			if lanes := before.MadeNaN(); lanes != 0 {
				name, _ := before.Instruction()
				lane, made = active(lanes)[0], before.Time()
				which := "lane"
				if lanes&(lanes-1) != 0 { // more than one
					which = "lanes"
				}
				text = fmt.Sprintf("%s makes the first NaN, in block %v, %s %s of warp %d", name, before.Block(), which, mask(lanes), before.Warp())
				return true
			}
		}
		before = *at
		return false
	})
	if !found {
		return nil, "", fmt.Errorf("no instruction of the launch has made a NaN in a register of type f32 or f64")
	}
	to := l.to(made)
	to.focus = lane
	return to, text, nil
}
