package programs

import "fmt"

// asyncPrograms copy from global to shared memory asynchronously and meet at
// mbarriers.
func asyncPrograms() []Program {
	var all []Program
	for n, k := range []struct {
		cache string
		bytes int
		rest  string // the operand after the size: how much is read, or whether anything is
	}{
		{"ca", 4, ""}, {"ca", 8, ""}, {"ca", 16, ""}, {"cg", 16, ""},
		{"ca", 4, ", 0"}, {"ca", 8, ", %some"}, {"ca", 16, ", %some"}, {"cg", 16, ", %some"}, {"ca", 16, ", %ignore"}, {"cg", 16, ", %ignore"},
	} {
		for _, wait := range []string{"all", "groups", "mbarrier"} {
			all = append(all, copyProgram(fmt.Sprintf("async %d %s", n, wait), k.cache, k.bytes, k.rest, wait))
		}
	}
	return append(all, barrierPrograms()...)
}

// copyProgram copies four pieces of each thread's input to shared memory, and after the
// wait reads those of the neighbouring thread.
func copyProgram(name, cache string, bytes int, rest, wait string) Program {
	p := Program{Name: name, Blocks: 2, Threads: 64, Rows: []string{"", "", "", "", "", "", "", ""}}
	r := source(name)
	for range 16 * p.Size() {
		p.In = append(p.In, r.Uint64())
	}
	var w writer
	w.tiles(bytes)
	if wait == "mbarrier" {
		w.line("setp.ne.u32 %%q, %%thread, 0; @%%q bra ready; mbarrier.init.shared.b64 [bar], 64;\nready:")
	}
	w.line("bar.sync 0;")
	for piece := range 4 {
		w.line("cp.async.%s.shared.global [%%to+%d], [%%from+%d], %d%s;", cache, 16*piece, 16*piece, bytes, rest)
		if wait == "groups" {
			w.line("cp.async.commit_group;")
		}
	}
	switch wait {
	case "all":
		w.line("cp.async.wait_all; bar.sync 0;")
	case "groups":
		// The thread's own first two pieces are readable after the first wait.
		w.line("cp.async.wait_group 2; ld.shared.v2.b64 {%%v, %%w}, [%%to]; xor.b64 %%v, %%v, %%w; st.shared.b64 [%%to+8], %%v; cp.async.wait_group 0; bar.sync 0;")
	default:
		w.line("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\nagain: mbarrier.test_wait.parity.shared.b64 %%q, [bar], 0; @!%%q bra again;")
	}
	for row := range 8 {
		w.line("ld.shared.b64 %%v, [%%next+%d];", 8*row)
		w.store(row, p.Size(), "b64", "%v")
	}
	w.end()
	p.Text = w.String()
	return p
}

// tiles begins a program with a piece of shared memory for each thread: %to is the
// thread's piece, %next its neighbour's, %from the thread's input. %some and %ignore are
// for copies of fewer than the given number of bytes.
func (w *writer) tiles(bytes int) {
	w.header()
	w.entry()
	w.line(".shared .align 16 .b8 tile[8192]; .shared .align 8 .b64 bar; .reg .b64 %%from, %%to, %%next, %%v, %%w; .reg .b32 %%some, %%k; .reg .pred %%ignore, %%q;")
	w.line("ld.param.u64 %%from, [in]; mul.wide.u32 %%u, %%at, 64; add.s64 %%from, %%from, %%u;")
	w.line("mov.u64 %%to, tile; mul.wide.u32 %%u, %%thread, 64; add.s64 %%to, %%to, %%u;")
	w.line("xor.b32 %%k, %%thread, 1; mul.wide.u32 %%u, %%k, 64; mov.u64 %%next, tile; add.s64 %%next, %%next, %%u;")
	w.line("rem.u32 %%some, %%at, %d; and.b32 %%k, %%at, 4; setp.ne.u32 %%ignore, %%k, 0;", bytes+1)
	w.line("st.shared.v2.b64 [%%to], {0, -1}; st.shared.v2.b64 [%%to+16], {1, -2}; st.shared.v2.b64 [%%to+32], {2, -3}; st.shared.v2.b64 [%%to+48], {3, -4};")
}

// barrierPrograms sum values of all threads through shared memory, ordered by mbarriers
// of several phases. In programs with an odd number each thread must arrive twice, and
// the first arrival cannot complete the phase.
func barrierPrograms() []Program {
	var all []Program
	for n, wait := range []string{
		"mbarrier.try_wait.shared.b64 %q, [bar], %state;", "mbarrier.test_wait.shared.b64 %q, [bar], %state;",
		"mbarrier.try_wait.parity.shared.b64 %q, [bar], %phase;", "mbarrier.try_wait.shared.b64 %q, [bar], %state, 1000;",
	} {
		p := Program{Name: fmt.Sprintf("mbarrier %d", n), Blocks: 1, Threads: 96, Rows: []string{"phase 0", "phase 1", "phase 2", "pending"}}
		for t := range p.Size() {
			p.In = append(p.In, uint64(t*t+n))
		}
		owed := 1 + n%2
		var w writer
		w.header()
		w.entry()
		w.line(".shared .align 8 .b64 bar; .shared .align 8 .b64 alone; .shared .align 16 .b64 sums[4]; .reg .b64 %%state, %%v, %%sum; .reg .b32 %%phase; .reg .pred %%q;")
		w.line("ld.global.b64 %%v, [%%in]; setp.ne.u32 %%q, %%thread, 0; @%%q bra ready;")
		w.line("mbarrier.init.shared.b64 [bar], %d; st.shared.v2.b64 [sums], {0, 0}; st.shared.v2.b64 [sums+16], {0, 0};", 96*owed)
		w.line("mbarrier.init.shared.b64 [alone], 5; mbarrier.arrive.shared.b64 %%state, [alone]; mbarrier.pending_count.b64 %%phase, %%state;")
		w.line("cvt.u64.u32 %%sum, %%phase; mbarrier.inval.shared.b64 [alone];")
		w.store(3, p.Size(), "b64", "%sum")
		w.line("ready: bar.sync 0;")
		for phase := range 3 {
			w.line("atom.shared.add.u64 %%sum, [sums+%d], %%v; mov.b32 %%phase, %d;", 8*phase, phase&1)
			if owed == 2 {
				w.line("mbarrier.arrive.noComplete.shared.b64 %%state, [bar], 1;")
			}
			w.line("mbarrier.arrive.shared.b64 %%state, [bar];\nagain%d: %s @!%%q bra again%d; ld.shared.b64 %%sum, [sums+%d];", phase, wait, phase, 8*phase)
			w.store(phase, p.Size(), "b64", "%sum")
		}
		w.end()
		p.Text = w.String()
		all = append(all, p)
	}
	return all
}
