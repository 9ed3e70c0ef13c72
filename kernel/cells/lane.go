//go:build cells && edited && !js

package main

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	emu "warpbook/gpu/emu/engine"
	"warpbook/gpu/inspect"
	"warpbook/kernel/debug"
)

// lane is the focus of a stop: a lane of a warp, at present or in the past of the launch.
type lane struct {
	kernels *kernels
	trail   *emu.Trail
	live    *emu.Stop     // the stop of the launch; nil of one that has ended
	thread  int           // that launched it
	callers []debug.Frame // of the launch
	time    uint64        // that is shown
	failed  bool          // after the fault of the instruction
	warp    int           // of the block, one more than its number; 0 is the one that stopped
	focus   int           // lane
}

// with calls f with what the lane sees. The past is repeated for it. It reports false if
// the lane has exited.
func (l *lane) with(f func(v *inspect.View)) (ok bool) {
	look := func(at *emu.Stop) {
		if l.warp > 0 {
			if at, ok = at.Of(l.warp-1, l.focus); !ok {
				return
			}
		}
		v := inspect.New(at)
		v.Lane, ok = l.focus, true
		f(v)
	}
	if !l.past() {
		look(l.live)
		return ok
	}
	l.trail.Replay(l.time, func(at *emu.Stop) bool {
		if at.Time() < l.time || l.failed && at.Fault == nil && at.Time() == l.time {
			return true
		}
		if at.Time() == l.time {
			look(at)
		}
		return false
	})
	return ok
}

// past reports whether the stop is in the past of the launch.
func (l *lane) past() bool { return l.live == nil || l.time != l.live.Time() }

// stop is the stop as clients see it.
func (l *lane) stop(why debug.Reason, text string) *debug.Stop {
	s := &debug.Stop{Thread: l.thread, Reason: why, Text: text, Back: l.back, Beside: l.beside}
	if l.past() {
		s.Forward = l.forward
	}
	l.with(func(v *inspect.View) {
		here := placeOf(v.Stop)
		s.State = here
		s.Name = fmt.Sprintf("block %s warp %d", here.block, here.warp)
		for i, f := range v.Frames() {
			s.Frames = append(s.Frames, debug.Frame{Name: f.Name, Path: l.kernels.path(f.File), Line: f.Line,
				Scopes: l.scopes(i, v.In(i).Known()), Evaluate: l.evaluator(i), Holds: func(c string) (bool, error) { return l.holds(i, c) }})
		}
	})
	s.Frames = append(s.Frames, l.callers...)
	return s
}

func (k *kernels) path(file string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.paths[path.Base(file)]
}

// scopes are those of a frame, whose variables have names or not.
func (l *lane) scopes(frame int, named bool) []debug.Scope {
	list := []debug.Scope{
		{Name: "Locals", Variables: l.list(frame, (*inspect.View).Variables)},
		{Name: "Arguments", Variables: l.list(frame, (*inspect.View).Arguments)},
		{Name: "Shared memory", Variables: l.list(frame, (*inspect.View).Shared)},
		{Name: "Globals", Variables: l.list(frame, (*inspect.View).Globals)},
		{Name: "Thread", Variables: l.builtins},
		{Name: "All lanes", Expensive: true, Variables: func() []debug.Variable { return l.lanes(frame) }},
		{Name: "Warps", Variables: l.warps},
		{Name: "Registers", Expensive: true, Variables: l.registers},
	}
	if frame > 0 {
		list = list[:4]
	}
	if !named { // clients show the first scope
		list = slices.DeleteFunc(list, func(s debug.Scope) bool { return s.Name == "Locals" || s.Name == "Globals" })
	}
	return list
}

// list makes the variables of a scope.
func (l *lane) list(frame int, of func(*inspect.View) []inspect.Named) func() []debug.Variable {
	return func() (list []debug.Variable) {
		l.with(func(v *inspect.View) {
			for _, n := range of(v.In(frame)) {
				list = append(list, l.variable(v, n))
			}
		})
		return list
	}
}

// pageOf is how many elements one list has.
const pageOf = 100

