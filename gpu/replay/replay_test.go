package replay

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

const text = `
.version 6.4
.target sm_75
.address_size 64

.global .align 4 .u32 index;

// index += 1
.visible .entry next()
{
	.reg .u32 %r<2>;
	ld.global.u32 %r0, [index];
	add.u32 %r0, %r0, 1;
	st.global.u32 [index], %r0;
	ret;
}

// s.x[index] = s.value
.visible .entry put(.param .align 8 .b8 s[16])
{
	.reg .u64 %rd<4>;
	.reg .u32 %r<2>;
	ld.param.u64 %rd0, [s];
	ld.param.u32 %r0, [s+8];
	ld.global.u32 %r1, [index];
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r0;
	ret;
}

.visible .entry endless()
{
	.reg .b64 %rd<1>;
	.reg .pred %p<1>;
	mov.u64 %rd0, 0;
again:
	add.u64 %rd0, %rd0, 1;
	setp.ne.u64 %p0, %rd0, 0;
	@%p0 bra again;
	ret;
}
`

func open() (gpu.Device, error) { return emu.Open("") }

// log is launches of entries, with x of four elements and the variable index.
func log(index uint32, entries ...string) Log {
	m := &Module{Name: "test.ptx", Text: text}
	l := Log{Memory: []Memory{
		{Label: "x", Type: gpu.Uint32, Contents: make([]byte, 16)},
		{Type: gpu.Uint8, Contents: binary.LittleEndian.AppendUint32(nil, index), Module: m, Variable: "index"},
	}}
	for _, name := range entries {
		launch := Launch{Module: m, Name: name, Launch: gpu.Launch{Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}}}
		if name == "put" {
			launch.Args = []any{struct {
				x     gpu.Buffer
				value uint32
			}{Part{Memory: 0, Start: 1, Elements: 3}, 7}}
		}
		l.Launches = append(l.Launches, launch)
	}
	return l
}

// The fault depends on a variable, on an earlier launch, and on a view in a
// struct.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		what string
		log  Log
		want string // "" for no fault
	}{
		{"inside", log(1, "next", "put"), ""},
		{"outside after a launch", log(2, "next", "put"), "end 4 bytes past buffer x (16 bytes)"},
		{"outside at once", log(1000, "put"), "end 3992 bytes past buffer x (16 bytes)"},
		{"nothing", log(0), ""},
	} {
		fault, err := Run(context.Background(), open, c.log)
		if err != nil || (fault == nil) != (c.want == "") || fault != nil && !strings.Contains(fault.Detail, c.want) {
			t.Errorf("%s: %v, %v, expected %q", c.what, fault, err, c.want)
		}
	}
}

// What cannot be run is an error, not a fault and not silence.
func TestRunErrors(t *testing.T) {
	if _, err := Run(context.Background(), open, log(0, "nothing")); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("%v, expected that the entry is not found", err)
	}
	bad := log(0, "put")
	bad.Launches[0].Args[0] = uint32(1)
	if _, err := Run(context.Background(), open, bad); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("%v, expected a wrong argument", err)
	}
	none := func() (gpu.Device, error) { return nil, gpu.ErrMemory }
	if _, err := Run(context.Background(), none, log(0)); !errors.Is(err, gpu.ErrMemory) {
		t.Errorf("%v, expected what open returned", err)
	}
}

func TestRunEnds(t *testing.T) {
	ctx, done := context.WithTimeoutCause(context.Background(), 200*time.Millisecond, errors.New("it takes too long"))
	defer done()
	start := time.Now()
	fault, err := Run(ctx, open, log(0, "endless"))
	if took := time.Since(start); fault != nil || err == nil || !strings.Contains(err.Error(), "it takes too long") || took > time.Minute {
		t.Errorf("%v, %v after %v, expected the context's reason", fault, err, took)
	}
}
