package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/emu/engine"
)

const loop = `.version 7.0
.target sm_75
.address_size 64
.visible .entry looped(.param .u64 x) {
	.reg .u64 %rd<4>;
	.reg .u32 %r<4>;
	.reg .pred %p;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	mov.u32 %r2, 0;
L:
	add.u32 %r2, %r2, 1;
	st.global.u32 [%rd1], %r2;
	setp.lt.u32 %p, %r2, 4;
	@%p bra L;
	ret;
}`

// followed notes each instruction of the launches of one file.
type followed struct {
	file  string
	steps []string
	trail *engine.Trail
}

func (f *followed) Follows(files []string) bool {
	return strings.Contains(strings.Join(files, " "), f.file)
}
func (f *followed) Begin(t *engine.Trail) { f.trail = t }
func (f *followed) Step(at *engine.Stop)  { f.steps = append(f.steps, stepText(at)) }

func stepText(at *engine.Stop) string {
	name, line := at.Instruction()
	return fmt.Sprint(at.Time(), " ", at.Block().X, " ", at.Warp(), " ", name, " ", line, " ", at.Active(), " ", at.Fault != nil, " ", at.Operands())
}

// A follower sees each instruction, those after a jump back, too; a repetition of the
// launch comes to the same ones with the same values, from each kept point, and leaves the
// buffers alone.
func TestFollowAndReplay(t *testing.T) {
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := dev.Load("looped.ptx", loop)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("looped")
	if err != nil {
		t.Fatal(err)
	}
	x, err := gpu.Upload(dev, make([]uint32, 40))
	if err != nil {
		t.Fatal(err)
	}
	f := &followed{file: "looped.ptx"}
	engine.Follow(f)
	defer engine.Follow(nil)
	if err := dev.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 3}, Block: gpu.Dim{X: 40}, Args: []any{x}}); err != nil {
		t.Fatal(err)
	}
	stores := 0
	for _, s := range f.steps {
		if strings.Contains(s, "st.global") {
			stores++
		}
	}
	if want := 3 * 2 * 4; stores != want {
		t.Errorf("%d stores of warps, want %d", stores, want)
	}
	if err := x.Upload(make([]uint32, 40)); err != nil { // of the device, not of the trail
		t.Fatal(err)
	}
	for from := range len(f.steps) {
		var again []string
		f.trail.Replay(uint64(from), func(at *engine.Stop) bool {
			if at.Time() >= uint64(from) {
				again = append(again, stepText(at))
			}
			return len(again) < 50
		})
		for i, s := range again {
			if s != f.steps[from+i] {
				t.Fatalf("from %d: %s, want %s", from, s, f.steps[from+i])
			}
		}
		if len(again) != min(50, len(f.steps)-from) {
			t.Fatalf("from %d: %d steps", from, len(again))
		}
	}
	values := make([]uint32, 40)
	if err := x.Download(values); err != nil || values[3] != 0 {
		t.Errorf("a repetition wrote to the buffer: %v %v", values, err)
	}
}

const polling = `.version 7.0
.target sm_75
.address_size 64
.visible .entry polls(.param .u64 x) {
	.reg .u64 %rd<4>;
	.reg .u32 %r<4>;
	.reg .pred %p;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p, %r1, 33;
	@%p bra DONE;
L:
	ld.volatile.global.u32 %r2, [%rd1];
	setp.eq.u32 %p, %r2, 0;
	@%p bra L;
DONE:
	bar.sync 0;
	ret;
}`

// A launch that hangs stops the follower at the thread that polls.
func TestFollowHang(t *testing.T) {
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := dev.Load("polls.ptx", polling)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("polls")
	if err != nil {
		t.Fatal(err)
	}
	x, err := gpu.Upload(dev, make([]uint32, 1))
	if err != nil {
		t.Fatal(err)
	}
	f := &faulted{}
	engine.Follow(f)
	defer engine.Follow(nil)
	launch := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 3}, Block: gpu.Dim{X: 40}, Args: []any{x}}
	if err := dev.Launch(launch); !errors.Is(err, gpu.ErrHang) {
		t.Fatalf("%v, want a hang", err)
	}
	if len(f.at) != 1 || f.at[0] != "warp 1 block 0 lanes 2" {
		t.Errorf("told of %q, want once of thread 33", f.at)
	}
	if f.trail.Fault() == nil {
		t.Error("the trail has no fault")
	}
}

// faulted notes the faults of a launch.
type faulted struct {
	at    []string
	trail *engine.Trail
}

func (f *faulted) Follows([]string) bool     { return true }
func (f *faulted) Begin(trail *engine.Trail) { f.trail = trail }
func (f *faulted) Step(s *engine.Stop) {
	if s.Fault != nil {
		f.at = append(f.at, fmt.Sprint("warp ", s.Warp(), " block ", s.Block().X, " lanes ", s.Active()))
	}
}
