package emu

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// kernel is a module with one entry "op" of parameters p0 (a pointer), p1 (a
// pointer) and n. Its prologue leaves the thread's index in %t, in the grid
// in %i, the two addresses of element %i in %p0 and %p1 and of element 0 in
// %q0 and %q1.
func kernel(declarations, body string) string {
	return fmt.Sprintf(`.version 7.8
.target sm_80
.address_size 64
.visible .entry op(.param .u64 p0, .param .u64 p1, .param .u32 n)
{
	.reg .pred %%a<10>;
	.reg .b32 %%r<40>, %%t, %%i, %%n;
	.reg .b64 %%d<20>, %%p0, %%p1, %%q0, %%q1;
	.reg .f32 %%f<10>;
	%s
	mov.u32 %%t, %%tid.x;
	mov.u32 %%r0, %%ctaid.x;
	mov.u32 %%r1, %%ntid.x;
	mad.lo.u32 %%i, %%r0, %%r1, %%t;
	ld.param.u64 %%q0, [p0];
	ld.param.u64 %%q1, [p1];
	ld.param.u32 %%n, [n];
	mul.wide.u32 %%d0, %%i, 4;
	add.u64 %%p0, %%q0, %%d0;
	add.u64 %%p1, %%q1, %%d0;
%s
	ret;
}
`, declarations, body)
}

// all are the 32 lanes of a warp.
const all = math.MaxUint32

// job is one launch of a kernel with two arrays of words.
type job struct {
	*testing.T
	device   *Device
	launch   gpu.Launch
	p0, p1   gpu.Buffer
	counters gpu.Counters
}

// newJob sets p1 to zeros and p0 to its own indices.
func newJob(t *testing.T, declarations, body string, blocks, threads int) *job {
	t.Helper()
	return newJobFor(t, 132, declarations, body, blocks, threads)
}

// newJobFor is newJob for a GPU with some multiprocessors only.
func newJobFor(t *testing.T, sms int, declarations, body string, blocks, threads int) *job {
	t.Helper()
	d, e := loadEntryFor(t, sms, kernel(declarations, body), "op")
	j := &job{T: t, device: d}
	n := blocks * threads
	index := make([]uint32, n)
	for i := range index {
		index[i] = uint32(i)
	}
	j.p0, j.p1 = j.alloc("input", index), j.alloc("output", make([]uint32, n))
	j.launch = gpu.Launch{Entry: e, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads},
		Args: []any{j.p0, j.p1, uint32(n)}, Counters: &j.counters}
	return j
}

func (j *job) alloc(label string, v []uint32) gpu.Buffer {
	j.Helper()
	b, err := j.device.Alloc(gpu.Uint32, len(v))
	if err != nil {
		j.Fatal(err)
	}
	if err := b.Upload(v); err != nil {
		j.Fatal(err)
	}
	return b.Label(label)
}

// run runs the launch and returns p1.
func (j *job) run() []uint32 {
	j.Helper()
	if err := j.device.Launch(j.launch); err != nil {
		j.Fatal(err)
	}
	v := make([]uint32, j.p1.Len())
	if err := j.p1.Download(v); err != nil {
		j.Fatal(err)
	}
	return v
}

// expect runs and compares p1.
func (j *job) expect(want func(i int) uint32) {
	j.Helper()
	for i, v := range j.run() {
		if v != want(i) {
			j.Fatalf("thread %d: %#x, expected %#x", i, v, want(i))
		}
	}
}

// TestDivergence runs a loop whose trip count differs in every lane, with a
// branch inside and an early exit.
func TestDivergence(t *testing.T) {
	j := newJob(t, "", `
	and.b32 %r2, %t, 7;
	setp.eq.u32 %a0, %r2, 7;
	@%a0 exit;
	mov.u32 %r3, 0;
	mov.u32 %r4, 0;
loop:
	setp.ge.u32 %a1, %r3, %t;
	@%a1 bra done;
	and.b32 %r5, %r3, 1;
	setp.ne.u32 %a2, %r5, 0;
	@%a2 bra odd;
	add.u32 %r4, %r4, %r3;
	bra next;
odd:
	xor.b32 %r4, %r4, %r3;
next:
	add.u32 %r3, %r3, 1;
	bra loop;
done:
	activemask.b32 %r6;
	shl.b32 %r4, %r4, 8;
	popc.b32 %r6, %r6;
	or.b32 %r4, %r4, %r6;
	st.global.u32 [%p1], %r4;
`, 3, 96)
	j.expect(func(i int) uint32 {
		tid := uint32(i % 96)
		if tid%8 == 7 {
			return 0
		}
		var sum uint32
		for k := range tid {
			if k%2 == 0 {
				sum += k
			} else {
				sum ^= k
			}
		}
		return sum<<8 | 28 // all lanes that did not exit meet after the loop
	})
	if j.counters.DivergentBranches == 0 || j.counters.LaneEfficiency() >= 1 {
		t.Errorf("%+v: expected divergence", j.counters)
	}
}

