//go:build cells && edited && !js

package main

import (
	"fmt"
	"strings"

	emu "warpbook/gpu/emu/engine"
)

// column is one line of the source that a warp came to.
type column struct {
	line    int
	active  uint32
	reads   uint32 // lanes that read memory that threads share
	writes  uint32
	barrier bool
}

// mostColumns is how many lines a picture has: the last ones before the place.
const mostColumns = 240

// columns are the lines of the focused warp up to the place.
func (l *lane) columns() (list []column) {
	here := l.here()
	l.trail.First(0, l.time+1, func(at *emu.Stop) bool {
		if !placeOf(at).same(here) || at.Fault != nil {
			return false
		}
		if at.NewLine {
			_, line := at.Place()
			list = append(list, column{line: line, active: at.Active(), barrier: at.AfterBarrier()})
			list = list[max(0, len(list)-mostColumns):]
		}
		for _, a := range at.Accesses() {
			if len(list) == 0 || a.Private() {
				continue
			}
			c := &list[len(list)-1]
			if a.Reads {
				c.reads |= 1 << a.Lane
			}
			if a.Writes {
				c.writes |= 1 << a.Lane
			}
		}
		return false
	})
	return list
}

// picture draws the focused warp over time: lanes down, lines of the source across.
type picture struct {
	title   string
	columns []column
}

func (l *lane) picture() picture {
	here := l.here()
	return picture{fmt.Sprintf("block %s warp %d", here.block, here.warp), l.columns()}
}

// The sizes of a picture, in pixels.
const (
	cellSize = 8
	leftOf   = 46
	topOf    = 34

	legendWidth = 480
)

// String counts what the picture shows, for readers without pictures.
func (p picture) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, the last %d lines:", p.title, len(p.columns))
	for _, c := range p.columns[max(0, len(p.columns)-20):] {
		fmt.Fprintf(&b, "\nline %d: lanes %s", c.line, mask(c.active))
		if c.reads != 0 {
			fmt.Fprintf(&b, ", reads %s", mask(c.reads))
		}
		if c.writes != 0 {
			fmt.Fprintf(&b, ", writes %s", mask(c.writes))
		}
		if c.barrier {
			b.WriteString(", after a barrier")
		}
	}
	return b.String()
}

// MIMEBundle is the picture as SVG without a script, and as text.
func (p picture) MIMEBundle() (data, metadata map[string]any) {
	return map[string]any{"text/plain": p.String(), "image/svg+xml": p.svg()}, map[string]any{}
}

func (p picture) svg() string {
	var b strings.Builder
	width, height := max(leftOf+cellSize*len(p.columns)+10, legendWidth), topOf+32*cellSize+26
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`, width, height, width, height)
	fmt.Fprintf(&b, `<title>%s: active lanes, accesses and barriers over time</title><rect width="100%%" height="100%%" fill="#fff"/><text x="4" y="14">%s</text>`, p.title, p.title)
	for lane := 0; lane < 32; lane += 8 {
		fmt.Fprintf(&b, `<text x="4" y="%d">lane %d</text>`, topOf+lane*cellSize+9, lane)
	}
	last := -1000
	for i, c := range p.columns {
		x := leftOf + i*cellSize
		if x-last >= 24 && (i == 0 || c.line != p.columns[i-1].line) {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%d</text>`, x, topOf-4, c.line)
			last = x
		}
		p.column(&b, c, x)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">grey: active; blue: reads; orange: writes; line: after a barrier; numbers: lines</text></svg>`, leftOf, height-8)
	return b.String()
}

// column draws one line: runs of lanes of one colour.
func (p picture) column(b *strings.Builder, c column, x int) {
	colour := func(lane int) string {
		switch {
		case c.writes>>lane&1 == 1:
			return "#d9730d"
		case c.reads>>lane&1 == 1:
			return "#2f6fb7"
		case c.active>>lane&1 == 1:
			return "#b9bec6"
		}
		return ""
	}
	for lane := 0; lane < 32; {
		end := lane + 1
		for end < 32 && colour(end) == colour(lane) {
			end++
		}
		if colour(lane) != "" {
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, x, topOf+lane*cellSize, cellSize-1, (end-lane)*cellSize, colour(lane))
		}
		lane = end
	}
	if c.barrier {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="1" height="%d" fill="#111"/>`, x-1, topOf, 32*cellSize)
	}
}
