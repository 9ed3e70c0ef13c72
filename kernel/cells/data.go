//go:build cells && edited && !js

package main

import (
	"fmt"
	"strconv"
	"strings"

	emu "warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/inspect"
)

// place is a variable or an element in the memory of a launch, for breakpoints at its
// accesses and for its last write. The address alone names global memory; the block
// belongs to shared memory, warp and lane to that of a thread.
type place struct {
	name    string
	address uint64 // generic
	bytes   int
	block   string
	warp    int
	lane    int
}

// placeOfValue is where a value lies; false if it has no place.
func placeOfValue(v *inspect.View, n inspect.Named) (place, bool) {
	x := n.Value
	if !x.Memory || x.Type.Size() <= 0 {
		return place{}, false
	}
	return place{n.Name, x.Address, int(x.Type.Size()), fmt.Sprint(v.Stop.Block()), v.Stop.Warp(), v.Lane}, true
}

// dataOf is the place of a value as a text that a client keeps.
func dataOf(v *inspect.View, n inspect.Named) string {
	p, ok := placeOfValue(v, n)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s; block %s; warp %d; lane %d; address %#x; bytes %d", p.name, p.block, p.warp, p.lane, p.address, p.bytes)
}

// parseData reads the text of dataOf.
func parseData(text string) (p place, err error) {
	parts := strings.Split(text, "; ")
	if len(parts) != 6 {
		return p, fmt.Errorf("%q names no place, expected the id of dataBreakpointInfo", text)
	}
	p.name = parts[0]
	p.block = strings.TrimPrefix(parts[1], "block ")
	number := func(part, name string) (n uint64) {
		n, failed := strconv.ParseUint(strings.TrimPrefix(part, name+" "), 0, 64)
		if failed != nil {
			err = fmt.Errorf("%q names no place: %s", text, part)
		}
		return n
	}
	p.warp, p.lane = int(number(parts[2], "warp")), int(number(parts[3], "lane"))
	p.address, p.bytes = number(parts[4], "address"), int(number(parts[5], "bytes"))
	return p, err
}

// touched reports whether an access of the instruction at a stop is one of the place: a
// write, or a read where those count, too.
func (p place) touched(at *emu.Stop, a emu.Access, reads bool) bool {
	if !a.Writes && !reads || a.Address >= p.address+uint64(p.bytes) || p.address >= a.Address+uint64(a.Bytes) {
		return false
	}
	switch p.address >> mem.WindowBits {
	case mem.SharedWindow:
		return fmt.Sprint(at.Block()) == p.block
	case mem.LocalWindow:
		return fmt.Sprint(at.Block()) == p.block && at.Warp() == p.warp && a.Lane == p.lane
	}
	return true
}

// describe says which thread accesses the place.
func (p place) describe(at *emu.Stop, a emu.Access) string {
	verb := "reads"
	switch {
	case a.Reads && a.Writes:
		verb = "updates"
	case a.Writes:
		verb = "writes"
	}
	return fmt.Sprintf("block %v thread %v %s %s", at.Block(), at.Thread(a.Lane), verb, p.name)
}
