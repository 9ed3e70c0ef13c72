package optest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
)

// profile holds the counters of NVIDIA's profiler for every launch of a ladder, in
// the order of its rungs.
type profile struct {
	Device, Tool, Date string
	Size               ladder.Size
	Launches           []profiled
}

// profiled is one launch as the profiler counted it; a missing field is 0.
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

	// Executed are instructions of the machine code, one per warp, by opcode.
	Executed map[string]uint64
}

// profiles runs the cases with a profile on the emulator of an H200 and compares every
// launch with the profiler's counts on the GPU itself. Its counts of wavefronts and
// conflicts both carry the same noise of arbitration, at most 2.5 % of the wavefronts
// of loads and 6 % of those of stores, beside which cp.async writes; so their
// difference is compared exactly. Its count of requests to shared memory carries
// noise, too, and nothing to subtract: it is not compared.
//
// In an ordinary run the seed chooses rungs, and for each of them the one of these cases at
// which it is counted.
//
// A profile takes a GPU: where there is none, one that is missing or of other code is a
// skip that lists the rungs.
func profiles(t *testing.T, o *ladder.Operator, seed uint64) {
	var old []string
	var cases []ladder.Case
	for _, c := range o.Cases {
		if c.Profile != "" {
			cases = append(cases, c)
		}
	}
	counted := chosen(len(o.Variants), byProfiler, seed)
	for i, c := range cases {
		t.Run(c.Profile, func(t *testing.T) {
			if folder := os.Getenv(profilesVariable); folder != "" {
				profiledCase{o, c}.take(t, folder)
			}
			old = append(old, profiledCase{o, c}.compare(t, func(rung int) bool { return counted[rung] && (countedAt(seed, rung, len(cases)) == i || long()) })...)
		})
	}
	if len(old) == 0 || t.Failed() {
		return
	}
	says := fmt.Sprintf("not compared with NVIDIA's profiler: %s: see %s in ops/optest/profile.go", strings.Join(old, ", "), profilesVariable)
	d := device.MustOpen("")
	defer d.Close()
	if !d.Info().Emulated {
		t.Fatal(says)
	}
	t.Skip(says)
}

// countedAt is which of the cases with a profile counts a rung in an ordinary run.
func countedAt(seed uint64, rung, cases int) int {
	return rand.New(rand.NewPCG(seed, uint64(rung))).IntN(cases)
}

// compare holds the counters of the rungs that it shall count against the profile,
// and returns those rungs that have none, or one of other code.
func (c profiledCase) compare(t *testing.T, counted func(rung int) bool) (old []string) {
	want := c.golden(t)
	b := NewBench(t, EmulatorOf(t, "emu:h200"), c.operator, 42, c.Size...)
	launches, err := b.Launched()
	if err != nil {
		t.Fatal(err)
	}
	planned := map[string][]bench.Launched{}
	for _, l := range launches {
		planned[l.Variant] = append(planned[l.Variant], l)
	}
	for i, v := range c.operator.Variants {
		if len(planned[v.Name]) == 0 {
			continue // of the host, refused, or ends in a fault
		}
		golden := want[v.Name]
		delete(want, v.Name)
		why := stale(planned[v.Name], golden)
		if why != "" {
			old = append(old, fmt.Sprintf("%s at %v (%s)", v.Name, c.Size, why))
		}
		if !counted(i) {
			continue // by another case of this run, or by a run that is whole
		}
		counts, err := b.Count(v.Name)
		if err != nil {
			t.Fatal(err)
		}
		if verdict := counts.Rows[0].Verdict; verdict != ladder.Pass && verdict != ladder.FailExpected {
			t.Errorf("%s at %v, seed 42: %s", v.Name, c.Size, verdict)
		}
		if why != "" {
			continue
		}
		for k, got := range counts.Rows[0].Launches {
			at := fmt.Sprintf("%s, %s, launch %d", c.Profile, v.Name, k)
			got.SharedLoad.Wavefronts -= uint64(v.Dropped * golden[k].Blocks)
			compareLaunch(t, at, got, golden[k], v.Joined)
		}
	}
	for name := range want {
		t.Errorf("%s has a profile and is not counted", name)
	}
	return old
}

// golden reads the profiler's launches by rung. There are none without a file.
func (c profiledCase) golden(t *testing.T) map[string][]profiled {
	var golden profile
	text, err := os.ReadFile(c.file())
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err == nil && golden.Size.String() != c.Size.String() {
		t.Fatalf("%s is of size %v, expected %v", c.file(), golden.Size, c.Size)
	}
	want := map[string][]profiled{}
	for _, l := range golden.Launches {
		want[l.Variant] = append(want[l.Variant], l)
	}
	return want
}

// stale is the reason why launches cannot be compared with a profile, "" if they can.
func stale(launches []bench.Launched, golden []profiled) string {
	switch {
	case len(golden) == 0:
		return "no profile"
	case len(golden) != len(launches):
		return fmt.Sprintf("%d launches, the profiler saw %d", len(launches), len(golden))
	}
	for i, l := range golden {
		if ladder.EntryHash(launches[i].PTX.Text, l.Entry) != l.PTX {
			return l.Entry + " is not the code that was profiled"
		}
	}
	return ""
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
	equal("barriers", c.Barriers, want.Executed["BAR"]+want.Executed["UCGABAR_WAIT"]) // of blocks and of clusters
	equal("asynchronous copies", c.AsyncCopies, want.AsyncCopies)
	equal("matrix loads", c.MatrixLoads, want.MatrixLoads)
	if want.Executed["UTMALDG"] > 0 {
		beside(t, at, c, want)
		return
	}
	equal("shuffles", c.Shuffles, want.Executed["SHFL"])
	if !joined {
		shared(t, at+", shared loads", c.SharedLoad, want.LoadWaves, want.LoadConflicts, 0.025)
	} else if c.SharedLoad.Wavefronts <= want.LoadWaves {
		t.Errorf("%s: %d wavefronts, the profiler counted %d: the assembler no longer joins reads",
			at, c.SharedLoad.Wavefronts, want.LoadWaves)
	}
	shared(t, at+", shared stores", c.SharedStore, want.StoreWaves, want.StoreConflicts, 0.06)
}

// beside compares what the profiler counts of a kernel to whose shared memory the copy
// engine writes meanwhile: its writes take passes of the banks, which are counted with those
// of loads and stores. The assembler keeps one of several shuffles of one value.
func beside(t *testing.T, at string, c gpu.Counters, want profiled) {
	t.Helper()
	atMost := func(what string, least, most uint64) {
		t.Helper()
		if least > most {
			t.Errorf("%s: %s: %d, expected at most %d of the other", at, what, least, most)
		}
	}
	atMost("shuffles of the profiler", want.Executed["SHFL"], c.Shuffles)
	atMost("wavefronts of shared loads of the emulator", c.SharedLoad.Wavefronts, want.LoadWaves)
	atMost("conflicts of shared loads of the emulator", c.SharedLoad.Conflicts, want.LoadConflicts)
	atMost("wavefronts of shared stores of the emulator", c.SharedStore.Wavefronts, want.StoreWaves)
	atMost("conflicts of shared stores of the emulator", c.SharedStore.Conflicts, want.StoreConflicts)
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
