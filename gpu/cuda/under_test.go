package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu"
)

// three are buffers with the same contents, the last of them kept.
func three(t *testing.T, d *Device, contents []float32) (buffers []gpu.Buffer) {
	t.Helper()
	for i := range 3 {
		b, err := d.Alloc(gpu.Float32, len(contents))
		if err == nil {
			err = b.Upload(contents)
		}
		if err == nil && i == 2 {
			err = b.Keep()
		}
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	return buffers
}

// storing is a launch that stores 7 in each element of a buffer of three.
func storing(t *testing.T, d *Device, y gpu.Buffer) gpu.Launch {
	t.Helper()
	m, err := d.Load("store.ptx", storePTX)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("store")
	if err != nil {
		t.Fatal(err)
	}
	return gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 3}, Args: []any{y}}
}

// TestUnder: a worker is replaced by one that a tool starts, and back; buffers
// keep their contents, kept or not, and launches go through the observer.
func TestUnder(t *testing.T) {
	d, err := openFake(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	report := filepath.Join(t.TempDir(), "report")
	want := []float32{1, 2, 3}
	buffers := three(t, d, want)
	seen := 0
	d.Observe(func(l gpu.Launch, launch func(gpu.Launch) error) error { seen++; return launch(l) })
	back, err := d.Under("/bin/sh", "-c", `"$@"; echo ended >`+report, "tool")
	if err != nil {
		t.Fatal(err)
	}
	same(t, buffers, want)
	l := storing(t, d, buffers[1])
	if err := d.Launch(l); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Time(gpu.Timing{Repeats: 1}, l); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("time under a tool: %v", err)
	}
	d.Observe(nil)
	if err := back(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(report); err != nil || string(text) != "ended\n" {
		t.Errorf("the tool's report is %q, %v: it was not waited for", text, err)
	}
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
	same(t, buffers[:1], want)
	same(t, buffers[1:2], []float32{7, 7, 7})
	same(t, buffers[2:], want)
	if seen != 1 {
		t.Errorf("%d launches seen, expected 1", seen)
	}
}

const storePTX = `.version 6.4
.target sm_75
.address_size 64
.visible .entry store(.param .u64 y)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [y];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	mov.b32 %r2, 0f40E00000;
	st.global.b32 [%rd3], %r2;
	ret;
}
`

func same(t *testing.T, buffers []gpu.Buffer, want []float32) {
	t.Helper()
	for i, b := range buffers {
		got := make([]float32, len(want))
		if err := b.Download(got); err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if got[j] != want[j] {
				t.Errorf("buffer %d is %v, expected %v", i, got, want)
				break
			}
		}
	}
}

// TestUnderRefuses: too much to move, and a tool that does not start, leave all
// as it was.
func TestUnderRefuses(t *testing.T) {
	d, err := openFake(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, err := d.Alloc(gpu.Float32, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{4, 5, 6}
	if err := b.Upload(want); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Under(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a tool that is not there is no error")
	}
	same(t, []gpu.Buffer{b}, want)
	big, err := d.Alloc(gpu.Uint8, movable)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Under("/bin/sh"); !errors.Is(err, gpu.ErrMemory) || !strings.Contains(err.Error(), "1.00 GiB of live buffers") {
		t.Errorf("%v, expected a refusal with the size", err)
	}
	if err := big.Free(); err != nil {
		t.Error(err)
	}
	same(t, []gpu.Buffer{b}, want)
}
