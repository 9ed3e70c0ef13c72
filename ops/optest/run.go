package optest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/suites"
)

// Run is the suite that every operator must pass; it runs in the operator's folder.
//
// It holds the operator's tables, plans and generated files against each other, and
// runs every rung at every case of the operator on every device there is: outputs
// poisoned, inputs unchanged, also where nothing is aligned. What a device does not
// take is one skip that lists it. Sizes, parameters and operands that cannot be are
// refused in one line before anything is launched. On the emulator every launch of the
// cases with a profile is compared with what NVIDIA's profiler counted.
//
// Without WARPBOOK_LONG the emulators share the cases: the seed chooses the one that
// runs a case, its rungs where there are many checks, the rungs that are explained, those
// whose counters are compared, and the case at which they are. With it, the seed chooses
// the emulator of a long case. WARPBOOK_SEED repeats a run with the seed that it printed.
func Run(t *testing.T, o *ladder.Operator) {
	seed := runSeed(t)
	t.Run("table", func(t *testing.T) { table(t, o) })
	t.Run("files", func(t *testing.T) { files(t, o) })
	t.Run("machine", func(t *testing.T) { machine(t, o) })
	t.Run("plans", func(t *testing.T) { plans(t, o) })
	t.Run("parameters", func(t *testing.T) { parameters(t, o) })
	t.Run("cases", func(t *testing.T) {
		if len(o.Cases) == 0 {
			t.Fatal("the operator has no cases")
		}
		t.Log(suites.Head(o, seed))
		place := 0
		devicetest.Each(t, func(t *testing.T, d gpu.Device) {
			refused := map[string]string{}
			cases := withUnaligned(o.Cases)
			for i, c := range cases {
				if runsOn(d, place, i, c.Long, seed) {
					runCase(t, d, someRungs(d, o, i, len(cases), seed), c, seed, refused)
				}
			}
			logPTX(t, d, o, refused)
			skip(t, d, refused, seed)
			place++
		})
	})
	t.Run("refusals", func(t *testing.T) { devicetest.Each(t, func(t *testing.T, d gpu.Device) { refusals(t, d, o) }) })
	t.Run("explain", func(t *testing.T) { explain(t, o, seed) })
	t.Run("profiles", func(t *testing.T) { profiles(t, o, seed) })
}

// long reports whether every test runs whole.
func long() bool { return os.Getenv("WARPBOOK_LONG") != "" }

// runSeed is the seed that WARPBOOK_SEED names, or one of the clock.
func runSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("WARPBOOK_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("WARPBOOK_SEED=%s: %v, expected a number that a run printed", text, err)
	}
	return seed
}

// runsOn reports whether the device at a place of the list of devices runs case i: a GPU
// runs every case. Of the emulators one does, unless all tests run whole and the case is
// not one that takes long.
func runsOn(d gpu.Device, place, i int, takesLong bool, seed uint64) bool {
	return !d.Info().Emulated || long() && !takesLong || rand.New(rand.NewPCG(seed, uint64(i))).IntN(len(devicetest.Names)) == place
}

// mostChecks is how many checks of a rung at a case the emulators of an ordinary run have
// time for, and mostCounted of how many rungs it compares the counters, and sums them up by
// line.
const (
	mostChecks  = 40
	mostCounted = 4
)

// chosen reports for each of so many rungs whether an ordinary run counts it. The kinds of
// counting choose apart from each other.
func chosen(rungs int, kind, seed uint64) []bool {
	all := make([]bool, rungs)
	for n, i := range rand.New(rand.NewPCG(seed, kind)).Perm(rungs) {
		all[i] = n < mostCounted || long()
	}
	return all
}

// The kinds of counting.
const (
	byProfiler = 1<<32 + iota
	byLine
)

