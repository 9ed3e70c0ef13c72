// Package engine lowers entries of PTX modules to programs and runs them, 32 lanes at a
// time. Its main type is Engine. Package emu, the device, uses it, and a debugger follows
// launches (follow.go):
//
//	e := engine.New(info, memory, resources)   // of a GPU
//	p, err := e.Lower(module, entry)           // once for each entry
//	l, err := e.Prepare(p, launch)             // copies the arguments
//	err = l.Run(e.Interrupts())                // stores counters, profile and warnings; a fault is the error
//	l.Release()
//
// It knows allocations (package mem) and no buffers: the device implements Resources,
// which finds the allocation of a buffer and the number of a texture or surface object.
// It must not import package emu. Its files have three layers, each of which uses only those
// below it:
//
//   - forms: a file for each family of instructions has its lowering and its execution. forms.go
//     and op_table.go are the table; form_control.go, form_barrier.go, form_bits.go and vector.go
//     with arithmetic and control flow, move.go, compare.go and form_convert.go; form_memory.go,
//     shuffle.go, sync.go; async.go, mbarrier.go and bulk_copy.go with package copyengine; mma.go,
//     wmma.go, wgmma.go and ldmatrix.go with package matrix; form_texture.go with package texture;
//     printf.go with package cformat.
//   - lowering: lower.go gets the table of forms, op.go has what a form may call.
//   - execution: program.go, warp.go, schedule.go, launch.go, access.go and what they need.
//
// The path of an entry from text to results: package flow inlines device functions and
// orders the blocks of the control flow; lower.go turns each instruction into one that
// works on 32 lanes, by its form (forms.go) or by its row in package arith (op_table.go);
// registers.go assigns slots to registers; vector.go maps simple instructions to assembly
// (package simd). prepare.go stores the arguments of a launch; residency.go gives blocks
// of the grid to workers, one for each processor; schedule.go runs the warps of a block,
// and warp.go merges their lanes again after a branch.
//
// Package races searches for races. Execution knows the search by the interface raceSearch
// (schedule.go): race.go and global_race.go implement it, tell package races of accesses and
// make faults of what that finds (race_fault.go, global_fault.go); cluster_race.go is the search
// on the shared memory of clusters. ordering.go tells it of barriers.
// Package hang finds launches that never end, by an interface that hang.go implements; package
// analysis answers questions about the code (analysed.go), such as which threads go past a
// barrier. If the address of an access starts from exactly one parameter, the access must stay
// in that parameter's buffer; the bounds of a view are not checked (provenance.go).
//
// fault.go describes faults, with names of the source by package names. Execution knows what
// explains them by the interface explainer (launch.go): standing.go tells where warps are,
// absent.go which lanes do not come to a .sync operation that names them, overflow.go which
// index overflowed on the way to an address. warning.go has the defects that end
// no launch on a GPU, undefined.go the uses of values that a shuffle read from an
// inactive lane. counters.go counts accesses, and profile.go counts them by instruction.
//
// Of the orders in which a GPU may execute Hopper's asynchronous instructions, the engine
// runs one. A copy into shared memory ends when a thread accesses its mbarrier, a copy
// out of it runs at once, and each warp multiplies its rows when it executes
// wgmma.mma_async. So it finds a read of a tile without a wait, a source that is written
// before the wait for its group, registers of wgmma that are accessed before the wait
// (wgmma_registers.go) and, with the search for races, a missing fence.proxy.async. No
// counter includes bytes that the copy engine moves. Tensor maps have an encoding of the
// engine's own.
package engine
