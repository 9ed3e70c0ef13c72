// Package trace notes which thread of a launch touches which address: each access to global
// and shared memory, and each barrier. Its main function is Run; notebook 14 and the pictures
// of benches call it. It rewrites the PTX so that each thread notes its accesses in a variable
// of the module; the rewritten PTX runs on any device and computes the same. gpu.Profile would
// not do: it joins the requests of equal patterns, whatever thread made them. It must not
// import ops or kernel.
package trace

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

// Kind is the kind of an event.
type Kind uint8

// The kinds of events.
const (
	Load Kind = iota
	Store
	Atomic
	BlockBarrier
	WarpBarrier
)

// Instruction is one that the rewritten PTX notes.
type Instruction struct {
	Kind   Kind
	Shared bool
	Bytes  int // of a lane; 0 for a barrier
	Line   int // of the CUDA source; 0 if it is not known
}

// Event is an access or a barrier of one thread.
type Event struct {
	*Instruction
	Address       uint64 // of global memory, or the offset in shared memory
	Thread, Block gpu.Dim
}

// Most is how many events of a launch are noted.
const Most = 1 << 15

const (
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
func instrument(text string, wanted func(Instruction) bool) (string, []Instruction) {
	var b strings.Builder
	var all []Instruction
	line, declared := 0, false
	for l := range strings.Lines(text) {
		if m := locLine.FindStringSubmatch(l); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		if n, guard, address, ok := instruction(l); ok && (wanted == nil || wanted(n)) {
			n.Line = line
			record(&b, guard, address, len(all))
			all = append(all, n)
		}
		b.WriteString(l)
		if !declared && strings.HasPrefix(strings.TrimSpace(l), ".address_size") {
			fmt.Fprintf(&b, "\n.visible .global .align 8 .b8 %s[%d];\n", logName, 8+Most*recordBytes)
			declared = true
		}
	}
	return b.String(), all
}

// instruction reads a line of PTX: what it notes, its guard, and the PTX that puts its
// address into %wbA.
func instruction(l string) (n Instruction, guard, address string, ok bool) {
	if m := barrierLine.FindStringSubmatch(l); m != nil {
		n.Kind = BlockBarrier
		if m[2] == "bar.warp.sync" {
			n.Kind = WarpBarrier
		}
		return n, m[1], "mov.u64 %wbA, 0;", true
	}
	m := memoryLine.FindStringSubmatch(l)
	if m == nil {
		return n, "", "", false
	}
	switch m[2] {
	case "st":
		n.Kind = Store
	case "atom", "red":
		n.Kind = Atomic
	}
	space, bytes, lanes := false, 0, 1
	for _, part := range strings.Split(m[3], ".") {
		switch {
		case part == "global":
			space = true
		case strings.HasPrefix(part, "shared"):
			space, n.Shared = true, true
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
	n.Bytes = bytes * lanes
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
`, guard, address, logName, Most, recordBytes, number)
}

// Run runs a launch of a module's entry with the rewritten PTX, which notes the wanted
// instructions, all for nil. It returns the events up to the end, or up to the fault, which
// is the error; more is whether there were too many to note all. Events of a block are in the
// order in which they ran.
func Run(dev gpu.Device, name, ptx string, l gpu.Launch, entry string, wanted func(Instruction) bool) (events []Event, more bool, err error) {
	text, instructions := instrument(ptx, wanted)
	module, err := dev.Load(name, text)
	if err != nil {
		return nil, false, fmt.Errorf("trace: the PTX that notes accesses: %w", err)
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
	for i := range min(count, Most) {
		r := raw[8+i*recordBytes:]
		thread, block := binary.LittleEndian.Uint32(r[8:]), binary.LittleEndian.Uint32(r[12:])
		number := binary.LittleEndian.Uint32(r[16:])
		if int(number) >= len(instructions) {
			return nil, false, fmt.Errorf("trace: event %d of instruction %d, expected one of %d", i, number, len(instructions))
		}
		events = append(events, Event{Instruction: &instructions[number], Address: binary.LittleEndian.Uint64(r), Thread: unpack(thread), Block: unpack(block)})
	}
	slices.SortStableFunc(events, func(a, b Event) int { return compareDims(a.Block, b.Block) })
	return events, count > Most, ran
}

func unpack(v uint32) gpu.Dim {
	return gpu.Dim{X: int(v & 1023), Y: int(v >> 10 & 1023), Z: int(v >> 20)}
}

func compareDims(a, b gpu.Dim) int {
	return cmp.Or(cmp.Compare(a.Z, b.Z), cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X))
}

// Addresses are those of buffers in global memory.
func Addresses(dev gpu.Device, buffers []gpu.Buffer) ([]uint64, error) {
	module, err := dev.Load("address.ptx", `.version 6.4
.target sm_30
.address_size 64
.visible .entry address(.param .u64 at, .param .u64 out)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [at];
	ld.param.u64 %rd2, [out];
	st.global.u64 [%rd2], %rd1;
	ret;
}
`)
	if err != nil {
		return nil, err
	}
	defer module.Close()
	entry, err := module.Entry("address")
	if err != nil {
		return nil, err
	}
	out, err := dev.Alloc(gpu.Uint64, 1)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	var all []uint64
	for _, b := range buffers {
		at := make([]uint64, 1)
		if err := dev.Launch(gpu.Launch{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{b, out}}); err != nil {
			return nil, err
		}
		if err := dev.Sync(); err != nil {
			return nil, err
		}
		if err := out.Download(at); err != nil {
			return nil, err
		}
		all = append(all, at[0])
	}
	return all, nil
}