// someRungs is an operator for a case on a device: with all its rungs, or on the emulators
// of an ordinary run, where that would be too many checks, with those that the seed chooses.
func someRungs(d gpu.Device, o *ladder.Operator, i, cases int, seed uint64) *ladder.Operator {
	share := float64(mostChecks) / float64(cases*len(o.Variants))
	if !d.Info().Emulated || long() || share >= 1 {
		return o
	}
	random, some := rand.New(rand.NewPCG(seed, ^uint64(i))), *o
	some.Variants = slices.DeleteFunc(slices.Clone(o.Variants), func(ladder.Variant) bool { return random.Float64() >= share })
	return &some
}

// withUnaligned adds a case whose inputs and outputs start at the second element of
// their memory, if none is so: the middle one of those that are run anyway.
func withUnaligned(cases []ladder.Case) []ladder.Case {
	if slices.ContainsFunc(cases, func(c ladder.Case) bool { return c.Start > 0 }) {
		return cases
	}
	var some []ladder.Case
	for _, c := range cases {
		if !c.Long && !c.OnGPU && c.Profile == "" && !slices.Contains(c.Size, 0) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		return cases
	}
	middle := some[len(some)/2]
	middle.Start = 1
	return append(slices.Clone(cases), middle)
}

// runCase checks every rung at a case. Those that are refused are remembered with the
// reason, unless another case takes them.
func runCase(t *testing.T, d gpu.Device, o *ladder.Operator, c ladder.Case, seed uint64, refused map[string]string) {
	t.Helper()
	emulated := d.Info().Emulated
	if c.Long && !long() || c.OnGPU && emulated || c.Profile != "" && emulated {
		return // a case with a profile is checked where the counters are compared
	}
	b := NewBench(t, d, o, seed, c.Size...)
	if c.Data != "" {
		if err := b.UseData(c.Data); err != nil {
			t.Fatal(err)
		}
	}
	for _, operand := range append(o.Inputs(c.Size), o.Outputs(c.Size)...) {
		if c.Start == 0 {
			break
		}
		if err := b.Place(operand.Name, c.Start); err != nil {
			t.Fatal(err)
		}
	}
	what := c.Data
	if c.Start > 0 {
		what += fmt.Sprintf(" from element %d on", c.Start)
	}
	checks := CheckAll(t, b, strings.TrimSpace(what))
	var names []string
	for _, r := range checks.Rows {
		names = append(names, r.Name)
		if !slices.ContainsFunc(o.Outputs(c.Size), func(t ladder.Tensor) bool { return t.Len == 0 }) {
			refused[r.Name] = ""
		}
	}
	for _, why := range checks.Environment.NotRun {
		name, reason, _ := strings.Cut(why, ": ")
		names = append(names, name)
		if before, known := refused[name]; !known || before != "" {
			refused[name] = reason
		}
	}
	for _, v := range o.Variants {
		if !slices.Contains(names, v.Name) {
			t.Errorf("%s at %v has no row and is not refused", v.Name, c.Size)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// logPTX names the PTX of each rung that a GPU ran, for the log of suites.
func logPTX(t *testing.T, d gpu.Device, o *ladder.Operator, refused map[string]string) {
	t.Helper()
	for _, v := range o.Variants {
		if d.Info().Emulated || refused[v.Name] != "" {
			continue
		}
		hash, err := o.CodeHash(v, d.Info())
		if err != nil {
			t.Error(err)
		} else if hash != "" {
			t.Log(suites.Rung{Name: v.Name, Hash: hash})
		}
	}
}

// skip names in one line the rungs that no case of the device has run.
func skip(t *testing.T, d gpu.Device, refused map[string]string, seed uint64) {
	var names []string
	for name, reason := range refused {
		if reason != "" {
			names = append(names, name+" ("+reason+")")
		}
	}
	slices.Sort(names)
	if len(names) > 0 && !t.Failed() {
		t.Skipf("not run on %v, cases of seed %d: %s", d.Info(), seed, strings.Join(names, "; "))
	}
}

// checkLine wants an error of a kind in one line.
func checkLine(t *testing.T, what string, err error, kinds ...error) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "\n") || !slices.ContainsFunc(kinds, func(kind error) bool { return isKind(err, kind) }) {
		t.Errorf("%s: %v, expected one line that wraps one of %v", what, err, kinds)
	}
}
