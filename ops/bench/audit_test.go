package bench

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// summing is a kernel of one thread that adds x. Text may stand before the loop, in it and
// after it, and declare variables of the module.
const summing = `.version 6.4
.target sm_75
.address_size 64
VARIABLES
.visible .entry mine(.param .u64 px, .param .u64 py, .param .u32 pn)
{
	.reg .pred %p<4>; .reg .b16 %h; .reg .u32 %n, %i, %r, %r2; .reg .u64 %x, %y, %a, %o; .reg .f32 %s, %v, %w;
	ld.param.u64 %x, [px]; cvta.to.global.u64 %x, %x;
	ld.param.u64 %y, [py]; cvta.to.global.u64 %y, %y;
	ld.param.u32 %n, [pn];
	mov.f32 %s, 0f00000000;
	BEFORE
	mov.u32 %i, 0;
LOOP:
	setp.ge.u32 %p0, %i, %n;
	@%p0 bra DONE;
	mul.wide.u32 %o, %i, 4; add.u64 %a, %x, %o; ld.global.f32 %v, [%a];
	WITHIN
	add.f32 %s, %s, %v; add.u32 %i, %i, 1;
	bra LOOP;
DONE:
	AFTER
STORE:
	st.global.f32 [%y], %s;
END:
	ret;
}
`

// kernel is summing with text at its places.
func kernel(t *testing.T, places ...string) *compile.Entry {
	t.Helper()
	places = append(places, "VARIABLES", "", "BEFORE", "", "WITHIN", "", "AFTER", "")
	m, err := compile.PTX("mine.ptx", strings.NewReplacer(places...).Replace(summing), 1)
	if err != nil {
		t.Fatal(err)
	}
	return m.Entries[0]
}

// audited is the row of a kernel whose time is audited.
func audited(t *testing.T, e *compile.Entry, n int) results.Latency {
	t.Helper()
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	o, err := sample.Operator.With(ladder.Rung{Entry: e, Like: "sum_serial"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, dev, o, 1, n)
	b.Repeats, b.Audits = 5, true
	l, err := b.Time("mine")
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, b, "inputs after the audit", "sum_blocks")
	return l.Rows[0]
}

// inputs are x of seed 1.
func inputs(n int) []ladder.Values {
	return ladder.UniformData.Make(nil, sample.Operator.Inputs(ladder.Size{n}), ladder.NewRandom(1))
}

// answer is the sum of x of seed 1, and first is its first element, as PTX writes them.
func answer(n int) string {
	return float(float32(sample.Operator.Reference(nil, ladder.Size{n}, inputs(n))[0].Value[0]))
}

func first(n int) string { return float(inputs(n)[0].([]float32)[0]) }

func float(v float32) string { return fmt.Sprintf("0f%08X", math.Float32bits(v)) }

