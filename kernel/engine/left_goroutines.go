package engine

import (
	"fmt"
	"slices"
	"strings"
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
		e.stop.End()
		e.nameGoroutines()
	}()
}

// nameGoroutines warns of goroutines of cells that still run.
func (e *host) nameGoroutines() {
	var places []string
	left := 0
	e.ours.Range(func(_, g any) bool {
		if o := g.(owner); o.pos.IsValid() {
			if place := e.placeOf(o.pos).String(); !slices.Contains(places, place) {
				places = append(places, place)
			}
			left++
		}
		return true
	})
	if left > 0 {
		slices.Sort(places)
		fmt.Fprintf(e.stderr, "warning: goroutines that an interrupt cannot end go on: %d, started at %s; they are in compiled calls\n", left, strings.Join(places[:min(len(places), mostPlaces)], "; "))
	}
}

// mostPlaces is the number of go statements that a warning names.
const mostPlaces = 5
