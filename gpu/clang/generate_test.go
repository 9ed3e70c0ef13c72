package clang

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A writer writes random kernels of CUDA C++: arithmetic of all widths, branches, loops,
// shared and local memory, vectors, warps. Their results are defined: no signed overflow,
// no undefined shift, no division by zero, no place out of bounds.
type writer struct {
	*rand.Rand
	strings.Builder
	depth int    // of statements
	name  string // of the kernel
}

// threads is the block of each kernel, words how many it reads and writes.
const threads, words = 64, 256

// kernel writes one kernel of parameters x (words ints) and y (words results).
func (w *writer) kernel(name string) {
	w.name = name
	fmt.Fprintf(w, "struct quad_%[1]s { unsigned a, b, c; float d; };\n"+
		"__device__ __noinline__ quad_%[1]s swapped_%[1]s(unsigned by, quad_%[1]s q) { return {q.c + by, q.a ^ by, q.b, q.d * 0.5f}; }\n", name)
	fmt.Fprintf(w, "extern \"C\" __global__ void %s(const int* x, unsigned* y, unsigned n) {\n", name)
	w.WriteString("unsigned t = threadIdx.x, u = x[t], v = x[t + 64] ^ t;\n" +
		"int i = x[(t + 7) & 255] >> 3, j = (int)t - 20;\nlong long l = (long long)i * j; unsigned long long m = (unsigned long long)u << 9;\n" +
		"float f = (float)(x[t] & 0xffff) * 0.25f, g = (float)j; double d = (double)i * 0.5;\nshort s = (short)x[t]; unsigned char c = (unsigned char)u; bool b = u & 1;\n" +
		"__shared__ unsigned tile[64]; __shared__ float4 quads[64];\nunsigned own[8]; for (int k = 0; k < 8; k++) own[k] = u + k;\n" +
		"tile[t] = u; quads[t] = make_float4(f, g, f + g, 1.0f); __syncthreads();\n")
	for range 3 + w.IntN(5) {
		w.statement()
	}
	w.WriteString("y[t] = u ^ (unsigned)i; y[t + 64] = v + (unsigned)j + (unsigned)s + c + b; y[t + 128] = __float_as_uint(f) ^ __float_as_uint(g) ^ (unsigned)__double_as_longlong(d);\n" +
		"y[t + 192] = (unsigned)l ^ (unsigned)(l >> 32) ^ (unsigned)m ^ (unsigned)(m >> 32) ^ own[t & 7] ^ tile[(t + 1) & 63];\n}\n")
}

func (w *writer) pick(list ...string) string { return list[w.IntN(len(list))] }

func (w *writer) statement() {
	w.depth++
	defer func() { w.depth-- }()
	n := w.IntN(19)
	if w.depth > 2 {
		n = w.IntN(10)
	}
	switch n {
	case 0, 1:
		fmt.Fprintf(w, "%s = %s;\n", w.pick("u", "v"), w.unsigned(3))
	case 2:
		fmt.Fprintf(w, "%s = (int)(%s);\n", w.pick("i", "j"), w.unsigned(2))
	case 3:
		fmt.Fprintf(w, "%s = %s;\n", w.pick("f", "g"), w.float(3))
	case 4:
		fmt.Fprintf(w, "d = %s;\n", w.double(2))
	case 5:
		fmt.Fprintf(w, "m = %s; l = (long long)(m ^ %s);\n", w.long(2), w.long(1))
	case 6:
		fmt.Fprintf(w, "s = (short)(%s); c = (unsigned char)(%s);\n", w.unsigned(2), w.unsigned(1))
	case 7:
		fmt.Fprintf(w, "b = %s;\n", w.condition(2))
	case 8:
		fmt.Fprintf(w, "own[(%s) & 7] %s %s;\n", w.unsigned(1), w.pick("=", "+=", "^="), w.unsigned(2))
	case 9:
		fmt.Fprintf(w, "{ float4 q = quads[(%s) & 63]; f += q.x * q.y; g = q.z - q.w * f; }\n", w.unsigned(1))
	case 10, 11:
		fmt.Fprintf(w, "if (%s) {\n", w.condition(2))
		w.block()
		if w.IntN(2) == 0 {
			w.WriteString("} else {\n")
			w.block()
		}
		w.WriteString("}\n")
	case 12, 13:
		k := fmt.Sprintf("k%d", w.depth)
		fmt.Fprintf(w, "for (unsigned %s = 0; %s < (%s & %d); %s++) {\nu += %s * 3;\n", k, k, w.pick("u", "v", "n", "t"), 3+4*w.IntN(2), k, k)
		w.block()
		if w.IntN(3) == 0 {
			fmt.Fprintf(w, "if (%s) %s;\n", w.condition(1), w.pick("break", "continue"))
		}
		w.WriteString("}\n")
	case 14:
		fmt.Fprintf(w, "switch (%s & 7) { case 0: u++; break; case 1: v ^= u; case 2: i = j; break; case 5: f = g; break; default: c++; }\n", w.unsigned(1))
	case 15:
		if w.depth > 1 {
			return // all threads must come
		}
		fmt.Fprintf(w, "u ^= %s;\n", w.pick("__shfl_xor_sync(~0u, v, 5)", "__ballot_sync(~0u, b)", "__shfl_down_sync(~0u, u, 3)", "(unsigned)__any_sync(~0u, i > 3)"))
	case 16:
		if w.depth > 1 {
			return
		}
		fmt.Fprintf(w, "__syncthreads(); tile[(t * 5) & 63] = %s; __syncthreads();\n", w.unsigned(1))
	case 17:
		fmt.Fprintf(w, "for (unsigned k = 0; k < (t & 3) + 2; k++) asm(%s);\n", w.pick(
			`"add.u32 %0, %1, 2; mul.lo.u32 %0, %0, %1;" : "=&r"(u) : "r"(u)`,
			`"mul.lo.u32 %0, %1, 3; xor.b32 %0, %0, %2; add.u32 %0, %0, %1;" : "=&r"(v) : "r"(v), "r"(k)`,
			`"add.u32 %0, %0, %2; xor.b32 %1, %0, %2;" : "+&r"(u), "=&r"(v) : "r"(v)`))
	case 18:
		fmt.Fprintf(w, "{ quad_%[1]s q = swapped_%[1]s(%[2]s, quad_%[1]s{u, v, t, f}); u = q.a ^ q.c; v += q.b; f = q.d; }\n", w.name, w.unsigned(1))
	}
}

