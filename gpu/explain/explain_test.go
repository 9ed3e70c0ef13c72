package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

// transpose is y = x^T of a matrix of n x n through a tile of 32 rows of a
// pitch, in words; without a tile each lane reads a row.
func transpose(pitch int) string {
	return fmt.Sprintf(`.version 7.8
.target sm_75
.address_size 64
.file 1 "transpose.cu"
.visible .entry transpose(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .b32 %%r<20>;
	.reg .b64 %%d<10>;
	.shared .align 4 .b8 tile[%d];
	.loc 1 2 1
	mov.u32 %%r0, %%tid.x;
	mov.u32 %%r1, %%tid.y;
	ld.param.u64 %%d0, [x];
	ld.param.u64 %%d1, [y];
	ld.param.u32 %%r2, [n];
	mad.lo.u32 %%r3, %%r1, %%r2, %%r0;
	mul.wide.u32 %%d2, %%r3, 4;
	add.u64 %%d3, %%d0, %%d2;
	mov.u32 %%r4, tile;
	mad.lo.u32 %%r5, %%r1, %d, %%r0;
	shl.b32 %%r5, %%r5, 2;
	add.u32 %%r5, %%r5, %%r4;
	mad.lo.u32 %%r6, %%r0, %d, %%r1;
	shl.b32 %%r6, %%r6, 2;
	add.u32 %%r6, %%r6, %%r4;
	.loc 1 3 1
	ld.global.u32 %%r7, [%%d3];
	st.shared.u32 [%%r5], %%r7;
	.loc 1 4 1
	bar.sync 0;
	.loc 1 5 1
	ld.shared.u32 %%r8, [%%r6];
	add.u64 %%d4, %%d1, %%d2;
	st.global.u32 [%%d4], %%r8;
	.loc 1 6 1
	mad.lo.u32 %%r9, %%r0, %%r2, %%r1;
	mul.wide.u32 %%d5, %%r9, 4;
	add.u64 %%d5, %%d0, %%d5;
	ld.global.u32 %%r10, [%%d5];
	st.global.u32 [%%d4], %%r10;
	ret;
}
`, 32*4*pitch, pitch, pitch)
}

const transposeSource = `__global__ void transpose(const int* x, int* y, int n) {
    int c = threadIdx.x, r = threadIdx.y;
    tile[r][c] = x[r * n + c];
    __syncthreads();
    y[r * n + c] = tile[c][r];
    y[r * n + c] = x[c * n + r];
}
`

// explained runs an entry of a PTX text on the emulator.
func explained(t *testing.T, name, text, entry string, block gpu.Dim, args func(x, y gpu.Buffer) []any, sources ...Source) (*Report, gpu.Counters) {
	t.Helper()
	d, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(name, text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry(entry)
	if err != nil {
		t.Fatal(err)
	}
	var buffers [2]gpu.Buffer
	for i := range buffers {
		if buffers[i], err = d.Alloc(gpu.Uint32, 1<<12); err != nil {
			t.Fatal(err)
		}
		if err := buffers[i].Upload(make([]uint32, 1<<12)); err != nil {
			t.Fatal(err)
		}
	}
	var c gpu.Counters
	r, err := Launch(d, gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: block, Args: args(buffers[0], buffers[1]), Counters: &c}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

func explainTranspose(t *testing.T, pitch int) (*Report, gpu.Counters) {
	return explained(t, "transpose.ptx", transpose(pitch), "transpose", gpu.Dim{X: 32, Y: 32},
		func(x, y gpu.Buffer) []any { return []any{x, y, uint32(64)} }, Source{"transpose.cu", transposeSource})
}

func find(t *testing.T, r *Report, kind string) *Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Kind == kind {
			return f
		}
	}
	t.Fatalf("no %s in %q", kind, r.Notes())
	return nil
}

