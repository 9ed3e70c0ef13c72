package compile

import (
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

// TestExplain names the lines of a cell, also of one whose source does not
// start at its first line.
func TestExplain(t *testing.T) {
	const text = `.version 7.8
.target sm_75
.address_size 64
.file 1 "cell5.cu"
.visible .entry copy(.param .u64 x)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	.loc 1 4 1
	mov.u32 %r0, %tid.x;
	ld.param.u64 %d0, [x];
	mul.wide.u32 %d1, %r0, 64;
	add.u64 %d1, %d0, %d1;
	ld.global.u32 %r1, [%d1];
	st.global.u32 [%d1], %r1;
	ret;
}
`
	m, err := PTX("cell5.cu", text, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Compiler, m.Source, m.firstLine = "a compiler", "__global__ void copy(int* x) {\n    x[16 * threadIdx.x] += 0;\n}", 3
	d, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Alloc(gpu.Uint32, 512)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Zero(x); err != nil {
		t.Fatal(err)
	}
	r, err := m.Entries[0].Explain(d, gpu.Launch{Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{x}})
	if err != nil {
		t.Fatal(err)
	}
	if _, rows := r.Table(); len(rows) != 2 || rows[0][0] != "4" || rows[0][1] != "x[16 * threadIdx.x] += 0;" {
		t.Errorf("table %q, expected line 4 with its text", rows)
	}
	if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, "uncoalesced access at cell5.cu:4 (ld.global.u32, st.global.u32; PTX 14-15): 64") {
		t.Errorf("notes %s", notes)
	}
}

func TestInGo(t *testing.T) {
	for line, want := range map[string]string{
		"k<<<4, 256>>>(x, n);":                       "a launch is a call in Go: k.Launch(dev, gpu.Dim{X: 4}, gpu.Dim{X: 256}, x, n)",
		"reduce<256><<<g, b, 64>>>(x)":               "a launch is a call in Go: reduce_256.Run(dev, gpu.Launch{Grid: gpu.Dim{X: g}, Block: gpu.Dim{X: b}, Shared: 64, Args: []any{x}})",
		"k<<<dim3(4,2), 16>>>(x)":                    "a launch is a call in Go: k.Launch(dev, gpu.Dim{X: 4, Y: 2}, gpu.Dim{X: 16}, x)",
		"k<<<(n+1)*(m+1), 32>>>()":                   "a launch is a call in Go: k.Launch(dev, gpu.Dim{X: (n+1)*(m+1)}, gpu.Dim{X: 32})",
		"cudaFree(x);":                               "in Go: x.Free()",
		"cublasSgemm(h)":                             "cuBLAS is a host library: not offered to cells",
		"x := new(int); delete(m, 1)":                "", // Go has these, too
		`fmt.Println("cudaFree(x)") // k<<<1,1>>>()`: "",
		"a < b": "",
	} {
		if got := InGo(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
