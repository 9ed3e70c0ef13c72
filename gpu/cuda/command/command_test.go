package command

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// samples has a command of each kind, with every field set.
func samples() []Command {
	launch := Launch{Stream: 1, Entry: 2, Grid: [3]uint32{3, 4, 5}, Block: [3]uint32{6, 7, 8}, Shared: 9, Cooperative: true, Cluster: [3]uint32{2, 4, 1}, Large: true,
		Zero: []Range{{10, 11, 12}, {13, 1 << 40, 15}}, Params: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, Addresses: []Address{{1, 2, 1 << 40}},
		Maps: []Map{{1, 2, Place{3, 4}, []int64{5, 6}, []int64{7}, []uint32{8, 9}, 3, 10, []int32{-1}, []int32{2}, 11, 12, []uint32{13}}}}
	bare := Launch{Zero: []Range{}, Params: []byte{}, Addresses: []Address{}, Maps: []Map{}}
	return []Command{
		&Alloc{1, 1 << 40}, &Free{2}, &Register{1 << 40, 3}, &Unregister{1 << 41},
		&Load{1, 2, 3, []string{"reduce", ""}, [][]uint32{{0, 8}, {}}, []string{"count"}, ".version 6.4\n"}, &Unload{4},
		&NewStream{5}, &CloseStream{AllStreams}, &NewEvent{6}, &CloseEvent{7}, &launch,
		&Copy{1, Place{2, 1 << 40}, Place{0, 4}, 1 << 41}, &Zero{1, Range{2, 3, 4}}, &Record{1, 2}, &Wait{3, 4},
		&Sync{5}, &SyncEvent{6}, &Elapsed{7, 8}, &Time{1 << 40, 3, 1, 2, true, true, []Launch{launch, bare}},
		&Occupancy{1, 2, 3}, &AllocAsync{1, 2, 1 << 40}, &FreeAsync{3, 4},
		&Graph{1, []Node{{Work: NodeLaunch, After: []uint32{}, Launch: launch}, {Work: NodeCopy, After: []uint32{0}, Copy: Copy{1, Place{2, 3}, Place{4, 5}, 6}},
			{Work: NodeZero, After: []uint32{0, 1}, Zero: Range{1, 2, 3}}}},
		&UpdateGraph{1, 2, launch}, &LaunchGraph{3, 4}, &CloseGraph{5},
		&Array{1, 2, 3, [3]uint32{4, 5, 6}, 7, true}, &CopyArray{1, Range{2, 3, 4}, true}, &FreeArray{5},
		&Texture{1, Range{2, 3, 4}, 5, 6, 7, true, true, true, [4]float32{1, 2, 3, 4}}, &Surface{6}, &FreeObject{1 << 40, true},
		&OpenNCCL{[]string{"libnccl.so.2", ""}}, &GroupID{}, &JoinGroup{1, 2, 3, 1 << 40, []byte{4, 5}},
		&Collect{1, []Run{{ReduceScatter, 2, 3, 4, Range{5, 6, 7}, Range{8, 9, 10}, 1 << 41}, {}}, 11, 12}, &PollGroup{1}, &LeaveGroup{2},
		&Clusters{1, 2, [3]uint32{3, 4, 5}, [3]uint32{6, 7, 8}, true},
	}
}

// TestCommands checks that each kind arrives as it was sent, and after another
// of its kind.
func TestCommands(t *testing.T) {
	list := samples()
	if len(list) != int(kinds)-1 {
		t.Fatalf("%d samples, expected one of each of %d kinds", len(list), kinds-1)
	}
	var data []byte
	for i, c := range append(list, list...) {
		data = Append(data, uint32(i), c)
	}
	r := NewReader(bytes.NewReader(data))
	var set Set
	for i, want := range append(list, list...) {
		got, number, err := r.Command(&set)
		if err != nil {
			t.Fatal(err)
		}
		if number != uint32(i) || fmt.Sprintf("%T%+v", got, got) != fmt.Sprintf("%T%+v", want, want) {
			t.Errorf("command %d: %d %+v, expected %+v", i, number, got, want)
		}
	}
	if _, _, err := r.Command(&set); err != io.EOF {
		t.Errorf("after the last: %v, expected EOF", err)
	}
}

func TestAnswers(t *testing.T) {
	want := Answer{Number: 7, Code: -3, Text: "one\ntwo", Suspects: []Suspect{{"reduce", [3]uint32{1, 2, 3}, [3]uint32{4, 5, 6}, 7}}, Values: []int64{-1, 1 << 62}}
	got, err := NewReader(bytes.NewReader(want.Append(nil))).Answer()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, expected %+v", got, err, want)
	}
	hello := Hello{Protocol, 0, "text", "NVIDIA H200", "GPU-1", 13000, 1 << 40, make([]int64, Attributes)}
	back, err := NewReader(bytes.NewReader(hello.Append(nil))).Hello()
	if err != nil || !reflect.DeepEqual(back, hello) {
		t.Errorf("%+v %v, expected %+v", back, err, hello)
	}
	hello.Attributes = nil
	if _, err := NewReader(bytes.NewReader(hello.Append(nil))).Hello(); err == nil {
		t.Error("a hello without attributes is taken")
	}
}

// TestBroken checks frames that end early, have too much, or lie about a
// length.
func TestBroken(t *testing.T) {
	for _, c := range samples() {
		whole := Append(nil, 1, c)
		for n := 1; n < len(whole); n++ {
			if _, _, err := NewReader(bytes.NewReader(whole[:n])).Command(&Set{}); err == nil {
				t.Errorf("kind %d: %d of %d bytes are taken", c.Kind(), n, len(whole))
			}
		}
		long := append(bytes.Clone(whole), 0)
		long[0]++
		if _, _, err := NewReader(bytes.NewReader(long)).Command(&Set{}); err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("kind %d with a byte too many: %v", c.Kind(), err)
		}
	}
	for _, data := range [][]byte{
		{0, 0, 0, 0},                                         // too short for a header
		{255, 255, 255, 255},                                 // 4 GiB
		{5, 0, 0, 0, 0, 0, 0, 0, 0},                          // no kind
		{5, 0, 0, 0, 200, 0, 0, 0, 0},                        // unknown kind
		{255, 255, 255, 15, 1, 2, 3},                         // 256 MiB that do not come
		{9, 0, 0, 0, 20, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, // wrong size
	} {
		if _, _, err := NewReader(bytes.NewReader(data)).Command(&Set{}); err == nil || err == io.EOF {
			t.Errorf("%v: error %v, expected one", data, err)
		}
	}
}

// FuzzCommand checks that no bytes crash a reader or make it allocate, and
// that Append writes a parsed message back with the same bytes.
func FuzzCommand(f *testing.F) {
	for _, c := range samples() {
		f.Add(Append(nil, 1, c))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, number, err := NewReader(bytes.NewReader(data)).Command(&Set{})
		if err != nil {
			return
		}
		out := Append(nil, number, c)
		again, _, err := NewReader(bytes.NewReader(out)).Command(&Set{})
		if err != nil || !bytes.Equal(Append(nil, number, again), out) {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
	})
}

// counting is a worker that counts its commands.
type counting struct{ n int }

func (c *counting) Do(Command, *Answer) { c.n++ }

// BenchmarkServe is the cost of a launch in the worker, without the launch itself.
func BenchmarkServe(b *testing.B) {
	launch := samples()[10]
	const n = 10_000
	var data []byte
	for range n {
		data = Append(data, 0, launch)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := &counting{}
		if err := Serve(bytes.NewReader(data), io.Discard, w); err != nil || w.n != n {
			b.Fatal(err, w.n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/command")
}
