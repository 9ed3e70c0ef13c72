package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/listings"
)

var update = flag.Bool("update", false, "write verdicts.txt")

// some is how many listings a test runs that is not long.
const some = 3

// The table is what the command prints: whole with WARPBOOK_LONG, else for some listings
// that a seed chooses.
func TestVerdicts(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	committed, err := os.ReadFile("verdicts.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	names := sample(t)
	var got strings.Builder
	if err := print(t.Context(), &got, names, false); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("verdicts.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range strings.Split(strings.TrimSpace(got.String()), "\n") {
		if !strings.Contains(string(committed), line+"\n") {
			t.Errorf("verdicts.txt has no line\n%s", line)
		}
	}
	if len(names) == 0 && got.String() != string(committed) {
		t.Error("verdicts.txt has other lines than the command prints: go test ./ops/cmd/listings -run Verdicts -update")
	}
}

// sample are the names of some listings that run, none for all.
func sample(t *testing.T) (names []string) {
	if *update || os.Getenv("WARPBOOK_LONG") != "" {
		return nil
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("WARPBOOK_SEED"); text != "" {
		fmt.Sscan(text, &seed) // a wrong one is another seed
	}
	t.Logf("WARPBOOK_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	_, all := listings.All()
	runs, err := readRuns(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range r.Perm(len(runs))[:some] {
		names = append(names, runs[i].of[0])
	}
	return names
}

// Every listing has a line in the committed table, and is run or said to be no program, and
// every file of the folder runs can be read.
func TestEveryListing(t *testing.T) {
	_, all := listings.All()
	runs, err := readRuns(all)
	if err != nil {
		t.Fatal(err)
	}
	others, err := readOthers()
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]bool{}
	for _, r := range runs {
		for _, name := range r.of {
			in[name] = true
		}
	}
	committed, err := os.ReadFile("verdicts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if in[l.Name()] == (others[l.Name()] != "") {
			t.Errorf("%s is in a run: %v; others.txt says %q: expected one of the two", l.Name(), in[l.Name()], others[l.Name()])
		}
		if !strings.Contains("\n"+string(committed), "\n"+l.Name()+"  ") {
			t.Errorf("verdicts.txt has no line of %s", l.Name())
		}
	}
}

// What cannot be read is named with its line.
func TestBadRuns(t *testing.T) {
	_, all := listings.All()
	for text, want := range map[string]string{
		"//@ 000:84":              "no listing 000:84",
		"//@ 000:83 5-99":         "the listing has 11 lines",
		"//! colour red":          `no directive "colour"`,
		`//! mend 000:83 "a"`:     `expected NAME "old" "new" why`,
		`//! mend 000:83 "a" "b"`: "a change of 000:83 without a reason",
		"//! right (":             "missing closing )",
		"int main() {}":           "no listing",
		"//! mend 000:83 \"@\" \"b\" w\n//@ 000:83": `000:83 has no "@"`,
	} {
		r := &reading{all: all}
		var err error
		for number, line := range strings.Split(text, "\n") {
			if err == nil {
				err = r.line(number+1, line)
			}
		}
		if err == nil {
			err = r.end()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}
