package programs

import (
	"fmt"
	"math/rand/v2"
)

// memory is the given number of bytes of elements of a type, as 64-bit words.
func memory(r *rand.Rand, typ string, warp, bytes int) []uint64 {
	size := map[string]int{"f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "f64": 8, "s8": 1, "u8": 1, "s32": 4}[typ]
	words := make([]uint64, bytes/8)
	for i := range words {
		switch typ {
		case "s8", "u8", "s32":
			words[i] = r.Uint64()
			continue
		}
		for at := 0; at < 8; at += size {
			words[i] |= element(r, typ, warp) << (8 * at)
		}
	}
	return words
}

// movePrograms load and store 8x8 matrices by ldmatrix and stmatrix, with rows
// in any order.
func movePrograms() []Program {
	var all []Program
	for n := range 6 {
		count, trans := 1<<(n%3), ""
		if n >= 3 {
			trans = ".trans"
		}
		all = append(all, moveProgram(fmt.Sprintf("ldmatrix x%d%s", count, trans), count, trans))
	}
	return all
}

func moveProgram(name string, count int, trans string) Program {
	p := Program{Name: name, Blocks: 1, Threads: 64}
	r := source(p.Name)
	for range 2 * p.Size() {
		p.In = append(p.In, r.Uint64())
	}
	var w writer
	w.header()
	w.entry()
	w.line(".shared .align 16 .b8 tile[1024]; .shared .align 16 .b8 back[1024]; .reg .b32 %%r<4>, %%row, %%o; .reg .b64 %%a, %%b, %%v; mov.u64 %%a, tile; mov.u64 %%b, back;")
	w.line("mul.wide.u32 %%u, %%thread, 16; add.s64 %%a, %%a, %%u; add.s64 %%b, %%b, %%u;")
	w.load("%v", "b64", 0, p.Size())
	w.line("st.shared.b64 [%%a], %%v; st.shared.b64 [%%b], 0;")
	w.load("%v", "b64", 1, p.Size())
	w.line("st.shared.b64 [%%a+8], %%v; st.shared.b64 [%%b+8], 0; bar.sync 0;")
	// Rows are 3 apart, modulo the 64 of the tile; each warp begins at another one.
	w.line("mad.lo.u32 %%row, %%thread, 3, 5; and.b32 %%row, %%row, 63; mul.wide.u32 %%u, %%row, 16; mov.u64 %%a, tile; add.s64 %%a, %%a, %%u; mov.u64 %%b, back; add.s64 %%b, %%b, %%u;")
	w.line("ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%a];", count, trans, registers("r", count))
	for j := range count {
		w.store(j, p.Size(), "b32", fmt.Sprintf("%%r%d", j))
		p.Rows = append(p.Rows, fmt.Sprintf("register %d", j))
	}
	w.line("stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%b], %s; bar.sync 0;", count, trans, registers("r", count))
	w.line("mul.wide.u32 %%u, %%thread, 16; mov.u64 %%b, back; add.s64 %%b, %%b, %%u;")
	for j := range 2 {
		w.line("ld.shared.b64 %%v, [%%b+%d];", 8*j)
		w.store(count+j, p.Size(), "b64", "%v")
		p.Rows = append(p.Rows, fmt.Sprintf("stored %d", j))
	}
	w.end()
	p.Text = w.String()
	return p
}