// TestTranspose explains the conflicts of a tile without padding. The cost that the
// report predicts for padding is the count of the padded kernel.
func TestTranspose(t *testing.T) {
	r, c := explainTranspose(t, 32)
	f := find(t, r, BankConflict)
	if f.At != "transpose.cu:5" || f.Text != "y[r * n + c] = tile[c][r];" || !slices.Equal(f.Instructions, []string{"ld.shared.u32"}) ||
		f.Cost != 32*32 || f.Best != 32 || f.Cost != c.SharedLoad.Wavefronts {
		t.Errorf("finding %+v, expected 1024 wavefronts at line 5, 32 at best", f)
	}
	i := slices.IndexFunc(f.Remedies, func(r Remedy) bool {
		return strings.Contains(r.Change, "give tile 1 word behind every 32, so that a row of 32 has 33")
	})
	if i < 0 {
		t.Fatalf("remedies %v, expected a row of 33", f.Remedies)
	}
	_, padded := explainTranspose(t, 33)
	if got, want := f.Remedies[i].After, padded.SharedLoad.Wavefronts+padded.SharedStore.Wavefronts; got != want {
		t.Errorf("the padded tile is said to take %d wavefronts, and takes %d", got, want)
	}
	columns, rows, text, level := f.Cells()
	if len(columns) != 32 || len(rows) != 32 || text[0][0] != "1" || text[0][31] != "32" || text[1][5] != "" || level[0][31] != mostLevels {
		t.Errorf("picture of %d x %d: %q, expected all lanes in bank 0, one after the other", len(columns), len(rows), text[0])
	}
	if legend := f.Legend(); len(legend) != mostLevels || legend[5] != "wavefronts 6 to 32" {
		t.Errorf("legend %q", legend)
	}
	if notes := strings.Join(f.Notes(), "\n"); !strings.Contains(notes, "Bank 0 is asked for word 0 (lane 0), word 32 (lane 1), word 64 (lane 2), word 96 (lane 3), 28 more words.") {
		t.Errorf("notes %s", notes)
	}
}

// A bank that lanes of several groups ask for counts once: there are 32.
func TestCollisionCountsBanksOnce(t *testing.T) {
	p := gpu.Pattern{Mask: ^uint32(0), Bytes: 16}
	for lane := range p.Address {
		p.Address[lane] = uint64(512 * lane) // banks 0 to 3, in each of four groups
	}
	if text := collision(&p); !strings.HasSuffix(text, "; 3 other banks are asked for more than one word, too.") {
		t.Errorf("%s, expected 3 other banks", text)
	}
}

// TestPaddedTile has nothing to explain about its tile.
func TestPaddedTile(t *testing.T) {
	r, _ := explainTranspose(t, 33)
	for _, f := range r.Findings {
		if f.Kind == BankConflict {
			t.Errorf("%s: %v", f.Title(), f.Notes())
		}
	}
}

// TestUncoalesced explains the reads of a column.
func TestUncoalesced(t *testing.T) {
	r, _ := explainTranspose(t, 33)
	f := find(t, r, Uncoalesced)
	if f.At != "transpose.cu:6" || f.Cost != 32*32 || f.Best != 32*4 || len(f.Remedies) != 1 || f.Remedies[0].After != f.Best {
		t.Errorf("finding %+v, expected 1024 sectors, 128 at best, and a remedy to that", f)
	}
	if s := f.Remedies[0].String(); !strings.Contains(s, "256 bytes apart") || !strings.Contains(s, "threadIdx.x") {
		t.Errorf("remedy %q", s)
	}
	_, rows, text, level := f.Cells()
	if len(rows) != 32 || rows[1] != "+256" || text[31][0] != "31" || level[31][0] != 1 || level[31][7] != 2 || level[31][8] != 0 {
		t.Errorf("sector map of %d rows, %q %v, expected one word of a sector in each of 32 lines", len(rows), text[31], level[31])
	}
}

