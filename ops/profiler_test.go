package ops

import (
	"encoding/json"
	"fmt"
	"os"
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
	Launches           []profiled
}

// profiled is one launch as the profiler counted it; what is not named is 0.
type profiled struct {
	Variant, Entry string
	PTX            string `json:"entry_sha256"` // see EntryHash
	Blocks         int
	LoadRequests   uint64 `json:"global_load_requests"`
	LoadSectors    uint64 `json:"global_load_sectors"`
	StoreRequests  uint64 `json:"global_store_requests"`
	StoreSectors   uint64 `json:"global_store_sectors"`
	RedRequests    uint64 `json:"global_red_requests"` // of red and atom
	LocalLoads     uint64 `json:"local_load_requests"`
	LocalStores    uint64 `json:"local_store_requests"`
	LoadWaves      uint64 `json:"shared_load_wavefronts"`
	LoadConflicts  uint64 `json:"shared_load_conflicts"`
	StoreWaves     uint64 `json:"shared_store_wavefronts"`
	StoreConflicts uint64 `json:"shared_store_conflicts"`
	AsyncCopies    uint64 `json:"async_copies"`
	MatrixLoads    uint64 `json:"matrix_loads"`

	// Executed are instructions of the machine code, one a warp, by opcode.
	Executed map[string]uint64
}

// joined are the rungs that read neighbouring floats of shared memory one by
// one. NVIDIA's assembler joins these reads into vectors, so that the profiler
// sees fewer wavefronts than the PTX asks for; never more.
var joined = map[string]bool{"gemm_shared": true, "gemm_tile_1d": true, "gemm_tile_2d": true}

// dropped are wavefronts a block that PTX asks for and the machine code does not:
// this rung's has one more ld.shared.v2 before its loop, of floats that the
// ld.shared.v4 before it has read; the assembler drops it, one a warp.
var dropped = map[string]uint64{"gemm_batched_pointers": 4}

// TestCountersEqualTheProfilers runs the ladders on the emulator of an H200 and
// compares every launch with the profiler's counts on the GPU itself. Its
// counts of wavefronts and conflicts both carry the same noise of arbitration,
// at most 2.5 % of the wavefronts of loads and 6 % of those of stores, beside
// which cp.async writes; so their difference is compared exactly. Its count of
// requests to shared memory carries noise, too, and nothing to subtract: it is
// not compared.
func TestCountersEqualTheProfilers(t *testing.T) {
	for _, c := range profiledCases {
		t.Run(c.name, c.compare)
	}
}

func (c profiledCase) compare(t *testing.T) {
	text, err := os.ReadFile(c.file())
	if err != nil {
		t.Fatal(err)
	}
	var golden profile
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	dev, err := device.Open("emu:h200")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if golden.Size.String() != c.size.String() {
		t.Fatalf("the profile is of size %v, expected %v", golden.Size, c.size)
	}
	b := newBench(t, dev, c.operator, 42, c.size...)
	launches := map[string][]profiled{}
	for _, l := range golden.Launches {
		launches[l.Variant] = append(launches[l.Variant], l)
	}
	var e Environment
	err = b.each("count", nil, &e, func(r *run) error {
		if r.variant.Host != nil || strings.HasPrefix(b.expect(r.variant), checkFault) {
			return nil // as when the profile was taken
		}
		want := launches[r.variant.Name]
		delete(launches, r.variant.Name)
		if reason := c.stale(t, r, want); reason != "" {
			t.Errorf("%s: %s: profile it as profile_test.go says", r.variant.Name, reason)
			return nil
		}
		row, err := r.count()
		for k, got := range row.Launches {
			at := fmt.Sprintf("%s/%s, launch %d", c.name, r.variant.Name, k)
			got.SharedLoad.Wavefronts -= dropped[r.variant.Name] * uint64(want[k].Blocks)
			compareLaunch(t, at, got, want[k], joined[r.variant.Name])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range launches {
		t.Errorf("%s was profiled and is not counted: %q", name, e.NotRun)
	}
}

func compareLaunch(t *testing.T, at string, c gpu.Counters, want profiled, joined bool) {
	t.Helper()
	equal := func(what string, got, want uint64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s: %d, the profiler counted %d", at, what, got, want)
		}
	}
	equal("global load requests", c.GlobalLoad.Requests, want.LoadRequests)
	equal("global load sectors", c.GlobalLoad.Sectors, want.LoadSectors)
	equal("global store requests", c.GlobalStore.Requests, want.StoreRequests)
	equal("global store sectors", c.GlobalStore.Sectors, want.StoreSectors)
	equal("atomic requests", c.GlobalAtomic.Requests, want.RedRequests)
	equal("local load requests", c.LocalLoad.Requests, want.LocalLoads)
	equal("local store requests", c.LocalStore.Requests, want.LocalStores)
	equal("barriers", c.Barriers, want.Executed["BAR"])
	equal("shuffles", c.Shuffles, want.Executed["SHFL"])
	equal("asynchronous copies", c.AsyncCopies, want.AsyncCopies)
	equal("matrix loads", c.MatrixLoads, want.MatrixLoads)
	if !joined {
		shared(t, at+", shared loads", c.SharedLoad, want.LoadWaves, want.LoadConflicts, 0.025)
	} else if c.SharedLoad.Wavefronts <= want.LoadWaves {
		t.Errorf("%s: %d wavefronts, the profiler counted %d: the assembler no longer joins reads",
			at, c.SharedLoad.Wavefronts, want.LoadWaves)
	}
	shared(t, at+", shared stores", c.SharedStore, want.StoreWaves, want.StoreConflicts, 0.06)
}

// shared compares accesses to shared memory, with noise of at most a share of
// the wavefronts.
func shared(t *testing.T, at string, got gpu.SharedAccess, waves, conflicts uint64, share float64) {
	t.Helper()
	if got.Wavefronts-got.Conflicts != waves-conflicts {
		t.Errorf("%s: wavefronts less conflicts: %d, the profiler counted %d", at, got.Wavefronts-got.Conflicts, waves-conflicts)
	}
	if noise := float64(conflicts) - float64(got.Conflicts); noise < 0 || noise > share*float64(waves) {
		t.Errorf("%s: %d conflicts, the profiler counted %d of %d wavefronts", at, got.Conflicts, conflicts, waves)
	}
}

// stale says why a variant cannot be compared, "" if it can.
func (c profiledCase) stale(t *testing.T, r *run, want []profiled) string {
	switch {
	case len(want) == 0:
		return "it has no profile"
	case len(want) != len(r.launches):
		return fmt.Sprintf("it has %d launches, the profiler saw %d", len(r.launches), len(want))
	}
	source := r.source()
	file, err := pick(source, files(t, source), r.bench.device.Info())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range want {
		if EntryHash(file.text, l.Entry) != l.PTX {
			return l.Entry + " is not the code that was profiled"
		}
	}
	return ""
}
