package gputest

import (
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
)

// testStrings checks what a notebook shows of a device and of what is made from
// it: one line of facts, in the same words on every device.
func testStrings(t *testing.T, s *suite) {
	on := s.device.Info().String()
	shows := func(v any, want string) {
		t.Helper()
		if got := fmt.Sprint(v); got != want {
			t.Errorf("%T: %q, want %q", v, got, want)
		}
	}
	x, y := s.alloc(gpu.Float32, 100, fill(100, 1)), s.alloc(gpu.Float32, 100, nil)
	device := fmt.Sprint(s.device)
	if want := fmt.Sprintf(" of %d bytes in use", s.device.Info().GlobalBytes); !strings.HasPrefix(device, on+", ") || !strings.HasSuffix(device, want) {
		t.Errorf("device: %q, want %q and its end %q", device, on, want)
	}
	shows(x, "buffer: 100 float32 on "+on)
	shows(x.Label("x"), "buffer x: 100 float32 on "+on)
	view, err := x.View(10, 5)
	s.ok(err)
	shows(view, "view from byte 40 of buffer x: 5 float32 on "+on)
	host, err := s.device.AllocHost(gpu.Uint8, 7)
	s.ok(err)
	shows(host, "host memory: 7 uint8 for "+on)
	stream, err := s.device.NewStream()
	s.ok(err)
	shows(stream, "stream of "+on)
	event, err := s.device.NewEvent()
	s.ok(err)
	shows(event, "event of "+on+", not recorded")
	s.ok(stream.Record(event))
	shows(event, "event of "+on+", recorded")
	launch := s.scale(x, y, 2, 100)
	launch.Shared, launch.Zero = 16, []gpu.Buffer{y}
	shows(launch.Entry, "scale(.u64 x, .u64 y, .f32 a, .u32 n)")
	shows(launch, fmt.Sprintf("launch of scale: grid %v, block %v, 4 arguments, 16 bytes of dynamic shared memory, 1 buffers set to 0 before", launch.Grid.Full(), launch.Block.Full()))
	shows(gpu.Launch{}, "launch of no entry: grid (0,1,1), block (0,1,1), 0 arguments")
	graph := s.captured(stream, func() { s.ok(stream.Launch(launch)) })
	shows(graph, "graph of 1 launches on "+on)
	if module := fmt.Sprint(s.module); !strings.HasPrefix(module, "module gputest.ptx on "+on+": entries scale, coordinates, ") {
		t.Errorf("module: %q", module)
	}
	place, err := view.Place()
	s.ok(err)
	shows(place, "20 bytes from byte 40 of an allocation on "+on)

	s.ok(graph.Close())
	shows(graph, "graph of 1 launches on "+on+", closed")
	s.ok(event.Close())
	shows(event, "event of "+on+", recorded, closed")
	s.ok(stream.Close())
	shows(stream, "stream of "+on+", closed")
	s.ok(host.Free())
	shows(host, "host memory: 7 uint8 for "+on+", freed")
	s.ok(x.Free())
	shows(x, "buffer x: 100 float32 on "+on+", freed")
	shows(view, "view from byte 40 of buffer x: 5 float32 on "+on+", freed")
	s.ok(s.device.Close())
	shows(y, "buffer: 100 float32 on "+on+", closed")
	if device := fmt.Sprint(s.device); !strings.HasSuffix(device, ", closed") {
		t.Errorf("closed device: %q", device)
	}
}
