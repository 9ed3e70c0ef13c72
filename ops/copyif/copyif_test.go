package copyif

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T) { optest.Run(t, Operator) }

func TestConformanceMistakes(t *testing.T) { optest.Run(t, Mistakes) }

// The reference and the rung of the CPU keep the elements above 0, in the order of x.
func TestReference(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := []float32{3, -1, 0, nan, 0x1p-149, float32(math.Copysign(0, -1)), -inf, inf, 2, 3}
	want := []float32{3, 0x1p-149, inf, 2, 3}
	e := reference(nil, ladder.Size{len(x)}, []ladder.Values{x})
	if got := e[0].Exact.([]float32); !slices.Equal(got, want) || e[1].Exact.([]uint32)[0] != 5 {
		t.Errorf("reference %v, count %v", got, e[1].Exact)
	}
	y, count := []float32{-7, -7, -7}, []uint32{99}
	onHost(nil, ladder.Size{len(x)}, []ladder.Values{x}, []ladder.Values{y, count})
	if !slices.Equal(y, want[:3]) || count[0] != 5 {
		t.Errorf("with room for 3: %v, count %v", y, count)
	}
}

// The judge demands the order of plans that keep it, and the same elements of others.
func TestJudge(t *testing.T) {
	want := []float32{5, 1, 5, 3}
	for _, c := range []struct {
		got      []float32
		count    uint32
		anyOrder bool
		failed   string
	}{
		{[]float32{5, 1, 5, 3}, 4, false, ""},
		{[]float32{5, 5, 1, 3}, 4, false, ladder.CheckExact},
		{[]float32{3, 5, 1, 5}, 4, true, ""},
		{[]float32{3, 5, 1, 1}, 4, true, ladder.CheckElements},
		{[]float32{3, 5, 1, 4}, 4, true, ladder.CheckElements},
		{[]float32{3, 5, 1, float32(math.NaN())}, 4, true, ladder.CheckElements},
		{[]float32{5, 1}, 4, false, ""}, // room for two
		{[]float32{5, 5}, 4, false, ladder.CheckExact},
		{[]float32{5, 5}, 4, true, ""},
		{[]float32{3, 3}, 4, true, ladder.CheckElements},
		{[]float32{9, 5}, 4, true, ladder.CheckElements},
		{[]float32{5, 1}, 2, false, ladder.CheckExact}, // the count is not of all
		{[]float32{}, 4, true, ""},
	} {
		tensors := []ladder.Tensor{{Name: "y", Len: len(c.got), Count: "count", Judge: ordered}, {Name: "count", Len: 1, Type: gpu.Uint32}}
		expected := []ladder.Expected{{Exact: want}, {Exact: []uint32{4}}}
		failed := ladder.Compare(nil, tensors, []ladder.Values{c.got, []uint32{c.count}}, expected, ladder.Plan{AnyOrder: c.anyOrder}).Failed
		if (len(failed) > 0) != (c.failed != "") || c.failed != "" && !slices.Contains(failed, c.failed) {
			t.Errorf("%v, count %d, any order %v: failed %v, expected %q", c.got, c.count, c.anyOrder, failed, c.failed)
		}
	}
}

// Every share, and room for fewer than are kept: the count is of all, and nothing is
// written behind y, where the emulator would find it.
func TestKeepAndRoom(t *testing.T) {
	for _, p := range []struct{ keep, room float64 }{{-0.1, 1}, {1.1, 1}, {0.5, math.NaN()}, {0.5, 2}} {
		if _, err := Of(p.keep, p.room); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("keep %v, room %v: %v, expected an argument error", p.keep, p.room, err)
		}
	}
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		for _, p := range []struct{ keep, room float64 }{{0, 1}, {0.01, 1}, {0.9, 1}, {1, 1}, {0.9, 0.25}, {0.5, 0}, {1, 0.999}} {
			o, err := Of(p.keep, p.room)
			if err != nil {
				t.Fatal(err)
			}
			b := optest.NewBench(t, d, o, 1, 17_011)
			for _, data := range []string{"uniform", "clustered", "skewed"} {
				if err := b.UseData(data); err != nil {
					t.Fatal(err)
				}
				optest.CheckAll(t, b, data)
				if p.keep != 0.9 {
					break // one data set tells all
				}
			}
		}
	})
}

// The data sets have the share that they promise.
func TestShares(t *testing.T) {
	const n = 200_000
	for _, keep := range []float64{0, 0.01, 0.1, 0.5, 0.9, 1} {
		for _, d := range dataSets(keep) {
			made := d.Make(nil, []ladder.Tensor{{Name: "x", Len: n}}, ladder.NewRandom(7))
			share := float64(len(appendKept(nil, made[0].([]float32)))) / n
			allowed := 0.02
			switch {
			case d.Name == "special":
				allowed = 0.1 // one of ten is another number
			case keep == 0 || keep == 1:
				allowed = 0
			case d.Name == "clustered":
				allowed = 0.1 // about 200 runs
			}
			if math.Abs(share-keep) > allowed {
				t.Errorf("%s, keep %v: %v are above 0", d.Name, keep, share)
			}
		}
	}
}

// More than 2^31 elements are kept and counted.
func TestCountBeyond2G(t *testing.T) {
	if os.Getenv("WARPBOOK_LONG") == "" {
		t.Skip("2^31 elements take minutes: set WARPBOOK_LONG, with a GPU")
	}
	o, err := Of(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		if d.Info().Emulated {
			t.Skip("2^31 elements take hours on the emulator")
		}
		b := optest.NewBench(t, d, o, 1, 1<<31+12_345)
		optest.CheckAll(t, b, "all kept", "copy_if_filter", "copy_if_block_scan", "copy_if_compact", "copy_if_two_passes", "copy_if_look_back", "copy_if_pipeline")
	})
}

// The machine code in the notes is that of today's PTX.
func TestMachineCodeOfNotes(t *testing.T) {
	notes, err := files.ReadFile("notes.md")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := files.ReadFile("machine.json")
	if err != nil {
		t.Fatal(err)
	}
	_, of, _ := strings.Cut(string(machine), `"copy_if_filter": {`)
	_, of, _ = strings.Cut(of, `"Code": "`)
	code, _, _ := strings.Cut(of, `"`)
	if len(code) != 16 || !strings.Contains(string(notes), "machine.json, "+code+":") {
		t.Errorf("notes.md does not quote the machine code %q: disassemble copy_if_filter again", code)
	}
}