// variable is a value as clients see it.
func (l *lane) variable(v *inspect.View, n inspect.Named) debug.Variable {
	d := debug.Variable{Name: n.Name, Path: n.Name, Type: n.Value.TypeName(), Value: v.Text(n.Value), Data: dataOf(v, n)}
	if count, parts := n.Value.Count(); parts {
		d.Children = func() []debug.Variable { return l.parts(n.Value, n.Name, 0, count) }
		if count <= pageOf {
			d.Parts = count
		}
	}
	return d
}

// parts are the elements of a value from lo to hi, or ranges of them; a count of 0 is that
// of a struct or a pointer.
func (l *lane) parts(x inspect.Value, name string, lo, hi int) (list []debug.Variable) {
	size := 1
	for (hi-lo+size-1)/size > pageOf {
		size *= pageOf
	}
	if size > 1 {
		for at := lo; at < hi; at += size {
			end := min(at+size, hi)
			list = append(list, debug.Variable{Name: fmt.Sprintf("[%d … %d]", at, end-1), Type: x.TypeName(), Value: fmt.Sprintf("%d elements", end-at),
				Children: func() []debug.Variable { return l.parts(x, name, at, end) }})
		}
		return list
	}
	most := hi - lo
	if hi == 0 {
		most = pageOf
	}
	l.with(func(v *inspect.View) {
		for _, n := range v.Parts(x, lo, most) {
			part := l.variable(v, n)
			part.Path = name + n.Name
			if !strings.HasPrefix(n.Name, "[") {
				part.Path = name + "." + n.Name
			}
			part.Data = dataOf(v, inspect.Named{Name: part.Path, Value: n.Value})
			list = append(list, part)
		}
	})
	return list
}

// lanes lists each variable, unfolded in all lanes of the warp.
func (l *lane) lanes(frame int) (list []debug.Variable) {
	l.with(func(v *inspect.View) {
		for _, n := range append(v.In(frame).Variables(), v.In(frame).Arguments()...) {
			if _, parts := n.Value.Count(); parts {
				continue
			}
			list = append(list, debug.Variable{Name: n.Name, Type: n.Value.TypeName(), Value: v.Text(n.Value), Children: func() []debug.Variable { return l.across(frame, n.Name) }, Parts: 32})
		}
	})
	return list
}

// across is an expression in each lane.
func (l *lane) across(frame int, expression string) (list []debug.Variable) {
	l.with(func(v *inspect.View) {
		for number := range 32 {
			d := debug.Variable{Name: fmt.Sprintf("lane %d", number)}
			if x, err := v.On(number).In(frame).Evaluate(expression); err != nil {
				d.Value = err.Error()
			} else {
				d.Type, d.Value = x.TypeName(), v.On(number).Text(x)
			}
			switch {
			case v.Stop.Alive()>>number&1 == 0:
				d.Value = "exited"
			case v.Stop.Active()>>number&1 == 0:
				d.Value += " (inactive)"
			}
			list = append(list, d)
		}
	})
	return list
}

// builtins are the built-in variables and the state of the warp.
func (l *lane) builtins() (list []debug.Variable) {
	l.with(func(v *inspect.View) {
		for _, n := range v.Builtins() {
			list = append(list, l.variable(v, n))
		}
		name, line := v.Stop.Instruction()
		list = append(list, debug.Variable{Name: "active", Type: "lanes", Value: mask(v.Stop.Active())},
			debug.Variable{Name: "exited", Type: "lanes", Value: mask(^v.Stop.Alive())},
			debug.Variable{Name: "instruction", Type: "PTX", Value: fmt.Sprintf("%s, line %d of the PTX", name, line)})
		if l.past() {
			list = append(list, debug.Variable{Name: "past", Type: "instructions", Value: fmt.Sprint(l.trail.End() - l.time)})
		}
	})
	return list
}

// mask lists lanes: "0-15 31".
func mask(m uint32) string {
	var parts []string
	for l := 0; l < 32; l++ {
		if m>>l&1 == 0 {
			continue
		}
		first := l
		for l < 31 && m>>(l+1)&1 == 1 {
			l++
		}
		if first == l {
			parts = append(parts, fmt.Sprint(l))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, l))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, " ")
}