// TestLoopLayout puts the code after a loop before it in the text: lanes that leave
// early still wait there for the others.
func TestLoopLayout(t *testing.T) {
	j := newJob(t, "", `
	mov.u32 %r3, 0;
	bra head;
out:
	activemask.b32 %r4;
	st.global.u32 [%p1], %r4;
	ret;
head:
	setp.ge.u32 %a0, %r3, %t;
	@%a0 bra out;
	add.u32 %r3, %r3, 1;
	bra head;
`, 1, 32)
	j.expect(func(int) uint32 { return all })
}

// TestIndexedBranch sends lanes through a table.
func TestIndexedBranch(t *testing.T) {
	j := newJob(t, "", `
	and.b32 %r2, %t, 3;
	mov.u32 %r3, 0;
table: .branchtargets zero, one, two, one;
	brx.idx %r2, table;
one:
	add.u32 %r3, %r3, 1;
	bra done;
two:
	add.u32 %r3, %r3, 2;
	bra one;
zero:
done:
	st.global.u32 [%p1], %r3;
`, 1, 64)
	j.expect(func(i int) uint32 { return [...]uint32{0, 1, 3, 1}[i%4] })
}

// TestAtomics counts in global and shared memory from all blocks at once.
func TestAtomics(t *testing.T) {
	j := newJob(t, ".shared .align 4 .b8 s[4];", `
	setp.ne.u32 %a0, %t, 0;
	@%a0 bra clean;
	st.shared.u32 [s], 0;
clean:
	bar.sync 0;
	red.shared.add.u32 [s], 1;
	red.global.add.u32 [%q1], 1;
	red.global.max.u32 [%q1+4], %i;
	atom.global.inc.u32 %r2, [%q1+8], 99;
	red.global.xor.b32 [%q1+12], %i;
	red.global.add.f32 [%q1+16], 0f3F000000;
	atom.global.add.u64 %d1, [%q1+24], 0x100000000;
	bar.sync 0;
	@%a0 bra done;
	ld.shared.u32 %r3, [s];
	red.global.add.u32 [%q1+32], %r3;
done:
`, 50, 96)
	v := j.run()
	const n = 50 * 96
	if want := []uint32{n, n - 1, n % 100, 0, 0x45160000, 0, 0, n, n}; !slices.Equal(v[:9], want) {
		t.Errorf("%#x, expected %#x", v[:9], want)
	}
	if g := j.counters.GlobalAtomic; g.Requests != 50*3*6+50 {
		t.Errorf("%d requests of global atomics, expected %d", g.Requests, 50*3*6+50)
	}
	if s := j.counters.SharedAtomic; s.Requests != 50*3 || s.Conflicts != 0 {
		t.Errorf("shared atomics %+v, expected %d requests without conflicts", s, 50*3)
	}
}

