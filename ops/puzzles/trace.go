package puzzles

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu"
)

// A trace of a launch: the PTX is rewritten so that each thread notes its accesses to
// global and shared memory, and its barriers, in a variable of the module. The rewritten
// PTX runs on any device and computes the same. gpu.Profile would not do: it joins the
// requests of equal patterns, whatever thread made them.

// kind is the kind of an event.
type kind uint8

const (
	load kind = iota
	store
	atomic
	blockBarrier
	warpBarrier
)

// noted is an instruction that the rewritten PTX notes.
type noted struct {
	kind   kind
	shared bool
	bytes  int // a lane
	line   int // of the CUDA source; 0 if it is not known
}

// event is an access or a barrier of one thread.
type event struct {
	*noted
	address       uint64 // of global memory, or the offset in shared memory
	thread, block gpu.Dim
}

const (
	mostEvents  = 1 << 15 // of a launch
	recordBytes = 24
	logName     = "warpbook_trace"
)

var (
	memoryLine  = regexp.MustCompile(`^\s*(@!?%\w+\s+)?(ld|st|atom|red)((?:\.\w+(?:::\w+)*)*)\s[^;]*?\[\s*([%\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]`)
	barrierLine = regexp.MustCompile(`^\s*(@!?%\w+\s+)?(bar\.warp\.sync|bar\.sync|barrier\.sync)\s`)
	locLine     = regexp.MustCompile(`^\s*\.loc\s+\d+\s+(\d+)`)
	typeSuffix  = regexp.MustCompile(`^[bsuf](\d+)$`)
)

// instrument rewrites PTX. It returns the text and the instructions by their numbers.
func instrument(text string) (string, []noted) {
	var b strings.Builder
	var all []noted
	line, declared := 0, false
	for l := range strings.Lines(text) {
		if m := locLine.FindStringSubmatch(l); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		if n, guard, address, ok := instruction(l); ok {
			n.line = line
			record(&b, guard, address, len(all))
			all = append(all, n)
		}
		b.WriteString(l)
		if !declared && strings.HasPrefix(strings.TrimSpace(l), ".address_size") {
			fmt.Fprintf(&b, "\n.visible .global .align 8 .b8 %s[%d];\n", logName, 8+mostEvents*recordBytes)
			declared = true
		}
	}
	return b.String(), all
}

// instruction reads a line of PTX: what it notes, its guard, and the PTX that puts its
// address into %wbA.
func instruction(l string) (n noted, guard, address string, ok bool) {
	if m := barrierLine.FindStringSubmatch(l); m != nil {
		n.kind = blockBarrier
		if m[2] == "bar.warp.sync" {
			n.kind = warpBarrier
		}
		return n, m[1], "mov.u64 %wbA, 0;", true
	}
	m := memoryLine.FindStringSubmatch(l)
	if m == nil {
		return n, "", "", false
	}
	switch m[2] {
	case "st":
		n.kind = store
	case "atom", "red":
		n.kind = atomic
	}
	space, bytes, lanes := false, 0, 1
	for _, part := range strings.Split(m[3], ".") {
		switch {
		case part == "global":
			space = true
		case strings.HasPrefix(part, "shared"):
			space, n.shared = true, true
		case part == "v2":
			lanes = 2
		case part == "v4":
			lanes = 4
		}
		if t := typeSuffix.FindStringSubmatch(part); t != nil {
			bits, _ := strconv.Atoi(t[1])
			bytes = bits / 8
		}
	}
	if !space || bytes == 0 { // ld.param, ld.const, ld.local
		return n, "", "", false
	}
	n.bytes = bytes * lanes
	guard = m[1]
	switch name := m[4]; {
	case strings.HasPrefix(name, "%rd"):
		address = "mov.u64 %wbA, " + name + ";"
	case strings.HasPrefix(name, "%"):
		address = "cvt.u64.u32 %wbA, " + name + ";"
	default:
		address = "mov.u64 %wbA, " + name + ";"
	}
	if m[5] != "" {
		address += " " + guard + "add.s64 %wbA, %wbA, " + m[5] + ";"
	}
	return n, guard, address, true
}

