package compile

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// constants are the macros of the standard headers, as Go has them: integers in their
// 64 bits, floats as the bits of a float64.
var constants = map[string]uint64{
	"INT8_MIN": bits(math.MinInt8), "INT8_MAX": math.MaxInt8, "UINT8_MAX": math.MaxUint8,
	"INT16_MIN": bits(math.MinInt16), "INT16_MAX": math.MaxInt16, "UINT16_MAX": math.MaxUint16,
	"INT32_MIN": bits(math.MinInt32), "INT32_MAX": math.MaxInt32, "UINT32_MAX": math.MaxUint32,
	"INT64_MIN": bits(math.MinInt64), "INT64_MAX": math.MaxInt64, "UINT64_MAX": math.MaxUint64,
	"INTPTR_MIN": bits(math.MinInt64), "INTPTR_MAX": math.MaxInt64, "UINTPTR_MAX": math.MaxUint64,
	"INTMAX_MIN": bits(math.MinInt64), "INTMAX_MAX": math.MaxInt64, "UINTMAX_MAX": math.MaxUint64,
	"PTRDIFF_MIN": bits(math.MinInt64), "PTRDIFF_MAX": math.MaxInt64, "SIZE_MAX": math.MaxUint64,
	"CHAR_BIT": 8, "SCHAR_MIN": bits(math.MinInt8), "SCHAR_MAX": math.MaxInt8, "UCHAR_MAX": math.MaxUint8, "CHAR_MIN": bits(math.MinInt8), "CHAR_MAX": math.MaxInt8,
	"SHRT_MIN": bits(math.MinInt16), "SHRT_MAX": math.MaxInt16, "USHRT_MAX": math.MaxUint16,
	"INT_MIN": bits(math.MinInt32), "INT_MAX": math.MaxInt32, "UINT_MAX": math.MaxUint32,
	"LONG_MIN": bits(math.MinInt64), "LONG_MAX": math.MaxInt64, "ULONG_MAX": math.MaxUint64,
	"LLONG_MIN": bits(math.MinInt64), "LLONG_MAX": math.MaxInt64, "ULLONG_MAX": math.MaxUint64,
	"FLT_RADIX": 2, "FLT_MANT_DIG": 24, "FLT_DIG": 6, "FLT_DECIMAL_DIG": 9, "FLT_MIN_EXP": bits(-125), "FLT_MAX_EXP": 128, "FLT_MIN_10_EXP": bits(-37), "FLT_MAX_10_EXP": 38,
	"FLT_MIN": double(math.Ldexp(1, -126)), "FLT_MAX": double(math.MaxFloat32), "FLT_EPSILON": double(math.Ldexp(1, -23)), "FLT_TRUE_MIN": double(math.SmallestNonzeroFloat32),
	"DBL_MANT_DIG": 53, "DBL_DIG": 15, "DBL_DECIMAL_DIG": 17, "DBL_MIN_EXP": bits(-1021), "DBL_MAX_EXP": 1024, "DBL_MIN_10_EXP": bits(-307), "DBL_MAX_10_EXP": 308,
	"DBL_MIN": double(math.Ldexp(1, -1022)), "DBL_MAX": double(math.MaxFloat64), "DBL_EPSILON": double(math.Ldexp(1, -52)), "DBL_TRUE_MIN": double(math.SmallestNonzeroFloat64), "DECIMAL_DIG": 17,
	"INFINITY": double(math.Inf(1)), "HUGE_VALF": double(math.Inf(1)), "HUGE_VAL": double(math.Inf(1)),
	"M_E": double(math.E), "M_LOG2E": double(math.Log2E), "M_LOG10E": double(math.Log10E), "M_LN2": double(math.Ln2), "M_LN10": double(math.Ln10),
	"M_PI": double(math.Pi), "M_PI_2": double(math.Pi / 2), "M_PI_4": double(math.Pi / 4), "M_1_PI": double(1 / math.Pi), "M_2_PI": double(2 / math.Pi),
	"M_2_SQRTPI": double(2 / math.Sqrt(math.Pi)), "M_SQRT2": double(math.Sqrt2), "M_SQRT1_2": double(1 / math.Sqrt2),
}

