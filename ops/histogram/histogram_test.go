package histogram

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T) { optest.Run(t, Operator) }

func TestConformanceBytes(t *testing.T) { optest.Run(t, Bytes) }

func TestBins(t *testing.T) {
	for _, bins := range []int{-1, 0, 65_537} {
		if _, err := OfBins(bins); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("%d bins: %v, expected an argument error", bins, err)
		}
	}
	for _, bins := range []int{1, 33, 384} {
		o, err := Operator.Set("bins", float64(bins))
		if err != nil {
			t.Fatal(err)
		}
		devicetest.Each(t, func(t *testing.T, d gpu.Device) {
			optest.CheckAll(t, optest.NewBench(t, d, o, 1, 10_007), "uniform", "histogram_atomic", "histogram_shared", "histogram_per_warp", "histogram_vec4", "histogram_match_any", "histogram_per_lane", "histogram_prefetch")
		})
	}
}

// Rungs take as many bins as they have counters for, and say how many that are.
func TestManyBins(t *testing.T) {
	for bins, refused := range map[int]string{
		4096:   "histogram_per_warp histogram_vec4 histogram_per_lane histogram_prefetch",
		65_536: "histogram_shared histogram_per_warp histogram_vec4 histogram_match_any histogram_wide histogram_per_lane histogram_prefetch",
	} {
		o, err := OfBins(bins)
		if err != nil {
			t.Fatal(err)
		}
		b := optest.NewBench(t, optest.Emulator(t), o, 1, 70_001)
		for _, data := range []string{"uniform", "outside"} {
			if err := b.UseData(data); err != nil {
				t.Fatal(err)
			}
			checks := optest.CheckAll(t, b, data)
			var names []string
			for _, why := range checks.Environment.NotRun {
				name, _, _ := strings.Cut(why, ":")
				names = append(names, name)
			}
			if got := strings.Join(names, " "); got != refused {
				t.Errorf("%d bins: not run %s, expected %s", bins, got, refused)
			}
		}
	}
}

// Counters of 16 bits give to the global ones before they overflow: one block counts
// 200003 equal values.
func TestU16CountersOverflow(t *testing.T) {
	o, err := OfBins(65_536)
	if err != nil {
		t.Fatal(err)
	}
	b := optest.NewBench(t, optest.Emulator(t), o, 1, 200_003)
	if err := b.UseData("all equal"); err != nil {
		t.Fatal(err)
	}
	optest.CheckAll(t, b, "all equal", "histogram_u16_counters", "histogram_u16_prefetch", "histogram_cluster")
}

// A byte of 128 or more, as a signed char, is an index in front of the counters.
func TestSignedBytes(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), Bytes, 1, 1000)
	checks := optest.CheckAll(t, b, "uniform", "histogram_u8_signed")
	if got := checks.Rows[0].Failed; !slices.Equal(got, []string{ladder.CheckFault + gpu.ErrOutOfBounds.Error()}) {
		t.Errorf("failed %v, expected an address out of bounds", got)
	}
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
	_, of, _ := strings.Cut(string(machine), `"histogram_shared": {`)
	_, of, _ = strings.Cut(of, `"Code": "`)
	code, _, _ := strings.Cut(of, `"`)
	if len(code) != 16 || !strings.Contains(string(notes), "machine.json, "+code+":") {
		t.Errorf("notes.md does not quote the machine code %q: disassemble histogram_shared again", code)
	}
}

// A handle runs the last rung that takes the bins: it is the one made for so many.
func TestLastRung(t *testing.T) {
	for bins, want := range map[int]string{256: "histogram_prefetch", 4096: "histogram_wide", 65_536: "histogram_u16_prefetch"} {
		o, err := OfBins(bins)
		if err != nil {
			t.Fatal(err)
		}
		last := ""
		for _, v := range o.Variants {
			if v.Refuses == nil || v.Refuses(ladder.Size{1 << 20}) == nil {
				last = v.Name
			}
		}
		if last != want {
			t.Errorf("%d bins: %s, expected %s", bins, last, want)
		}
	}
}
