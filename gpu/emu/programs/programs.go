// Package programs generates PTX programs that compare a device with a GPU bit
// for bit: instructions on corner values, random arithmetic, divergent control
// flow, exchanges between lanes, memory, atomics, calls, asynchronous copies
// and matrix instructions.
//
// Programs are the same in every run: each is generated from its name. Their results do
// not depend on the order in which threads run. testdata holds the results of an H200 and,
// of the programs made later, of an H100; the test runs the programs on the emulator, or on the device that WARPBOOK_DEVICE
// names.
//
// Its main type is Program; only tests of emu use it. It checks no counters, faults or
// times, and no instruction whose result the manual leaves open and a GPU may change. It
// must not import emu except in tests.
package programs

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Program is a module with the entry run(out, in), launched with Blocks x Threads
// threads. The entry reads the elements of In and stores Rows results of each thread:
// that of row r and thread t is element r*Blocks*Threads + t of out. Elements that it
// does not write are 0.
type Program struct {
	Name    string
	Text    string
	Blocks  int
	Threads int // per block
	In      []uint64
	Rows    []string // the content of each row, such as the instruction

	// Texels, if not nil, are what a third parameter is an object of.
	Texels *Texels

	// Approximate programs hold functions that a GPU does not round correctly:
	// they are compared within a bound.
	Approximate bool
}

// Size is the number of threads, and of results per row.
func (p *Program) Size() int { return p.Blocks * p.Threads }

// All returns every program.
func All() []Program {
	var all []Program
	for _, family := range []func() []Program{formPrograms, randomPrograms, warpPrograms, memoryPrograms,
		atomicPrograms, callPrograms, asyncPrograms, matrixPrograms, texturePrograms} {
		all = append(all, family()...)
	}
	return all
}

// source makes the random numbers of a program from its name.
func source(name string) *rand.Rand {
	var seed uint64 = 14695981039346656037 // FNV-1a
	for _, c := range []byte(name) {
		seed = (seed ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, 0))
}

// writer collects the text of a module.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, format+"\n", args...)
}

// header begins a module.
func (w *writer) header() { w.headerFor("", "sm_90") }

// headerFor begins a module of a version, 8.0 if it is empty, and target.
func (w *writer) headerFor(version, target string) {
	if version == "" {
		version = "8.0"
	}
	w.line(".version %s\n.target %s\n.address_size 64", version, target)
}

// entry begins the entry: %at is the thread's number in the grid, %in and %out
// the addresses of its first element and result, %lane and %thread its numbers
// in warp and block.
func (w *writer) entry() {
	w.line(".visible .entry run(.param .u64 out, .param .u64 in) {")
	w.line(".reg .b32 %%at, %%thread, %%lane, %%t; .reg .b64 %%in, %%out, %%u;")
	w.line("mov.u32 %%thread, %%tid.x; mov.u32 %%lane, %%laneid; mov.u32 %%at, %%ctaid.x; mov.u32 %%t, %%ntid.x;")
	w.line("mad.lo.u32 %%at, %%at, %%t, %%thread; mul.wide.u32 %%u, %%at, 8;")
	w.line("ld.param.u64 %%in, [in]; add.s64 %%in, %%in, %%u; ld.param.u64 %%out, [out]; add.s64 %%out, %%out, %%u;")
}

// load reads element k of the thread into a register of a type.
func (w *writer) load(register, typ string, k, size int) {
	w.line("ld.global.%s %s, [%%in+%d];", typ, register, 8*k*size)
}

// store writes a register to a row of results.
func (w *writer) store(row, size int, typ, register string) {
	w.line("st.global.%s [%%out+%d], %s;", bitsOf(typ), 8*row*size, register)
}

// end closes the entry.
func (w *writer) end() { w.line("ret;\n}") }

// bytesOf is the size of a type such as "f32".
func bytesOf(typ string) int {
	switch strings.TrimLeft(typ, "busf") {
	case "8":
		return 1
	case "16":
		return 2
	case "64":
		return 8
	}
	return 4
}

func bitsOf(typ string) string { return fmt.Sprintf("b%d", 8*bytesOf(typ)) }

// pick returns one of the choices.
func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }
