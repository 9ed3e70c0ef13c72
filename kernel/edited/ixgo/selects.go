//go:build ignore

package ixgo

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// makeSelect is a select statement. Zero values of its channels' elements are made once, and
// its cases and its tuple in one piece each.
func makeSelect(interp *Interp, pfn *function, instr *ssa.Select) func(fr *frame) {
	type state struct {
		dir      reflect.SelectDir
		ch, sent register
		zero     value // that a receive gives if its channel is closed or another state is chosen
	}
	states, size, first := make([]state, len(instr.States)), 2, 0
	for i, st := range instr.States {
		s := state{dir: reflect.SelectSend, ch: pfn.regIndex(st.Chan)}
		if st.Send != nil {
			s.sent = pfn.regIndex(st.Send)
		} else {
			s.dir, s.zero = reflect.SelectRecv, reflect.Zero(interp.preToType(st.Chan.Type()).Elem()).Interface()
			size++
		}
		states[i] = s
	}
	if !instr.Blocking {
		first = 1 // after the default
	}
	ir, h := pfn.regIndex(instr), pfn.hooks()
	return func(fr *frame) {
		cases := make([]reflect.SelectCase, first, len(states)+2)
		if first > 0 {
			cases[0].Dir = reflect.SelectDefault
		}
		for i := range states {
			s := &states[i]
			c := reflect.SelectCase{Dir: s.dir, Chan: reflect.ValueOf(fr.reg(s.ch))}
			if s.dir == reflect.SelectSend {
				if v := fr.reg(s.sent); v != nil {
					c.Send = reflect.ValueOf(v)
				} else {
					c.Send = reflect.Zero(c.Chan.Type().Elem())
				}
			}
			cases = append(cases, c)
		}
		chosen, received, ok := h.choose(cases, instr.Blocking)
		chosen -= first // the default is -1
		r, same := fr.stack[ir].(tuple)
		if !same || len(r) != size {
			r = make(tuple, size)
			fr.stack[ir] = r
		}
		r[0], r[1] = chosen, ok
		at := 2
		for i := range states {
			if s := &states[i]; s.dir == reflect.SelectRecv {
				r[at] = s.zero
				if i == chosen && ok {
					r[at] = received.Interface()
				}
				at++
			}
		}
	}
}
