package optest

import (
	"slices"
	"strconv"
	"testing"

	"warpbook/ops/ladder"
)

// TestRunsOn: in an ordinary run each case runs on one of the emulators, and both
// get some; with WARPBOOK_LONG both run all but the long ones, of which each runs some.
func TestRunsOn(t *testing.T) {
	d := Emulator(t)
	const cases = 100
	count := func(seed uint64, takesLong bool) (runs [2]int) {
		for i := range cases {
			both := 0
			for place := range runs {
				if runsOn(d, place, i, takesLong, seed) {
					runs[place]++
					both++
				}
			}
			if both != 1 && (takesLong || !long()) {
				t.Fatalf("seed %d: case %d runs on %d emulators, expected one", seed, i, both)
			}
		}
		return runs
	}
	t.Setenv("WARPBOOK_LONG", "")
	for seed := range uint64(20) {
		runs := count(seed, false)
		if runs[0] < cases/4 || runs[1] < cases/4 {
			t.Errorf("seed %d: the emulators run %v of %d cases, expected about half each", seed, runs, cases)
		}
		if again := count(seed, false); again != runs {
			t.Errorf("seed %d selects %v cases, then %v", seed, runs, again)
		}
	}
	t.Setenv("WARPBOOK_LONG", "1")
	if runs := count(1, true); runs[0] < cases/4 || runs[1] < cases/4 {
		t.Errorf("whole, the emulators run %v of %d long cases, expected about half each", runs, cases)
	}
	if runs := count(1, false); runs != [2]int{cases, cases} {
		t.Errorf("whole, the emulators run %v cases, expected all %d each", runs, cases)
	}
}

func TestRunSeed(t *testing.T) {
	t.Setenv("WARPBOOK_SEED", "1795409949140919075")
	if got := runSeed(t); got != 1795409949140919075 {
		t.Errorf("seed %d, expected the one that is named", got)
	}
}

// Where rungs and cases are many, an ordinary run takes a share of the checks, other
// ones by another seed; a run that is whole takes all.
func TestSomeRungs(t *testing.T) {
	d := Emulator(t)
	o := &ladder.Operator{Variants: make([]ladder.Variant, 40)}
	const cases = 50
	checks := func(seed uint64, cases int) (n int) {
		for i := range cases {
			n += len(someRungs(d, o, i, cases, seed).Variants)
		}
		return n
	}
	t.Setenv("WARPBOOK_LONG", "")
	for seed := range uint64(20) {
		if n := checks(seed, cases); n < mostChecks/2 || n > mostChecks*3/2 || n != checks(seed, cases) {
			t.Errorf("seed %d: %d checks, expected about %d, and the same again", seed, n, mostChecks)
		}
	}
	if n := checks(1, 1); n != 40 {
		t.Errorf("%d checks of a case, expected all of 40 rungs", n)
	}
	t.Setenv("WARPBOOK_LONG", "1")
	if n := checks(1, cases); n != cases*40 {
		t.Errorf("whole: %d checks, expected %d", n, cases*40)
	}
}

// Some chooses by the seed, and everything of a run that is whole.
func TestCasesBySeed(t *testing.T) {
	d, corpus := Emulator(t), []int{1, 2, 3, 4, 5}
	t.Setenv("WARPBOOK_LONG", "")
	seen := map[int]bool{}
	for seed := range 20 {
		t.Setenv("WARPBOOK_SEED", strconv.Itoa(seed))
		some := Some(t, d, 2, corpus)
		if len(some) != 2 || some[0] >= some[1] || !slices.Equal(some, Some(t, d, 2, corpus)) {
			t.Errorf("seed %d: %v, expected two in their order, and the same again", seed, some)
		}
		seen[some[0]], seen[some[1]] = true, true
	}
	if len(seen) != len(corpus) {
		t.Errorf("20 seeds chose %v, expected all of %v", seen, corpus)
	}
	t.Setenv("WARPBOOK_LONG", "1")
	if got := Some(t, d, 2, corpus); !slices.Equal(got, corpus) {
		t.Errorf("whole: %v, expected %v", got, corpus)
	}
}

// An ordinary run counts so many of the rungs, others by another seed and of another kind;
// a run that is whole counts all.
func TestChosen(t *testing.T) {
	const rungs = 40
	chosenOf := func(kind, seed uint64) (names []int) {
		for i, yes := range chosen(rungs, kind, seed) {
			if yes {
				names = append(names, i)
			}
		}
		return names
	}
	t.Setenv("WARPBOOK_LONG", "")
	seen := map[int]bool{}
	for seed := range uint64(100) {
		some := chosenOf(byLine, seed)
		if len(some) != mostCounted || !slices.Equal(some, chosenOf(byLine, seed)) || slices.Equal(some, chosenOf(byProfiler, seed)) {
			t.Errorf("seed %d: %v of 40 rungs, expected %d, the same again, and others of the other kind", seed, some, mostCounted)
		}
		for _, i := range some {
			seen[i] = true
		}
	}
	if len(seen) != rungs {
		t.Errorf("100 seeds chose %d of %d rungs, expected all", len(seen), rungs)
	}
	if few := chosen(3, byLine, 1); !slices.Equal(few, []bool{true, true, true}) {
		t.Errorf("%v of 3 rungs, expected all", few)
	}
	t.Setenv("WARPBOOK_LONG", "1")
	if all := chosenOf(byLine, 1); len(all) != rungs {
		t.Errorf("whole: %d of %d rungs", len(all), rungs)
	}
}

// Every rung's counters are compared at one of the cases, of each of which some are.
func TestCountedAt(t *testing.T) {
	for seed := range uint64(20) {
		var rungs [2]int
		for rung := range 40 {
			rungs[countedAt(seed, rung, len(rungs))]++
		}
		if rungs[0] < 8 || rungs[1] < 8 {
			t.Errorf("seed %d: %v of 40 rungs, expected about half each", seed, rungs)
		}
	}
}