func bits(i int64) uint64     { return uint64(i) }
func double(x float64) uint64 { return math.Float64bits(x) }

// isFloat reports whether a constant is one of float.h or math.h with a fraction.
func isFloat(name string) bool {
	return strings.HasPrefix(name, "M_") || strings.HasPrefix(name, "HUGE_") || name == "INFINITY" ||
		slices.Contains([]string{"MIN", "MAX", "EPSILON", "TRUE_MIN"}, strings.TrimPrefix(strings.TrimPrefix(name, "FLT_"), "DBL_"))
}

// run launches the last entry of a source with one thread, and returns y.
func run[T any](t *testing.T, source string, o Options, element gpu.Type, n int) []T {
	t.Helper()
	m, err := CUDA(context.Background(), "x.cu", source, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Warnings) > 0 {
		t.Errorf("warnings: %v", m.Warnings)
	}
	dev, _ := emulator(t, element)
	y, err := dev.Alloc(element, n)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Entries[len(m.Entries)-1].Launch(dev, one, one, y); err != nil {
		t.Fatal(err)
	}
	got := make([]T, n)
	if err := y.Download(got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestStandardConstants: each macro of the standard headers has the value that Go's
// packages give, declared for a cell that includes nothing, and by its header.
func TestStandardConstants(t *testing.T) {
	for name := range standardNames() {
		plain := regexp.MustCompile(`(?m)^#define ` + name + ` `)
		inFile := func(file string) bool { return plain.MatchString(standardText(file)) }
		if _, known := constants[name]; !known && name != "NAN" && slices.ContainsFunc(standardOrder, inFile) {
			t.Errorf("%s: no value in the table", name)
		}
	}
	needNVRTC(t, "")
	names := slices.Sorted(maps.Keys(constants))
	var b strings.Builder
	b.WriteString("__global__ void f(unsigned long long* y) {\n")
	for i, name := range names {
		value := "(unsigned long long)" + name
		if isFloat(name) {
			value = "__double_as_longlong((double)" + name + ")"
		}
		fmt.Fprintf(&b, "y[%d] = %s;\n", i, value)
	}
	fmt.Fprintf(&b, "y[%d] = NAN != NAN;\n}\n", len(names))
	for _, head := range []string{"", "#include <cstdint>\n#include <climits>\n#include <cfloat>\n#include <cmath>\n"} {
		got := run[uint64](t, head+b.String(), Options{}, gpu.Uint64, len(names)+1)
		for i, name := range names {
			if got[i] != constants[name] {
				t.Errorf("%q: %s is %#x, expected %#x", head, name, got[i], constants[name])
			}
		}
		if got[len(names)] != 1 {
			t.Errorf("%q: NAN equals itself", head)
		}
	}
}

// TestStandardHeaders includes every header, and uses a name of each kind of them.
func TestStandardHeaders(t *testing.T) {
	needNVRTC(t, "")
	all := ""
	for _, name := range slices.Sorted(maps.Keys(standardHeaders())) {
		all += "#include <" + name + ">\n"
	}
	got := run[float32](t, all+`struct S { int a; float b; };
__global__ void f(float* y) {
    std::uint8_t a = 300 & UINT8_MAX;
    std::array<float, 3> v{1, 2, 3};
    assert(a == 44);
    y[0] = a;
    y[1] = std::numeric_limits<float>::max() == FLT_MAX && std::is_same<std::size_t, decltype(sizeof(0))>::value;
    y[2] = v[2] + std::sqrt(16.0f) + std::abs(-1.0f);
    y[3] = offsetof(S, b) + sizeof(uint) + sizeof(std::nullptr_t);
    std::memset(v.data(), 0, sizeof v);
    y[4] = v[2];
}
`, Options{}, gpu.Float32, 5)
	if want := []float32{44, 1, 8, 16, 0}; !slices.Equal(got, want) {
		t.Errorf("y is %v, expected %v", got, want)
	}
}

// TestStandardNames: a cell that uses names of the standard headers and includes none
// gets those names alone. Its own names stay, and assert keeps to NDEBUG.
func TestStandardNames(t *testing.T) {
	needNVRTC(t, "")
	for _, c := range []struct {
		source string
		want   float32
	}{
		{"__global__ void f(float* y) { float best = -INFINITY; for (float x : {-1000.0f, -500.0f}) best = fmaxf(best, x); y[0] = best; }", -500},
		{"typedef unsigned long uint64_t;\n#define INT_MAX 3\n__global__ void f(float* y) { uint64_t n = INT_MAX; uint8_t b = 255; y[0] = n + b; }", 258},
		{"#ifndef M_PI\n#define M_PI 3\n#endif\n__global__ void f(float* y) { uint32_t two = 2; y[0] = M_PI + two; }", 5},
		{"__global__ void f(float* y) { y[0] = std::uint16_t(65537) + std::sqrt(4.0f); }", 3},
		{"__device__ uint32_t g(uint32_t x) { return x + UINT32_MAX; }\n__global__ void f(float* y) { y[0] = g(3); }", 2},
		{"#define NDEBUG\n#include <cassert>\n__global__ void f(float* y) { assert(false); y[0] = 1; }", 1},
		{"#include <stdint.h>\n__global__ void f(float* y) { uint64_t* p = (uint64_t*)y; *p = 0; atomicAdd(p, UINT64_C(1)); y[0] = *p; }", 1},
	} {
		if got := run[float32](t, c.source, Options{}, gpu.Float32, 2); got[0] != c.want {
			t.Errorf("%s\ny[0] is %v, expected %v", c.source, got[0], c.want)
		}
	}
}

// TestDotProducts: NVRTC 12.0 has no code for dp4a and dp2a.
func TestDotProducts(t *testing.T) {
	needNVRTC(t, "")
	a, b, c := rand.Uint32(), rand.Uint32(), rand.Uint32()
	source := fmt.Sprintf(`__global__ void f(int* y) {
    unsigned a = %#x, b = %#x, c = %#x;
    y[0] = __dp4a((int)a, (int)b, (int)c);
    y[1] = __dp4a(a, b, c);
    y[2] = __dp2a_lo((int)a, (int)b, (int)c);
    y[3] = __dp2a_hi(a, b, c);
    y[4] = __dp4a(*(char4*)&a, *(char4*)&b, (int)c);
    y[5] = __dp2a_hi(*(short2*)&a, *(char4*)&b, (int)c);
}`, a, b, c)
	got := run[int32](t, source, Options{}, gpu.Int32, 6)
	var want [6]int32
	for i := range want {
		want[i] = int32(c)
	}
	for i := range 4 {
		want[0] += int32(int8(a>>(8*i))) * int32(int8(b>>(8*i)))
		want[1] += int32((a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff))
	}
	for i := range 2 {
		want[2] += int32(int16(a>>(16*i))) * int32(int8(b>>(8*i)))
		want[3] += int32((a >> (16 * i) & 0xffff) * (b >> (8*i + 16) & 0xff))
		want[5] += int32(int16(a>>(16*i))) * int32(int8(b>>(8*i+16)))
	}
	want[4] = want[0]
	if !slices.Equal(got, want[:]) {
		t.Errorf("a %#x, b %#x, c %#x: %v, expected %v", a, b, c, got, want)
	}
}

// TestPowersOfInt: pow with an exponent of int works, by its own name and that of std.
func TestPowersOfInt(t *testing.T) {
	needNVRTC(t, "")
	for _, head := range []string{"", "#include <cmath>\n"} {
		got := run[float32](t, head+`__global__ void f(float* y) {
    int n = -2 + (int)blockDim.x;
    y[0] = pow(-3.0f, n + 4);
    y[1] = std::pow(2.0f, n);
    y[2] = pow(2.0, n);
    y[3] = std::pow(-0.5, -n);
    y[4] = pow(y[1], 2);
}`, Options{}, gpu.Float32, 5)
		if want := []float32{-27, 0.5, 0.5, -0.5, 0.25}; !slices.Equal(got, want) {
			t.Errorf("%q: %v, expected %v", head, got, want)
		}
	}
}
