package gemm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// An invalid call returns an error before any launch: C is unchanged.
func TestHandleErrors(t *testing.T) {
	foreign := device.MustOpen("emu")
	defer foreign.Close()
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, 1)
		floats := func(n int) gpu.Buffer { return c.buffer(gpu.Float32, ladder.Poisoned(n)) }
		buffer, large := floats(16), floats(200)
		freed, err := d.Alloc(gpu.Float32, 16)
		c.ok(err)
		c.ok(freed.Free())
		elsewhere, err := foreign.Alloc(gpu.Float32, 16)
		c.ok(err)
		doubles, err := d.Alloc(gpu.Float64, 16)
		c.ok(err)
		view := func(start, n int) gpu.Buffer {
			v, err := large.View(start, n)
			c.ok(err)
			return v
		}
		m := func(b gpu.Buffer, rows, columns, ld int) ladder.Matrix {
			return ladder.Matrix{Buffer: b, Rows: rows, Columns: columns, LD: ld}
		}
		a, b, out := m(floats(12), 4, 3, 0), m(floats(15), 3, 5, 0), m(floats(20), 4, 5, 0)
		gemm := func(a, b, out ladder.Matrix) error { return Multiply(c, 1, a, b, 0, out) }
		batch := func(x ladder.Matrix, count, stride int) ladder.Batch {
			return ladder.Batch{Matrix: x, Count: count, Stride: stride}
		}
		batched := func(a, b, out ladder.Batch) error { return MultiplyBatch(c, 1, a, b, 0, out) }
		with := func(name string) *run.Handle {
			h := run.NewHandle(d)
			t.Cleanup(func() { c.ok(h.Close()) })
			h.Variant = name
			return h
		}
		closed := run.NewHandle(d)
		c.ok(closed.Close())
		many := func(x ...ladder.Matrix) []ladder.Matrix { return x }
		const shares, own = "invalid argument: it shares elements with ", ", expected memory of its own: an output is written while the other operands are read"
		for _, x := range []struct {
			err  error
			kind error
			says string
		}{
			{gemm(m(nil, 4, 3, 0), b, out), gpu.ErrArgument, "ops: gemm: a: invalid argument: no buffer, expected one of " + d.Info().Name},
			{gemm(m(buffer, -4, 3, 0), b, out), gpu.ErrArgument, "ops: gemm: a: invalid argument: -4 x 3, expected 0 to 2147483647 of each"},
			{gemm(a, m(buffer, 3, 1<<31, 0), out), gpu.ErrArgument, "ops: gemm: b: invalid argument: 3 x 2147483648, expected 0 to 2147483647 of each"},
			{gemm(a, b, m(buffer, math.MaxInt32, 5, math.MaxInt32)), gpu.ErrArgument, "ops: gemm: c: invalid argument: 2147483647 x 5 with ld = 2147483647, expected at most 2^38 elements"},
			{gemm(m(buffer, 4, 3, 2), b, out), gpu.ErrArgument, "ops: gemm: a: invalid argument: ld = 2, expected at least its 3 columns and at most 2147483647, or 0 for rows without a gap"},
			{gemm(a, m(buffer, 3, 5, -5), out), gpu.ErrArgument, "ops: gemm: b: invalid argument: ld = -5, expected at least its 5 columns and at most 2147483647, or 0 for rows without a gap"},
			{gemm(m(buffer, 4, 3, 5), b, out), gpu.ErrArgument, "ops: gemm: a: invalid argument: a buffer of 16 elements, expected at least 18: 4 x 3 with ld = 5"},
			{gemm(a, b, m(buffer, 4, 5, 0)), gpu.ErrArgument, "ops: gemm: c: invalid argument: a buffer of 16 elements, expected at least 20: 4 x 5"},
			{gemm(m(freed, 4, 3, 0), b, out), gpu.ErrClosed, "ops: gemm: a: gpu: place: closed: a buffer of 16 float32 was freed"},
			{gemm(a, m(elsewhere, 3, 5, 0), out), gpu.ErrArgument, "ops: gemm: b: invalid argument: a buffer of another device, expected one of " + d.Info().Name},
			{gemm(m(doubles, 4, 3, 0), b, out), gpu.ErrArgument, "ops: gemm: a: invalid argument: a buffer of float64, expected float32, float16 or bfloat16"},
			{gemm(m(c.buffer(gpu.Float16, ladder.Poisoned(12)), 4, 3, 0), b, out), gpu.ErrArgument, "ops: gemm: b: invalid argument: a buffer of float32, expected float16"},
			{gemm(a, m(buffer, 2, 5, 0), out), gpu.ErrArgument, "ops: gemm: b: invalid argument: 2 x 5, expected 3 rows: a is 4 x 3"},
			{gemm(a, b, m(buffer, 5, 3, 0)), gpu.ErrArgument, "ops: gemm: c: invalid argument: 5 x 3, expected 4 x 5: a is 4 x 3 and b is 3 x 5"},
			{gemm(m(view(0, 12), 4, 3, 0), b, m(view(0, 20), 4, 5, 0)), gpu.ErrArgument, "ops: gemm: c: " + shares + "a" + own},
			{gemm(a, m(view(19, 15), 3, 5, 0), m(view(0, 20), 4, 5, 0)), gpu.ErrArgument, "ops: gemm: c: " + shares + "b" + own},
			{gemm(m(view(0, 100), 4, 3, 8), b, m(view(2, 100), 4, 5, 8)), gpu.ErrArgument, "ops: gemm: c: " + shares + "a" + own},
			{gemm(m(view(3, 100), 4, 3, 7), b, m(view(6, 100), 4, 5, 8)), gpu.ErrArgument, "ops: gemm: c: " + shares + "a" + own},
			{Multiply(with("gemm_warp"), 1, a, b, 0, out), gpu.ErrNotFound, `ops: gemm: variant "gemm_warp": not found, expected one such as gemm_warp_tile, gemm_serpentine, gemm_wide`},
			{Multiply(with("cpu_triple_loop"), 1, a, b, 0, out), gpu.ErrArgument, "ops: cpu_triple_loop: invalid argument: it runs on the host, expected a variant that runs on the device"},
			{Multiply(closed, 1, a, b, 0, out), gpu.ErrClosed, "ops: gemm: handle: closed, expected an open one: make another with ops.NewHandle"},

			{batched(batch(a, 2, -1), batch(b, 1, 0), batch(out, 1, 0)), gpu.ErrArgument, "ops: gemm_batched: a: invalid argument: stride = -1, expected at least 1, or 0 for matrices without a gap"},
			{batched(batch(a, -1, 0), batch(b, 1, 0), batch(out, 1, 0)), gpu.ErrArgument, "ops: gemm_batched: a: invalid argument: -1 of 4 x 3, stride = 12, expected 0 to 2147483647 of each"},
			{batched(batch(a, 2, 0), batch(b, 1, 0), batch(out, 1, 0)), gpu.ErrArgument, "ops: gemm_batched: a: invalid argument: a buffer of 12 elements, expected at least 24: 2 of 4 x 3, stride = 12"},
			{batched(batch(a, math.MaxInt32, math.MaxInt64), batch(b, 1, 0), batch(out, 1, 0)), gpu.ErrArgument, "ops: gemm_batched: a: invalid argument: 2147483647 of 4 x 3, stride = 9223372036854775807, expected at most 2^38 elements"},
			{batched(batch(m(large, 4, 3, 0), 2, 0), batch(b, 1, 0), batch(out, 1, 0)), gpu.ErrArgument, "ops: gemm_batched: a: invalid argument: 2 matrices, expected 1 as in c, or 1 for all"},
			{batched(batch(a, 1, 0), batch(b, 1, 0), batch(m(large, 4, 5, 0), 3, 19)), gpu.ErrArgument, "ops: gemm_batched: c[0]: " + shares + "c[1]" + own},
			{MultiplyPointers(c, 1, many(a, a), many(b), 0, many(out)), gpu.ErrArgument, "ops: gemm_batched: a: invalid argument: 2 matrices, expected 1 as in c"},
			{MultiplyPointers(c, 1, many(a, m(floats(30), 4, 3, 7)), many(b, b), 0, many(out, m(large, 4, 5, 0))), gpu.ErrArgument, "ops: gemm_batched: a[1]: invalid argument: 4 x 3, ld = 7, expected 4 x 3, ld = 3 as a[0]"},
			{MultiplyPointers(c, 1, many(a, a), many(b, b), 0, many(out, out)), gpu.ErrArgument, "ops: gemm_batched: c[0]: " + shares + "c[1]" + own},
			{MultiplyPointers(with("gemm_batched_strided"), 1, many(a), many(b), 0, many(out)), gpu.ErrNotFound, `ops: gemm_batched: variant "gemm_batched_strided": not found, expected one such as gemm_batched_pointers`},

			{MultiplyBiasReLU(c, a, b, floats(4), out), gpu.ErrArgument, "ops: gemm_bias_relu: bias: invalid argument: a buffer of 4 elements, expected at least 5: 1 x 5"},
			{MultiplyBiasReLU(c, a, b, view(19, 5), m(view(0, 20), 4, 5, 0)), gpu.ErrArgument, "ops: gemm_bias_relu: d: " + shares + "bias" + own},
		} {
			if !errors.Is(x.err, x.kind) || fmt.Sprint(x.err) != x.says {
				t.Errorf("%v\nexpected %s", x.err, x.says)
			}
		}
		for _, untouched := range []gpu.Buffer{out.Buffer, large, buffer} {
			now := make([]float32, untouched.Len())
			c.ok(untouched.Download(now))
			if !ladder.SameBits(now, ladder.Poisoned(len(now))) || slices.ContainsFunc(now, func(v float32) bool { return math.Float32bits(v) != math.Float32bits(ladder.Poison) }) {
				t.Errorf("a call that was refused wrote %v", now)
			}
		}
		c.ok(gemm(m(view(0, 100), 4, 3, 8), b, m(view(3, 100), 4, 5, 8))) // beside it
	})
}
