package suites

import (
	"strings"
	"testing"
)

// output is what `go test -v` prints of three suites on a GPU and one on emulators alone.
const output = `=== RUN   TestConformance
=== RUN   TestConformance/table
=== RUN   TestConformance/cases
    run.go:44: suite sum: 3 rungs, 13 cases, seed 1795478481420686748
=== RUN   TestConformance/cases/NVIDIA_H200
    run.go:50: PTX sum_one 0123456789abcdef
    run.go:50: PTX sum_two fedcba9876543210
=== RUN   TestConformance/cases/Tesla_T4
--- PASS: TestConformance (1.43s)
    --- PASS: TestConformance/table (0.02s)
    --- PASS: TestConformance/cases (1.03s)
        --- PASS: TestConformance/cases/NVIDIA_H200 (0.48s)
        --- FAIL: TestConformance/cases/Tesla_T4 (0.21s)
=== RUN   TestConformanceWrong
    run.go:44: suite wrong: 1 rungs, 2 cases, seed 7
    run.go:50: PTX wrong_one 00000000000000aa
--- FAIL: TestConformanceWrong (1.43s)
        --- FAIL: TestConformanceWrong/cases/NVIDIA_H200 (0.48s)
=== RUN   TestConformanceSkips
    run.go:44: suite skips: 2 rungs, 2 cases, seed 8
    run.go:50: PTX skips_one 00000000000000bb
    run.go:60: not run on NVIDIA H200: skips_two
--- PASS: TestConformanceSkips (1.43s)
        --- SKIP: TestConformanceSkips/cases/NVIDIA_H200 (0.48s)
=== RUN   TestConformanceEmulated
    run.go:44: suite emulated: 2 rungs, 2 cases, seed 9
--- PASS: TestConformanceEmulated (1.43s)
        --- PASS: TestConformanceEmulated/cases/NVIDIA_H200 (0.48s)
`

const log = `sum: 3 rungs, 13 cases, seed 1795478481420686748: PASS
  sum_one 0123456789abcdef
  sum_two fedcba9876543210
wrong: 1 rungs, 2 cases, seed 7: FAIL
  wrong_one 00000000000000aa
skips: 2 rungs, 2 cases, seed 8: PASS
  skips_one 00000000000000bb
`

// The suites of a run are those of the GPU, with their verdict there.
func TestFromTests(t *testing.T) {
	var got strings.Builder
	for _, s := range FromTests(output) {
		got.WriteString(s.String())
	}
	if got.String() != log {
		t.Errorf("got\n%sexpected\n%s", got.String(), log)
	}
}

// A log that is read and written is the same, with the commits of its suites.
func TestRead(t *testing.T) {
	text := strings.Replace(log, "sum:", "sum of 1485a63:", 1)
	preamble, all, err := Read("On a GPU.\nIn two lines.\n\n" + text)
	if err != nil || preamble != "On a GPU.\nIn two lines." {
		t.Fatalf("%q, %v", preamble, err)
	}
	var again strings.Builder
	for _, s := range all {
		again.WriteString(s.String())
	}
	if again.String() != text {
		t.Errorf("got\n%sexpected\n%s", again.String(), text)
	}
	passed := PassedRungs(all)
	if len(passed) != 3 || passed[[3]string{"wrong", "wrong_one", "00000000000000aa"}] {
		t.Errorf("%v, expected the rungs of the suites that passed", passed)
	}
}

// A log with a line of another kind is an error that names it.
func TestReadBadLog(t *testing.T) {
	for _, text := range []string{"no preamble\n", "p\n\n  rung_first 0123456789abcdef\n", "p\n\n" + log + "  short 0123\n"} {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if _, _, err := Read(text); err == nil || len(lines) > 1 && !strings.Contains(err.Error(), strings.TrimSpace(lines[len(lines)-1])) {
			t.Errorf("%q: %v, expected an error that names the line", text, err)
		}
	}
}