// The exploits of kernel contests are rejected, and the row names what was seen.
func TestAuditRejects(t *testing.T) {
	const n = 2000
	counting := []string{"VARIABLES", ".global .u32 runs;\n.global .f32 kept;\n.global .f32 first;"}
	counted := "ld.global.u32 %r, [runs]; add.u32 %r2, %r, 1; st.global.u32 [runs], %r2;\n"
	for name, test := range map[string]struct {
		places []string
		want   string
	}{
		"keeps the result": {append(counting,
			"BEFORE", counted+"setp.eq.u32 %p1, %r, 0; @!%p1 ld.global.f32 %s, [kept]; @!%p1 bra STORE;", "AFTER", "st.global.f32 [kept], %s;"),
			"does not compute its result: for the inputs of seed"},
		"keeps the result of inputs that begin alike": {append(counting,
			"BEFORE", "ld.global.f32 %v, [%x]; ld.global.f32 %w, [first]; st.global.f32 [first], %v; setp.eq.f32 %p1, %v, %w; @%p1 ld.global.f32 %s, [kept]; @%p1 bra STORE;",
			"AFTER", "st.global.f32 [kept], %s;"), "does not compute its result: for a change of x["},
		"skips an output that is written": {[]string{"BEFORE", "ld.global.f32 %v, [%y]; setp.num.f32 %p1, %v, %v; @%p1 bra END;"},
			"does not compute its result: for the inputs of seed"},
		"adds to what is there":  {[]string{"AFTER", "ld.global.f32 %v, [%y]; setp.num.f32 %p1, %v, %v; mov.f32 %w, %v; @%p1 add.f32 %s, %s, %w;"}, "FAIL"},
		"marks a written output": {[]string{"AFTER", "ld.global.f32 %v, [%y]; setp.gt.f32 %p1, %v, 0f44000000; @%p1 add.f32 %s, %s, 0f44000000;"}, "FAIL"},
		"skips timed runs": {append(counting, "BEFORE", counted+"setp.gt.u32 %p1, %r, 1; setp.lt.and.u32 %p2, %r, 6, %p1; @%p2 bra END;"),
			"does less in timed runs: "},
		"writes the answer": {[]string{"BEFORE", "mov.f32 %s, " + answer(n) + "; bra STORE;"}, "does not compute its result: for the inputs of seed"},
		"knows the inputs of the check": {[]string{"BEFORE", "ld.global.f32 %v, [%x]; setp.neu.f32 %p1, %v, " + first(n) + "; mov.f32 %s, " + answer(n) + "; @%p1 mov.f32 %s, 0f3F800000; bra STORE;"},
			"right for the inputs of the check alone: for the inputs of seed"},
		"empties its inputs later on": {append(counting, "BEFORE", counted, "WITHIN", "setp.gt.u32 %p1, %r, 2; @%p1 st.global.f32 [%a], 0f00000000;", "AFTER", "@%p1 st.global.f32 [%x], %s;"), "changes its inputs in a later run"},
		"computes in float16":         {[]string{"WITHIN", "cvt.rn.f16.f32 %h, %v; cvt.f32.f16 %v, %h;"}, "lower precision: a sum of few terms has 1"},
	} {
		row := audited(t, kernel(t, test.places...), n)
		if got := row.Verdict + " " + row.Audit.Note(); !strings.Contains(got, test.want) || row.Verdict == ladder.Pass {
			t.Errorf("%s: %s, expected %q", name, got, test.want)
		}
	}
}

// A kernel that resets its variable is timed, and the row names the variable; a plain one
// has no note.
func TestAuditAccepts(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		if row := audited(t, kernel(t), n); row.Verdict != ladder.Pass || row.Audit.Note() != "" {
			t.Errorf("n = %d: %s %s, expected PASS without a note", n, row.Verdict, row.Audit.Note())
		}
	}
	row := audited(t, kernel(t, "VARIABLES", ".global .u32 count;", "BEFORE", "atom.global.add.u32 %r, [count], 1;", "AFTER", "st.global.u32 [count], 0;"), 1000)
	if row.Verdict != ladder.Pass || row.Audit.Note() != "keeps __device__ count (4 bytes) between launches" || row.Total.Median == 0 {
		t.Errorf("%s %s, expected a time and the variable", row.Verdict, row.Audit.Note())
	}
}

// A kernel cannot hide work in a stream of its own: a launch from the device is refused
// before anything runs.
func TestLaunchFromTheDeviceIsRefused(t *testing.T) {
	buffer := func(dev gpu.Device) gpu.Buffer {
		b, err := dev.Alloc(gpu.Float32, 1)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	e := kernel(t, "VARIABLES", ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 stream);",
		"BEFORE", "{ .param .b32 r0; .param .b64 p0; .param .b64 p1; st.param.b64 [p0], %x; st.param.b64 [p1], 0; call (r0), cudaLaunchDeviceV2, (p0, p1); }")
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	err = e.Launch(dev, gpu.Dim{X: 1}, gpu.Dim{X: 1}, buffer(dev), buffer(dev), uint32(1))
	if err == nil || !strings.Contains(err.Error(), "a call of cudaLaunchDeviceV2, which the module does not define") {
		t.Errorf("%v, expected an error that names cudaLaunchDeviceV2", err)
	}
}

// A sum in float32, one element after the other, stays within Tolerance after a change of
// an element, and the change shows.
func TestChangedElementKeepsSums(t *testing.T) {
	random := ladder.NewRandom(3)
	for _, n := range []int{1, 1000, 1 << 24} {
		x := ladder.Tensor{Name: "x", Len: n}
		values := x.Random(nil, random).([]float32)
		sum := func() (exact, rounded float64) {
			one := float32(0)
			for _, v := range values {
				exact, one = exact+float64(v), one+v
			}
			return exact, float64(one)
		}
		before, _ := sum()
		if _, changes := replace(x, values, n/2, random); !changes {
			t.Fatalf("n = %d: nothing changes", n)
		}
		after, rounded := sum()
		if math.Abs(after-rounded) > ladder.Tolerance*after || after-before < 10*ladder.Tolerance*before {
			t.Errorf("n = %d: %v, added in float32 %v, before the change %v", n, after, rounded, before)
		}
	}
}