// evaluator evaluates expressions of C++ in a frame, and the commands of %debug.
func (l *lane) evaluator(frame int) func(string) (debug.Variable, error) {
	return func(expression string) (found debug.Variable, err error) {
		if command, is := strings.CutPrefix(strings.TrimSpace(expression), "%debug"); is {
			return l.console(command)
		}
		ok := l.with(func(v *inspect.View) {
			var x inspect.Value
			if x, err = v.In(frame).Evaluate(expression); err != nil {
				return
			}
			found = l.variable(v, inspect.Named{Name: strings.TrimSpace(expression), Value: x})
			found.True = found.Value == "true"
		})
		if !ok {
			err = fmt.Errorf("%s: the lane has exited", expression)
		}
		return found, err
	}
}

// holds reports whether a condition holds for an active lane, which gets the focus. A lane
// for which it cannot be evaluated counts only if that is so in all.
func (l *lane) holds(frame int, condition string) (holds bool, err error) {
	l.with(func(v *inspect.View) {
		failed := 0
		for number := range 32 {
			if v.Stop.Active()>>number&1 == 0 || holds {
				continue
			}
			is, wrong := v.On(number).In(frame).True(condition)
			if wrong != nil {
				failed, err = failed+1, wrong
			}
			if is {
				holds, l.focus = true, number
			}
		}
		if holds || failed < len(active(v.Stop.Active())) {
			err = nil
		}
	})
	return holds, err
}

func active(m uint32) (list []int) {
	for l := range 32 {
		if m>>l&1 == 1 {
			list = append(list, l)
		}
	}
	return list
}

// registers are those of the next instruction, in the focused lane, and unfolded in all.
func (l *lane) registers() (list []debug.Variable) {
	l.with(func(v *inspect.View) {
		active, alive := v.Stop.Active(), v.Stop.Alive()
		for i, o := range v.Stop.Operands() {
			kind := "source"
			if o.Destination {
				kind = "destination"
			}
			d := debug.Variable{Name: fmt.Sprintf("operand %d", i+1), Type: kind, Value: bits(o, l.focus), Parts: 32}
			d.Children = func() (each []debug.Variable) {
				for number := range 32 {
					text := bits(o, number)
					switch {
					case alive>>number&1 == 0:
						text = "exited"
					case active>>number&1 == 0:
						text += " (inactive)"
					}
					each = append(each, debug.Variable{Name: fmt.Sprintf("lane %d", number), Type: kind, Value: text})
				}
				return each
			}
			list = append(list, d)
		}
	})
	return list
}

func bits(o emu.Operand, lane int) string {
	x := o.Lanes[lane]
	switch {
	case o.Predicate:
		return fmt.Sprint(x == 1)
	case o.Wide:
		return fmt.Sprintf("%#x (%v)", x, math.Float64frombits(x))
	}
	return fmt.Sprintf("%d (%v)", int32(x), math.Float32frombits(uint32(x)))
}

// besideWarps are above the ids of goroutines: lanes of a warp that stand together have the
// id of the first.
const besideWarps = 1 << 30

// beside are the other warps of the block, as threads.
func (l *lane) beside() (list []debug.Beside) {
	l.with(func(v *inspect.View) {
		for _, o := range v.Stop.Others() {
			first := active(o.Lanes)[0]
			to := *l
			to.warp, to.focus = o.Warp+1, first
			name := fmt.Sprintf("block %v warp %d", v.Stop.Block(), o.Warp)
			if o.Lanes != math.MaxUint32 {
				name += " lanes " + mask(o.Lanes)
			}
			if o.Waits {
				name += ", waits at the barrier"
			}
			list = append(list, debug.Beside{Thread: besideWarps + 32*o.Warp + first, Name: name, Stop: func() *debug.Stop { return to.stop(debug.AtPause, "") }})
		}
	})
	return list
}

// warps are the other warps of the block.
func (l *lane) warps() (list []debug.Variable) {
	l.with(func(v *inspect.View) {
		for _, o := range v.Stop.Others() {
			d := debug.Variable{Name: fmt.Sprintf("warp %d", o.Warp), Type: "lanes " + mask(o.Lanes), Value: fmt.Sprintf("line %d", o.Line)}
			if o.Waits {
				d.Value += ", waits at the barrier"
			}
			list = append(list, d)
		}
	})
	return list
}