func (w *writer) block() {
	for range 1 + w.IntN(2) {
		w.statement()
	}
}

func (w *writer) unsigned(depth int) string {
	if depth == 0 {
		return w.pick("u", "v", "t", "n", "(unsigned)i", "(unsigned)j", "(unsigned)s", "c", "(unsigned)b", fmt.Sprint(w.IntN(1<<uint(w.IntN(31))), "u"), "tile[(t + 3) & 63]", "own[t & 7]", "(unsigned)m", "(unsigned)(l >> 7)")
	}
	a, b := w.unsigned(depth-1), w.unsigned(w.IntN(depth))
	switch w.IntN(12) {
	case 0:
		return fmt.Sprintf("(%s << (%s & 31))", a, b)
	case 1:
		return fmt.Sprintf("(%s >> %d)", a, w.IntN(32))
	case 2:
		return fmt.Sprintf("(%s %s (%s | 1))", a, w.pick("/", "%"), b)
	case 3:
		return fmt.Sprintf("%s(%s)", w.pick("__popc", "__clz", "__brev", "__ffs"), a)
	case 4:
		return fmt.Sprintf("%s(%s, %s)", w.pick("min", "max"), a, b)
	case 5:
		return fmt.Sprintf("(%s ? %s : %s)", w.condition(depth-1), a, b)
	case 6:
		return fmt.Sprintf("%s(%s, %s, %d)", w.pick("__funnelshift_l", "__byte_perm", "__funnelshift_r"), a, b, w.IntN(32))
	case 7:
		return fmt.Sprintf("((unsigned)((int)(%s) >> %d))", a, w.IntN(32))
	}
	return fmt.Sprintf("(%s %s %s)", a, w.pick("+", "-", "*", "&", "|", "^"), b)
}

func (w *writer) long(depth int) string {
	if depth == 0 {
		return w.pick("m", "(unsigned long long)l", "(unsigned long long)u", "(unsigned long long)(long long)i", "0x123456789abcull")
	}
	a, b := w.long(depth-1), w.long(depth-1)
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s %s %d)", a, w.pick("<<", ">>"), w.IntN(64))
	case 1:
		return fmt.Sprintf("(%s %s (%s | 1))", a, w.pick("/", "%"), b)
	case 2:
		return fmt.Sprintf("(%s ? %s : %s)", w.condition(0), a, b)
	}
	return fmt.Sprintf("(%s %s %s)", a, w.pick("+", "-", "*", "&", "|", "^"), b)
}

func (w *writer) float(depth int) string {
	if depth == 0 {
		return w.pick("f", "g", "(float)t", "(float)i", "1.5f", "0.1f", "(float)s", "quads[t].x")
	}
	a, b := w.float(depth-1), w.float(w.IntN(depth))
	switch w.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s / (fabsf(%s) + 1.0f))", a, b)
	case 1:
		return fmt.Sprintf("%s(%s, %s)", w.pick("fminf", "fmaxf", "copysignf"), a, b)
	case 2:
		return fmt.Sprintf("%s(%s)", w.pick("floorf", "ceilf", "truncf", "rintf", "fabsf", "-"), a)
	case 3:
		return fmt.Sprintf("sqrtf(fabsf(%s))", a)
	case 4:
		return fmt.Sprintf("(%s ? %s : %s)", w.condition(depth-1), a, b)
	}
	return fmt.Sprintf("(%s %s %s)", a, w.pick("+", "-", "*", "*"), b)
}

func (w *writer) double(depth int) string {
	if depth == 0 {
		return w.pick("d", "(double)f", "(double)j", "0.75", "(double)(u & 1023u)")
	}
	return fmt.Sprintf("(%s %s %s)", w.double(depth-1), w.pick("+", "-", "*", "*"), w.double(depth-1))
}

func (w *writer) condition(depth int) string {
	if depth == 0 {
		return w.pick("b", "u > v", "i < j", "f < g", "t < 20", "s == 3", "c > 100", "m > 77", "d >= f")
	}
	switch w.IntN(4) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", w.condition(depth-1), w.pick("&&", "||"), w.condition(depth-1))
	case 1:
		return fmt.Sprintf("(%s %s %s)", w.float(depth-1), w.pick("<", ">=", "==", "!="), w.float(depth-1))
	case 2:
		return fmt.Sprintf("!(%s)", w.condition(depth-1))
	}
	return fmt.Sprintf("(%s %s %s)", w.unsigned(depth-1), w.pick("<", ">=", "==", "!="), w.unsigned(depth-1))
}