// TestMisaligned explains words side by side that start in the middle of a
// sector.
func TestMisaligned(t *testing.T) {
	text := strings.ReplaceAll(transpose(33), "[%d3]", "[%d3+4]")
	r, _ := explained(t, "transpose.ptx", text, "transpose", gpu.Dim{X: 32, Y: 32},
		func(x, y gpu.Buffer) []any { return []any{x, y, uint32(64)} })
	f := r.Findings[slices.IndexFunc(r.Findings, func(f *Finding) bool { return f.At == "transpose.cu:3" })]
	if f.Cost != 32*5 || f.Best != 32*4 || len(f.Remedies) != 1 || f.Remedies[0].After != 32*4 || !strings.Contains(f.Remedies[0].Change, "multiple of 32 bytes") {
		t.Errorf("finding %+v, expected 5 sectors a request and a start at a multiple of 32", f)
	}
}

// TestLines sums up by source line; instructions without a line share one row.
func TestLines(t *testing.T) {
	r, c := explainTranspose(t, 32)
	names, rows := r.Table()
	var sum Line
	for i := range r.Lines {
		sum.Warps += r.Lines[i].Warps
		sum.Shared.Add(r.Lines[i].Shared)
	}
	if sum.Warps != c.WarpInstructions || sum.Shared.Wavefronts != c.SharedLoad.Wavefronts+c.SharedStore.Wavefronts {
		t.Errorf("lines have %d instructions and %d wavefronts, the launch %+v", sum.Warps, sum.Shared.Wavefronts, c)
	}
	if len(rows) != 6 || rows[1][0] != "3" || rows[1][1] != "tile[r][c] = x[r * n + c];" || rows[5][1] != "all lines" {
		t.Errorf("table %q %q, expected lines 2 to 6 and the sum", names, rows)
	}
	if r.Title() != "transpose, by line of transpose.cu" {
		t.Errorf("title %q, expected the file that the lines are of", r.Title())
	}
	r.Lines[0].File = "other.cuh"
	if _, rows := r.Table(); rows[0][0] != "other.cuh:2" || rows[1][0] != "transpose.cu:3" {
		t.Errorf("lines of two files %q, expected their names", rows)
	}
	if slices.Contains(names, "local sectors") || !slices.Contains(names, "bank conflicts") {
		t.Errorf("columns %q, expected those in which something was counted", names)
	}
}

// TestIdleLanes finds the lanes that a branch leaves idle.
func TestIdleLanes(t *testing.T) {
	text := strings.Replace(transpose(32), ".loc 1 5 1", ".loc 1 4 1\n.reg .pred %p; setp.lt.u32 %p, %r0, 24; @%p bra done;\n.loc 1 5 1", 1)
	text = strings.Replace(text, "	ret;", "done:\n	ret;", 1)
	r, _ := explained(t, "transpose.ptx", text, "transpose", gpu.Dim{X: 32, Y: 32}, func(x, y gpu.Buffer) []any { return []any{x, y, uint32(64)} })
	for i := range r.Lines {
		l := &r.Lines[i]
		if idle := map[int]float64{5: 0.75, 6: 0.75 * 5 / 6}[l.Line]; l.Idle() != idle {
			t.Errorf("line %d: %g of the lanes idle, expected %g", l.Line, l.Idle(), idle)
		}
		if want := map[int]uint64{4: 32}[l.Line]; l.Divergent != want {
			t.Errorf("line %d: %d divergent branches, expected %d", l.Line, l.Divergent, want)
		}
	}
}

// TestRefused explains nothing on a device that cannot count.
func TestRefused(t *testing.T) {
	if _, err := Launch(gpuOnly{}, gpu.Launch{}); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("%v, expected it to be unsupported", err)
	}
}

type gpuOnly struct{ gpu.Stream }

func (gpuOnly) Launch(l gpu.Launch) error {
	if l.Profile == nil {
		return nil
	}
	return gpu.ErrUnsupported
}