// TestCalls inlines functions with parameters, results, a local array and a
// return inside a branch.
func TestCalls(t *testing.T) {
	text := kernel("", `
	{
	.param .b32 a0;
	.param .b32 r0;
	st.param.b32 [a0], %t;
	call (r0), collatz, (a0);
	ld.param.b32 %r2, [r0];
	}
	{
	.param .b32 a0;
	.param .b32 r0;
	st.param.b32 [a0], %r2;
	call (r0), twice, (a0);
	ld.param.b32 %r3, [r0];
	}
	st.global.u32 [%p1], %r3;
`)
	at := strings.Index(text, ".visible")
	text = text[:at] + `.func (.param .b32 result) half(.param .b32 x)
{
	.reg .b32 %r<3>;
	.local .align 4 .b8 stack[8];
	ld.param.b32 %r0, [x];
	st.local.u32 [stack+4], %r0;
	ld.local.u32 %r1, [stack+4];
	shr.u32 %r1, %r1, 1;
	st.param.b32 [result], %r1;
	ret;
}
.func (.param .b32 result) collatz(.param .b32 x)
{
	.reg .pred %a;
	.reg .b32 %r<6>;
	ld.param.b32 %r0, [x];
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %a, %r1, 1;
	@%a bra odd;
	{
	.param .b32 arg;
	.param .b32 res;
	st.param.b32 [arg], %r0;
	call (res), half, (arg);
	ld.param.b32 %r2, [res];
	}
	st.param.b32 [result], %r2;
	ret;
odd:
	mad.lo.u32 %r3, %r0, 3, 1;
	st.param.b32 [result], %r3;
	ret;
}
.func (.param .b32 result) twice(.param .b32 x)
{
	.reg .b32 %r<2>;
	ld.param.b32 %r0, [x];
	shl.b32 %r1, %r0, 1;
	st.param.b32 [result], %r1;
	ret;
}
` + text[at:]
	d, e := loadEntry(t, text, "op")
	j := &job{T: t, device: d}
	j.p0, j.p1 = j.alloc("input", make([]uint32, 64)), j.alloc("output", make([]uint32, 64))
	j.launch = gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Args: []any{j.p0, j.p1, uint32(64)}, Counters: &j.counters}
	j.expect(func(i int) uint32 {
		if i%2 == 0 {
			return uint32(i)
		}
		return uint32(2 * (3*i + 1))
	})
	// Two warps; a word of 16 lanes each side by side is 4 sectors, of which
	// every second lane takes part.
	if l := j.counters.LocalLoad; l.Requests != 2 || l.Sectors != 8 || l.Bytes != 4*32 {
		t.Errorf("local loads %+v, expected 2 requests, 8 sectors, 128 bytes", l)
	}
}

// TestGenericAddresses reads and writes each space through one pointer.
func TestGenericAddresses(t *testing.T) {
	j := newJob(t, ".shared .align 4 .b8 s[256];\n.local .align 4 .b8 mine[4];", `
	mov.u64 %d1, s;
	cvta.shared.u64 %d1, %d1;
	mov.u64 %d2, mine;
	cvta.local.u64 %d2, %d2;
	mul.wide.u32 %d3, %t, 4;
	add.u64 %d1, %d1, %d3;
	and.b32 %r2, %t, 1;
	setp.ne.u32 %a0, %r2, 0;
	selp.b64 %d4, %d1, %d2, %a0;
	isspacep.shared %a1, %d4;
	selp.u32 %r3, 1000, 0, %a1;
	add.u32 %r3, %r3, %t;
	st.u32 [%d4], %r3;
	ld.u32 %r4, [%d4];
	isspacep.global %a2, %p1;
	selp.u32 %r5, 5000, 0, %a2;
	add.u32 %r4, %r4, %r5;
	st.u32 [%p1], %r4;
`, 1, 64)
	j.expect(func(i int) uint32 { return uint32(5000 + i%2*1000 + i) })
}

// TestVectors loads and stores vectors of every width, and narrow values.
func TestVectors(t *testing.T) {
	j := newJob(t, ".reg .b16 %h<4>;", `
	and.b32 %r2, %t, 3;
	setp.ne.u32 %a0, %r2, 0;
	@%a0 bra narrow;
	ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%p0];
	add.u32 %r3, %r3, 1;
	st.global.v2.u32 [%p1], {%r6, %r5};
	mov.b64 %d1, {%r3, %r4};
	st.global.u64 [%p1+8], %d1;
	ret;
narrow:
`, 1, 64)
	j.expect(func(i int) uint32 {
		first := uint32(i / 4 * 4)
		return [...]uint32{first + 3, first + 2, first + 1, first + 1}[i%4]
	})
	j = newJob(t, ".reg .b16 %h<4>;", `
	neg.s32 %r2, %t;
	st.global.u32 [%p0], %r2;
	ld.global.s8 %r3, [%p0];
	ld.global.u8 %r4, [%p0];
	ld.global.s16 %h0, [%p0];
	cvt.s32.s16 %r5, %h0;
	mov.b32 {%h1, %h2}, %r2;
	mov.b32 %r6, {%h2, %h1};
	add.u32 %r3, %r3, %r4;
	add.u32 %r3, %r3, %r5;
	xor.b32 %r3, %r3, %r6;
	st.global.u32 [%p1], %r3;
`, 1, 64)
	j.expect(func(i int) uint32 {
		v := uint32(-i)
		return (uint32(int32(int8(v))) + v&255 + uint32(int32(int16(v)))) ^ bits.RotateLeft32(v, 16)
	})
}
