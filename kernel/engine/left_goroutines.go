package engine

import (
	"fmt"
	"slices"
	"strings"

	"warpbook/kernel/engine/failure"
)

// StopGoroutines begins to stop the goroutines that cells have left running, if no cell
// runs. The next cell waits until they have ended. Goroutines that do not end are named.
func (e *host) StopGoroutines() {
	if e.stop.Live.Load() == 0 {
		return
	}
	first, ok := e.stop.BeginIdle()
	if !ok {
		return
	}
	go func() {
		if first {
			for _, f := range e.config.Interrupt {
				f()
			}
		}
		e.endStop()
	}()
}

// endStop ends a stop: it names the goroutines that still run, and closes listeners that
// no variable holds.
func (e *host) endStop() {
	e.stop.End()
	e.nameGoroutines()
	if e.listened.Swap(false) {
		e.freeListeners()
	}
}

// nameGoroutines warns, once, of goroutines of cells that still run.
func (e *host) nameGoroutines() {
	var places []string
	left := 0
	e.ours.Range(func(_, g any) bool {
		if o := g.(*owner); o.goes && !o.named.Swap(true) {
			if place := e.whereIs(o); !slices.Contains(places, place) {
				places = append(places, place)
			}
			left++
		}
		return true
	})
	if left > 0 {
		slices.Sort(places)
		fmt.Fprintf(e.stderr, "warning: goroutines that an interrupt cannot end go on: %d, %s; they are in compiled calls\n", left, strings.Join(places[:min(len(places), mostPlaces)], "; "))
	}
}

// whereBlocked are the places where the goroutine of a cell waits, the innermost first.
func (e *host) whereBlocked(cell uint64) (places []failure.Place) {
	e.ours.Range(func(_, g any) bool {
		if o := g.(*owner); o.cell == cell && !o.goes {
			places = e.blocked(o)
		}
		return len(places) == 0
	})
	return places
}

// whereIs says where a goroutine was started and where it waits, as far as that is known.
func (e *host) whereIs(o *owner) string {
	var where []string
	if o.pos.IsValid() {
		where = append(where, "started at "+e.placeOf(o.pos).String())
	}
	if at := e.blocked(o); len(at) > 0 {
		where = append(where, "waiting at "+at[0].String())
	}
	if len(where) == 0 {
		return "started by a package"
	}
	return strings.Join(where, ", ")
}

// mostPlaces is the number of goroutines that a warning names.
const mostPlaces = 5
