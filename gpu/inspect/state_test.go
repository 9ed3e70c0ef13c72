package inspect_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
	"warpbook/gpu/emu"
	"warpbook/gpu/inspect"
)

// leaves is a kernel whose thread t of block b writes t + b to word t + 2 of its array
// behind 8 bytes; then thread 40 writes 7 to word 3. Thread 5 of block 1 faults at the end
// if the argument wrong is its number in the grid, 53.
const leaves = `.version 7.0
.target sm_75
.address_size 64
.visible .entry leaves(.param .u64 x, .param .u32 wrong) {
	.reg .u64 %rd<6>;
	.reg .u32 %r<9>;
	.reg .f32 %f<5>;
	.reg .pred %p<4>;
	.shared .align 4 .b8 head[8];
	.shared .align 4 .b8 s[400];
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r7, [wrong];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	add.u32 %r3, %r1, %r2;
	cvt.rn.f32.u32 %f1, %r3;
	mov.u32 %r4, s;
	shl.b32 %r5, %r1, 2;
	add.u32 %r4, %r4, %r5;
	st.shared.f32 [%r4+8], %f1;
	bar.sync 0;
	setp.ne.u32 %p1, %r1, 40;
	@%p1 bra L;
	mov.f32 %f2, 0f40E00000;
	st.shared.f32 [s+12], %f2;
L:
	mad.lo.u32 %r6, %r2, 48, %r1;
	mul.wide.u32 %rd2, %r6, 4;
	add.u64 %rd1, %rd1, %rd2;
	setp.eq.u32 %p2, %r6, %r7;
	@%p2 add.u64 %rd1, %rd1, 4096;
	st.global.f32 [%rd1], %f1;
	ret;
}`

// launchLeaves returns what launches the kernel on a device.
func launchLeaves(t *testing.T, dev gpu.Device, wrong uint32) func() error {
	t.Helper()
	m, err := compile.PTX("leaves.ptx", leaves, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := gpu.Upload(dev, make([]float32, 144))
	if err != nil {
		t.Fatal(err)
	}
	return func() error {
		return m.Entries[0].Launch(dev, gpu.Dim{X: 3}, gpu.Dim{X: 48}, x, wrong)
	}
}

// Watch finds what the block left: the values, and who wrote them last, on which line. It
// leaves the device without a follower, and shows the block of a fault.
func TestWatch(t *testing.T) {
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, c := range []struct {
		block []gpu.Dim
		wrong uint32
		at    int // block that is shown
		fault bool
	}{{nil, 999, 0, false}, {[]gpu.Dim{{X: 2}}, 999, 2, false}, {nil, 53, 1, true}, {[]gpu.Dim{{X: 0}}, 53, 0, false}} {
		s, err := inspect.Watch(dev, launchLeaves(t, dev, c.wrong), c.block...)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if s.Block != (gpu.Dim{X: c.at}) || s.Kernel != "leaves" || (s.Fault != nil) != c.fault {
			t.Errorf("%+v: %v %v %v", c, s.Block, s.Kernel, s.Fault)
		}
		a, err := s.Array("s")
		if err != nil {
			t.Fatal(err)
		}
		if a.Offset != 8 || a.Bank(0) != 2 || a.Bank(31) != 1 || len(a.Words) != 100 {
			t.Errorf("%+v: offset %d, banks %d and %d, %d words", c, a.Offset, a.Bank(0), a.Bank(31), len(a.Words))
		}
		for i, w := range a.Words {
			want := inspect.Word{Text: fmt.Sprint(i - 2 + c.at), Written: true, Thread: gpu.Dim{X: i - 2}, Line: 20, Writers: 1}
			switch {
			case i < 2 || i >= 50:
				want = inspect.Word{}
			case i == 3:
				want = inspect.Word{Text: "7", Written: true, Thread: gpu.Dim{X: 40}, Line: 25, Writers: 2}
			}
			if w != want {
				t.Errorf("%+v: word %d is %+v, want %+v", c, i, w, want)
			}
		}
		i := len(s.Values) - 1
		if v := s.Values[i]; !c.fault && (v.Name != "stored at line 32" || v.Threads[37] != fmt.Sprint(37+c.at)) {
			t.Errorf("%+v: values %+v", c, v)
		}
		data, _ := s.MIMEBundle()
		svg, text := data["image/svg+xml"].(string), data["text/plain"].(string)
		if want := "s, word 3, bank 5: 7, written by thread (40,0,0) at line 25, the last of 2 threads"; !strings.Contains(svg, want) || strings.Contains(svg, "<script") {
			t.Errorf("%+v: the picture lacks %q", c, want)
		}
		if want := fmt.Sprintf("5: 7, 6: %d", 2+c.at); !strings.Contains(text, want) {
			t.Errorf("%+v: %q in %s", c, want, text)
		}
	}
	for what, c := range map[string]struct {
		launch func() error
		block  gpu.Dim
		want   error
	}{
		"no launch":     {func() error { return nil }, gpu.Dim{}, gpu.ErrArgument},
		"another error": {func() error { return gpu.ErrClosed }, gpu.Dim{}, gpu.ErrClosed},
		"no such block": {launchLeaves(t, dev, 999), gpu.Dim{X: 3}, gpu.ErrArgument},
		"not reached":   {launchLeaves(t, dev, 53), gpu.Dim{X: 2}, gpu.ErrArgument},
	} {
		if _, err := inspect.Watch(dev, c.launch, c.block); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	if _, err := inspect.Watch(notEmulated{dev}, launchLeaves(t, dev, 999)); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("on a GPU: %v", err)
	}
}

// notEmulated is a device without a follower.
type notEmulated struct{ gpu.Device }

// A debug build has the variables of each thread, and dynamic shared memory with the length
// of the launch.
func TestWatchVariables(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	m, err := compile.CUDA(t.Context(), "dynamic.cu", `extern __shared__ int room[];
__global__ void dynamic(int n) {
  int mine = threadIdx.x * 3;
  if (threadIdx.x >= n) return;
  room[threadIdx.x] = mine;
}`, compile.Options{Debug: true})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := inspect.Watch(dev, func() error {
		return m.Entries[0].Run(dev, gpu.Launch{Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 40}, Shared: 80, Args: []any{int32(20)}})
	})
	if err != nil {
		t.Fatal(err)
	}
	room, err := s.Array("room")
	if err != nil || len(room.Words) != 20 || room.Words[19].Text != "57" || room.Words[19].Line != 5 {
		t.Errorf("room is %+v, %v", room, err)
	}
	if len(s.Values) != 1 || s.Values[0].Name != "mine" || s.Values[0].Threads[39] != "117" {
		t.Errorf("values %+v", s.Values)
	}
}