// record writes the PTX that notes an event.
func record(b *strings.Builder, guard, address string, number int) {
	fmt.Fprintf(b, `	{
	.reg .b64 %%wbA, %%wbL, %%wbO;
	.reg .b32 %%wbI, %%wbT, %%wbX;
	.reg .pred %%wbP;
	%[1]s%[2]s
	%[1]smov.u64 %%wbL, %[3]s;
	mov.u32 %%wbI, %[4]d;
	%[1]satom.global.add.u32 %%wbI, [%%wbL], 1;
	setp.lt.u32 %%wbP, %%wbI, %[4]d;
	mul.wide.u32 %%wbO, %%wbI, %[5]d;
	mov.u64 %%wbL, %[3]s;
	add.s64 %%wbL, %%wbL, %%wbO;
	@%%wbP st.global.u64 [%%wbL+8], %%wbA;
	mov.u32 %%wbT, %%tid.x;
	mov.u32 %%wbX, %%tid.y;
	shl.b32 %%wbX, %%wbX, 10;
	or.b32 %%wbT, %%wbT, %%wbX;
	mov.u32 %%wbX, %%tid.z;
	shl.b32 %%wbX, %%wbX, 20;
	or.b32 %%wbT, %%wbT, %%wbX;
	@%%wbP st.global.u32 [%%wbL+16], %%wbT;
	mov.u32 %%wbT, %%ctaid.x;
	mov.u32 %%wbX, %%ctaid.y;
	shl.b32 %%wbX, %%wbX, 10;
	or.b32 %%wbT, %%wbT, %%wbX;
	mov.u32 %%wbX, %%ctaid.z;
	shl.b32 %%wbX, %%wbX, 20;
	or.b32 %%wbT, %%wbT, %%wbX;
	@%%wbP st.global.u32 [%%wbL+20], %%wbT;
	mov.u32 %%wbT, %[6]d;
	@%%wbP st.global.u32 [%%wbL+24], %%wbT;
	}
`, guard, address, logName, mostEvents, recordBytes, number)
}

// trace runs a launch of a module's entry with the rewritten PTX. It returns the events
// up to the end, or up to the fault, which is the error; more is whether there were too
// many to note all.
func trace(dev gpu.Device, name, ptx string, l gpu.Launch, entry string) (events []event, more bool, err error) {
	text, instructions := instrument(ptx)
	module, err := dev.Load(name, text)
	if err != nil {
		return nil, false, fmt.Errorf("puzzles: the PTX that notes accesses: %w", err)
	}
	defer module.Close()
	if l.Entry, err = module.Entry(entry); err != nil {
		return nil, false, err
	}
	log, err := module.Global(logName)
	if err != nil {
		return nil, false, err
	}
	ran := dev.Launch(l)
	if err := dev.Sync(); ran == nil {
		ran = err
	}
	raw := make([]uint8, log.Len())
	if err := log.Download(raw); err != nil {
		return nil, false, err
	}
	count := int(binary.LittleEndian.Uint32(raw))
	for i := range min(count, mostEvents) {
		r := raw[8+i*recordBytes:]
		thread, block := binary.LittleEndian.Uint32(r[8:]), binary.LittleEndian.Uint32(r[12:])
		number := binary.LittleEndian.Uint32(r[16:])
		if int(number) >= len(instructions) {
			return nil, false, fmt.Errorf("puzzles: trace: event %d of instruction %d, expected one of %d", i, number, len(instructions))
		}
		events = append(events, event{noted: &instructions[number], address: binary.LittleEndian.Uint64(r), thread: unpack(thread), block: unpack(block)})
	}
	slices.SortStableFunc(events, func(a, b event) int { return compareDims(a.block, b.block) })
	return events, count > mostEvents, ran
}

func unpack(v uint32) gpu.Dim {
	return gpu.Dim{X: int(v & 1023), Y: int(v >> 10 & 1023), Z: int(v >> 20)}
}

func compareDims(a, b gpu.Dim) int {
	return cmp.Or(cmp.Compare(a.Z, b.Z), cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X))
}

// flat is the number of a thread in its block, or of a block in its grid.
func flat(at, shape gpu.Dim) int {
	shape = shape.Full()
	return (at.Z*shape.Y+at.Y)*shape.X + at.X
}

// findRace finds two accesses to one word of global memory by two threads, at least one a
// write and not both atomic, that no barrier orders. Threads of different blocks are
// ordered by nothing. Stores of equal values are a race as well. The emulator finds races
// in shared memory by itself.
func findRace(events []event, l gpu.Launch) (first, second event, found bool) {
	type counts struct{ block, warp int }
	epochs := map[[2]int]*counts{} // by block and thread
	type access struct {
		event
		id     [2]int
		epoch  counts
		strong bool
	}
	words := map[uint64][]access{}
	for _, e := range events {
		id := [2]int{flat(e.block, l.Grid), flat(e.thread, l.Block)}
		epoch := epochs[id]
		if epoch == nil {
			epoch = &counts{}
			epochs[id] = epoch
		}
		switch {
		case e.kind == blockBarrier:
			epoch.block++
			continue
		case e.kind == warpBarrier:
			epoch.warp++
			continue
		case e.shared:
			continue
		}
		now := access{e, id, *epoch, e.kind == atomic}
		for word := e.address / 4; word <= (e.address+uint64(e.bytes)-1)/4; word++ {
			for _, before := range words[word] {
				switch sameBlock := before.id[0] == id[0]; {
				case before.id == id, before.kind == load && e.kind == load, before.strong && now.strong:
				case sameBlock && before.epoch.block != epoch.block:
				case sameBlock && before.id[1]/32 == id[1]/32 && before.epoch.warp != epoch.warp:
				case !sameBlock && (before.kind == load || e.kind == load): // may be ordered by fences, which the emulator follows
				default:
					return before.event, e, true
				}
			}
			words[word] = append(words[word], now)
		}
	}
	return event{}, event{}, false
}
