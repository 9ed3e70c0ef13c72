package llvm

import (
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

// sample is intermediate code with what each part of the package handles: phis, a vector
// load, a product to fuse, inline assembly, a call, local and shared memory, places.
func sample(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/sample.ll")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var options = Options{Target: "sm_75", Version: "6.3"}

// TestSample runs the sample on the emulator.
func TestSample(t *testing.T) {
	text, err := PTX(sample(t), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fma.rn.f32", "ld.global.nc.v4.b32", ".loc 1 7 ", "\t.file\t1 \"sample.cu\"", "call.uni (retval0), _Z5twicef", ".local .align 4"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	d, e := entry(t, text, "sample")
	const n = 32
	x, y := make([]float32, 4*n), make([]float32, n)
	for i := range x {
		x[i] = float32(i % 7)
	}
	in, out := array(t, d, gpu.Float32, x), array(t, d, gpu.Float32, y)
	if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: n}, Args: []any{in, out, uint32(3)}, Checks: gpu.CheckAll}); err != nil {
		t.Fatal(err)
	}
	if err := out.Download(y); err != nil {
		t.Fatal(err)
	}
	want := make([]float32, n)
	for i := range want {
		q := x[4*i : 4*i+4]
		sum := q[0]*q[1] + q[2]
		for range 3 { // the loop
			sum += q[3]
		}
		want[i] = 2*sum + float32(n-1-i)
	}
	if !slices.Equal(y, want) {
		t.Errorf("y = %v, expected %v\n%s", y, want, text)
	}
}

// entry loads PTX on an emulator.
func entry(t *testing.T, text, name string) (gpu.Device, gpu.Entry) {
	t.Helper()
	d, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	m, err := d.Load(name+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry(name)
	if err != nil {
		t.Fatal(err)
	}
	return d, e
}

func array[T float32 | uint32](t *testing.T, d gpu.Device, of gpu.Type, values []T) gpu.Buffer {
	t.Helper()
	b, err := d.Alloc(of, len(values))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Free() })
	if err := b.Upload(values); err != nil {
		t.Fatal(err)
	}
	return b
}

// fma is x*y + z, rounded once.
func fma(x, y, z float32) float32 {
	number := func(x float32) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(float64(x)) }
	sum := number(0).Add(number(0).Mul(number(x), number(y)), number(z))
	rounded, _ := sum.Float32()
	return rounded
}

// TestKernels runs small kernels y[t] = f(x[t]), each in a file of testdata.
func TestKernels(t *testing.T) {
	for name, want := range map[string]func(x uint32) uint32{
		"early": func(x uint32) uint32 {
			for range 3 {
				x *= x + 2
			}
			return x
		},
		"results": func(x uint32) uint32 { return 27 * x },
		"struct":  func(x uint32) uint32 { return 2*x + 3*100 + 1000 },
		"abs": func(x uint32) uint32 {
			low, high := int16(x), int16(x>>16)
			return uint32(uint16(max(low, -low))) | uint32(uint16(max(high, -high)))<<16
		},
		"narrow": func(x uint32) uint32 { return x & 15 },
		"products": func(x uint32) uint32 {
			a := float32(x)
			square := a * a
			return math.Float32bits(fma(-a, a, a)) ^ math.Float32bits(fma(a, a, 1)) ^ 5*math.Float32bits(fma(square, a, a))
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, err := os.ReadFile("testdata/" + name + ".ll")
			if err != nil {
				t.Fatal(err)
			}
			text, err := PTX(string(code), options)
			if err != nil {
				t.Fatal(err)
			}
			d, e := entry(t, text, "k")
			const n = 64
			x, y := make([]uint32, n), make([]uint32, n)
			for i := range x {
				x[i] = uint32(i)*0x9e3779b9 + 0xfff3 // signs and bits above each width
			}
			in, out := array(t, d, gpu.Uint32, x), array(t, d, gpu.Uint32, y)
			if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: n}, Args: []any{in, out}, Checks: gpu.CheckAll}); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if err := out.Download(y); err != nil {
				t.Fatal(err)
			}
			for i := range x {
				if y[i] != want(x[i]) {
					t.Fatalf("f(%#x) = %#x, expected %#x\n%s", x[i], y[i], want(x[i]), text)
				}
			}
		})
	}
}

// TestUnknown: what the package lacks is one line that names it and the line of the source.
func TestUnknown(t *testing.T) {
	text := sample(t)
	for _, c := range []struct{ old, with, want string }{
		{"fadd contract float %14, %23", "fpow contract float %14, %23", `llvm: line 43 of the intermediate code: unknown instruction "fpow"`},
		{"i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "i32 @llvm.nvvm.nothing()", "llvm: sample.cu:5: unknown intrinsic @llvm.nvvm.nothing"},
		{"i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "i32 @llvm.nothing.i32()", "llvm: sample.cu:5: unknown intrinsic @llvm.nothing.i32"},
		{`"=r,r"`, `"=q,r"`, `llvm: sample.cu:9: constraint "=q" of inline assembly is not supported for its result`},
		{"add nuw i32 %22, 1", "add nuw i96 %22, 1", "llvm: sample.cu:8: a number of 96 bits is not supported, expected at most 64, or 128"},
		{"add nuw i32 %22, 1", "add nuw i128 %22, 1", "llvm: sample.cu:8: a value of type i32, expected i128"},
		{"label %43, !dbg", "label %99, !dbg", "llvm: line 80 of the intermediate code: block 99 is used and not defined"},
		{"float %14, %23", "float %14, %98", "%98 is used and not defined"},
	} {
		changed := strings.Replace(text, c.old, c.with, 1)
		if changed == text {
			t.Fatalf("%q is not in the sample", c.old)
		}
		if _, err := PTX(changed, options); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %q", c.with, err, c.want)
		}
	}
}

// TestMistake: a panic of the package is one line with the line of the source.
func TestMistake(t *testing.T) {
	code := strings.Replace(sample(t), "sub i32 31, %20,", "tail call i32 @llvm.umin.i32(i32 31),", 1)
	const want = "llvm: sample.cu:12: mistake of warpbook's back end: runtime error: index out of range [1] with length 1"
	if _, err := PTX(code, options); err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// FuzzPTX: text that is no module is an error and no panic.
func FuzzPTX(f *testing.F) {
	text := sample(f)
	for i := 0; i < len(text); i += len(text)/60 + 1 {
		f.Add(text[:i])
		f.Add(text[i:])
		f.Add(text[:i] + text[min(len(text), i+9):])
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := PTX(text, options); err != nil && (!strings.HasPrefix(err.Error(), "llvm: ") || strings.Contains(err.Error(), "mistake of warpbook")) {
			t.Error(err)
		}
	})
}
