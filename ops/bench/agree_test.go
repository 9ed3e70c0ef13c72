package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/peers"
	"warpbook/ops/results"
)

const agreePTX = `
.version 6.4
.target sm_75
.address_size 64

.visible .entry nothing()
{
	ret;
}

.visible .entry copy(.param .u64 x, .param .u64 y)
{
	.reg .u64 %rd<5>;
	.reg .u32 %r<4>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [y];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	mul.wide.u32 %rd2, %r3, 16;
	add.u64 %rd3, %rd0, %rd2;
	add.u64 %rd4, %rd1, %rd2;
	ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd3];
	st.global.v4.f32 [%rd4], {%f0, %f1, %f2, %f3};
	ret;
}

.visible .entry products(.param .u64 y, .param .u32 n)
{
	.reg .u64 %rd<3>;
	.reg .u32 %r<5>;
	.reg .f32 %f<2>;
	.reg .pred %p<1>;
	ld.param.u64 %rd0, [y];
	ld.param.u32 %r4, [n];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	cvt.rn.f32.u32 %f0, %r3;
	mov.f32 %f1, 0f3F000000;
LOOP:
	fma.rn.f32 %f0, %f0, %f1, %f1;
	sub.u32 %r4, %r4, 1;
	setp.ne.u32 %p0, %r4, 0;
	@%p0 bra LOOP;
	mul.wide.u32 %rd1, %r3, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.f32 [%rd2], %f0;
	ret;
}
`

// TestAgreesWithTorch times a copy and a loop of products with our worker and with
// torch's events, and prints both. They must be 2 % apart at most; what fails is
// 10 %, because times are no ground for a failure.
func TestAgreesWithTorch(t *testing.T) {
	a := agree(t)
	d := a.device
	defer d.Close()
	needTorch(t)
	const n = 64 << 20
	c := a.ptx("copy", gpu.Dim{X: n / 4 / 256}, gpu.Dim{X: 256})
	for _, name := range []string{"x", "y"} {
		b, err := d.Alloc(gpu.Float32, n)
		if err != nil {
			t.Fatal(err)
		}
		c.launch.Args, c.torch = append(c.launch.Args, b), append(c.torch, fmt.Sprint(name, ":", n))
	}
	a.compare("copy of 256 MiB", c)
	products := a.ptx("products", gpu.Dim{X: 132 * 8}, gpu.Dim{X: 256})
	products.launch.Args, products.torch = []any{c.launch.Args[1], uint32(1 << 12)}, []string{c.torch[1], fmt.Sprint("u:", 1<<12)}
	a.compare("4096 products", products)
}

// agree opens the GPU, or skips the test.
func agree(t *testing.T) *agreement {
	t.Helper()
	d := device.MustOpen("")
	if d.Info().Emulated {
		t.Skip("it needs a GPU")
	}
	return &agreement{T: t, device: d}
}

// needTorch skips a test where there is none. It does not import it: that takes
// seconds.
func needTorch(t *testing.T) {
	t.Helper()
	const script = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
	if err := exec.Command("python3", "-c", script).Run(); err != nil {
		t.Skip("it needs python3 with torch: ", err)
	}
}

// python is a script that sees the GPU of a device.
func python(d gpu.Device, args ...string) *exec.Cmd {
	c := exec.Command("python3", args...)
	c.Env = append(os.Environ(), "CUDA_VISIBLE_DEVICES="+d.Info().UUID)
	return c
}

// agreement compares our times with torch's.
type agreement struct {
	*testing.T
	device gpu.Device
}

// timedTwice is a launch, and the arguments with which timing.py makes the same launch.
type timedTwice struct {
	launch gpu.Launch
	text   string   // PTX
	torch  []string // its arguments
}

// ptx is a launch of an entry above.
func (a *agreement) ptx(entry string, grid, block gpu.Dim) timedTwice {
	return timedTwice{launch: gpu.Launch{Entry: a.entry(agreePTX, entry), Grid: grid, Block: block}, text: agreePTX}
}

