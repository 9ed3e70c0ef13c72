package ops

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// profile is what NVIDIA's profiler counted of every launch of a ladder, in
// the order of its variants.
type profile struct {
	Device, Tool, Date string
	Size               Size
	PTX                string `json:"ptx_sha256"`
	Launches           []profiled
}

// profiled is one launch as the profiler counted it.
type profiled struct {
	Entry          string
	PTX            string `json:"entry_sha256"` // see EntryHash; "" in older profiles
	Blocks         int
	LoadRequests   uint64 `json:"global_load_requests"`
	LoadSectors    uint64 `json:"global_load_sectors"`
	StoreRequests  uint64 `json:"global_store_requests"`
	StoreSectors   uint64 `json:"global_store_sectors"`
	RedRequests    uint64 `json:"global_red_requests"` // of red and atom
	LoadWaves      uint64 `json:"shared_load_wavefronts"`
	LoadConflicts  uint64 `json:"shared_load_conflicts"`
	StoreWaves     uint64 `json:"shared_store_wavefronts"`
	StoreConflicts uint64 `json:"shared_store_conflicts"`
}

// TestCountersEqualTheProfilers runs the ladders on the emulator of an H200 and
// compares every launch with the profiler's counts on the GPU itself. Its
// counts of wavefronts and conflicts both carry the same noise of arbitration,
// at most 2.5 % of the wavefronts, so their difference is compared exactly.
func TestCountersEqualTheProfilers(t *testing.T) {
	for _, c := range []struct {
		operator *Operator
		file     string
	}{{Reduce, "reduce.h200.json"}, {Gemm, "gemm_aligned.h200.json"}, {Gemm, "gemm_odd.h200.json"}} {
		t.Run(c.file, func(t *testing.T) { compareWithProfile(t, c.operator, readProfile(t, c.file)) })
	}
}

func readProfile(t *testing.T, file string) (golden profile) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return golden
}

func compareWithProfile(t *testing.T, o *Operator, golden profile) {
	dev, err := device.Open("emu:h200")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	bench := newBench(t, dev, o, 42, golden.Size...)
	file, err := pick(o.Name, files(t, o.module(Variant{})), dev.Info())
	if err != nil {
		t.Fatal(err)
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(file.text)))
	counts, err := bench.Count()
	if err != nil {
		t.Fatal(err)
	}
	launches := map[string][]profiled{} // by variant
	for _, l := range golden.Launches {
		name := strings.TrimSuffix(l.Entry, "_2")
		launches[name] = append(launches[name], l)
	}
	for _, row := range counts.Rows {
		want := launches[row.Name]
		delete(launches, row.Name)
		switch {
		case want == nil && hash != golden.PTX: // a new rung, of who may have no such GPU
			t.Logf("%s is not in the profile, made before %s changed", row.Name, file.name)
			continue
		case len(row.Launches) != len(want):
			t.Errorf("%s: %d launches, the profiler saw %d", row.Name, len(row.Launches), len(want))
			continue
		}
		for k, c := range row.Launches {
			if now := EntryHash(file.text, want[k].Entry); want[k].PTX != "" && want[k].PTX != now {
				t.Errorf("%s is not the code that was profiled: profile it again, as profile_test.go says", want[k].Entry)
			}
			c.GlobalLoad.Sectors += unexplained[path.Base(t.Name())+"/"+row.Name]
			compareLaunch(t, fmt.Sprintf("%s, launch %d", row.Name, k), c, want[k], merged[row.Name])
		}
	}
	for _, reason := range counts.Environment.NotRun {
		name, _, _ := strings.Cut(reason, ":")
		t.Logf("profiled and not counted: %s", reason)
		delete(launches, name)
	}
	for name := range launches {
		t.Errorf("%s was profiled and is not counted", name)
	}
}

// merged are the rungs that read neighbouring floats of shared memory one by
// one. NVIDIA's assembler joins these reads into vectors, so that the profiler
// sees fewer wavefronts than the PTX asks for; never more.
var merged = map[string]bool{"gemm_shared": true, "gemm_tile_1d": true, "gemm_tile_2d": true}

// unexplained are sectors that the profiler counted and that PTX does not ask
// for: at m = 321, n = 261, k = 77, one for each of the 440 warps. Which request
// of cp.async they belong to is not known. It is none that machine code adds:
// ptxas 13.0 makes 42 copies of 42, and the requests are equal. Nor is it that
// some or all lanes of a request read nothing: gemm_sliced_k_16 has such ones,
// and is equal.
var unexplained = map[string]uint64{"gemm_odd.h200.json/gemm_sliced_k": 440}

func compareLaunch(t *testing.T, at string, c gpu.Counters, want profiled, merged bool) {
	t.Helper()
	equal(t, at, "global load requests", c.GlobalLoad.Requests, want.LoadRequests)
	equal(t, at, "global load sectors", c.GlobalLoad.Sectors, want.LoadSectors)
	equal(t, at, "global store requests", c.GlobalStore.Requests, want.StoreRequests)
	equal(t, at, "global store sectors", c.GlobalStore.Sectors, want.StoreSectors)
	equal(t, at, "atomic requests", c.GlobalAtomic.Requests, want.RedRequests)
	if !merged {
		shared(t, at+", shared loads", c.SharedLoad, want.LoadWaves, want.LoadConflicts)
	} else if c.SharedLoad.Wavefronts <= want.LoadWaves {
		t.Errorf("%s: %d wavefronts, the profiler counted %d: the assembler no longer joins reads",
			at, c.SharedLoad.Wavefronts, want.LoadWaves)
	}
	shared(t, at+", shared stores", c.SharedStore, want.StoreWaves, want.StoreConflicts)
}

func equal(t *testing.T, at, what string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s: %d, the profiler counted %d", at, what, got, want)
	}
}

func shared(t *testing.T, at string, got gpu.SharedAccess, waves, conflicts uint64) {
	t.Helper()
	equal(t, at, "wavefronts less conflicts", got.Wavefronts-got.Conflicts, waves-conflicts)
	if noise := conflicts - got.Conflicts; got.Conflicts > conflicts || 40*noise > waves {
		t.Errorf("%s: %d conflicts, the profiler counted %d of %d wavefronts", at, got.Conflicts, conflicts, waves)
	}
}