func (a *agreement) entry(text, name string) gpu.Entry {
	m, err := a.device.Load("agree.ptx", text)
	if err != nil {
		a.Fatal(err)
	}
	e, err := m.Entry(name)
	if err != nil {
		a.Fatal(err)
	}
	return e
}

// TestAgreesOnNull compares the times of a kernel that does nothing with those
// of a program in CUDA C++. They are another in each process, of ours or not, by
// up to 10 %: what is compared is the mean over processes of each, alternately.
func TestAgreesOnNull(t *testing.T) {
	const processes = 30
	a := agree(t)
	defer a.device.Close()
	var methods []string
	var ours, theirs [3][]float64 // by method, then process
	for range processes {
		figures, notes, err := peers.Run(t.Context(), peers.Null, [][]int{{1}}, peers.Options{GPU: a.device.Info().UUID})
		if err != nil {
			t.Fatal(err)
		}
		if len(figures) != len(theirs) {
			t.Skip("it needs nvcc: ", notes)
		}
		methods = methods[:0]
		for i, f := range figures {
			theirs[i], methods = append(theirs[i], f.MedianNS), append(methods, f.Method)
		}
		fresh := agree(t)
		for i, ns := range fresh.ours(fresh.ptx("nothing", gpu.Dim{X: 1}, gpu.Dim{X: 32})) {
			ours[i] = append(ours[i], ns)
		}
		if err := fresh.device.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, method := range methods {
		a.Logf("null, %s, over %d processes: ours %.0f to %.0f, CUDA C++ %.0f to %.0f ns", method, processes,
			slices.Min(ours[i]), slices.Max(ours[i]), slices.Min(theirs[i]), slices.Max(theirs[i]))
		a.apart("null", method, mean(ours[i]), mean(theirs[i]))
	}
}

func mean(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// apart prints two times and how far they are apart.
func (a *agreement) apart(what, method string, ours, theirs float64) {
	a.Helper()
	apart := math.Abs(ours/theirs - 1)
	a.Logf("%-16s %-12s ours %9.0f ns, theirs %9.0f ns: %.1f %% apart", what, method, ours, theirs, 100*apart)
	if !(apart <= 0.1) {
		a.Errorf("%s, %s: %.0f ns, theirs %.0f", what, method, ours, theirs)
	}
}

// compare prints the times by both methods; ours before and after torch's.
func (a *agreement) compare(what string, l timedTwice) {
	before := a.ours(l)
	theirs := a.theirs(l)
	after := a.ours(l)
	for i, f := range theirs {
		a.apart(what, f.Method, (before[i]+after[i])/2, f.MedianNS)
	}
}

// ours are the medians of one run between two events, of 100, and of a graph of
// 100.
func (a *agreement) ours(l timedTwice) (medians []float64) {
	for _, m := range []struct {
		inRow, repeats int
		graph          bool
	}{{1, 100, false}, {100, 20, false}, {100, 20, true}} {
		times, err := a.device.Time(gpu.Timing{Warmup: 3, Repeats: m.repeats, Graph: m.graph}, slices.Repeat([]gpu.Launch{l.launch}, m.inRow)...)
		if err != nil {
			a.Fatal(err)
		}
		medians = append(medians, float64(results.Summarize(times).Median)/float64(m.inRow))
	}
	return medians
}

func (a *agreement) theirs(l timedTwice) (figures []peers.Figure) {
	path := filepath.Join(a.TempDir(), "agree.ptx")
	if err := os.WriteFile(path, []byte(l.text), 0o644); err != nil {
		a.Fatal(err)
	}
	dim := func(d gpu.Dim) string { d = d.Full(); return fmt.Sprintf("%d,%d,%d", d.X, d.Y, d.Z) }
	args := append([]string{"../peers/timing.py", path, l.launch.Entry.Name(), dim(l.launch.Grid), dim(l.launch.Block), fmt.Sprint(l.launch.Shared)}, l.torch...)
	out, err := python(a.device, args...).Output()
	if err != nil {
		a.Fatalf("timing.py: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		var f peers.Figure
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			a.Fatalf("%q: %v", line, err)
		}
		figures = append(figures, f)
	}
	return figures
}
