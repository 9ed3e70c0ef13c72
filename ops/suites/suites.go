// Package suites keeps which rungs passed the suite of package optest on a GPU, with a hash
// of the PTX of each. A rung whose PTX has changed since is not one that passed.
//
// Package optest writes the lines of a run, ops/cmd/suites makes a committed log of them
// (ops/optest/suites.h200.txt), and tests of package ops make the sentence of the figures
// page from that log. The package runs nothing and names no operator.
package suites

import (
	"fmt"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/ops/ladder"
)

// Hopper is an H100 or H200 as plans and the choice of PTX see it.
var Hopper = gpu.Info{Name: "a Hopper GPU", SMs: 132, Compute: gpu.Compute{Major: 9}, PTX: gpu.Version{Major: 8}, L2Bytes: 50 << 20}

// Suite is one run of an operator's suite on a GPU.
type Suite struct {
	Operator string
	Rungs    int // of the ladder, with those of the CPU
	Cases    int
	Seed     uint64
	Commit   string // of the sources, where the hashes were derived from it; else ""
	Passed   bool
	PTX      []Rung
}

// Rung is a rung of a suite and the hash of its PTX, see ladder.Operator.CodeHash.
type Rung struct{ Name, Hash string }

// Head is the line by which a run of package optest opens.
func Head(o *ladder.Operator, seed uint64) string {
	return fmt.Sprintf("suite %s: %d rungs, %d cases, seed %d", o.Name, len(o.Variants), len(o.Cases), seed)
}

// String is the rung as a run of package optest logs it.
func (r Rung) String() string { return "PTX " + r.Name + " " + r.Hash }

// String is the suite as a committed log has it.
func (s Suite) String() string {
	var b strings.Builder
	of, result := "", "FAIL"
	if s.Commit != "" {
		of = " of " + s.Commit
	}
	if s.Passed {
		result = "PASS"
	}
	fmt.Fprintf(&b, "%s%s: %d rungs, %d cases, seed %d: %s\n", s.Operator, of, s.Rungs, s.Cases, s.Seed, result)
	for _, r := range s.PTX {
		fmt.Fprintf(&b, "  %s %s\n", r.Name, r.Hash)
	}
	return b.String()
}

var (
	headLine  = lazyregexp.New(`^(\w+)(?: of ([0-9a-f]{7,40}))?: (\d+) rungs, (\d+) cases, seed (\d+): (PASS|FAIL)$`)
	rungLine  = lazyregexp.New(`^  (\w+) ([0-9a-f]{16})$`)
	testStart = lazyregexp.New(`^=== RUN   (Test\w+)$`)
	testHead  = lazyregexp.New(`: suite (\w+): (\d+) rungs, (\d+) cases, seed (\d+)$`)
	testRung  = lazyregexp.New(`: PTX (\w+) ([0-9a-f]{16})$`)
	testEnd   = lazyregexp.New(`^\s+--- (PASS|FAIL|SKIP): (Test\w+)/cases/`)
)

// Read reads a committed log: its preamble to the first empty line, and the suites.
func Read(text string) (preamble string, all []Suite, err error) {
	preamble, rest, found := strings.Cut(text, "\n\n")
	if !found {
		return "", nil, fmt.Errorf("suites: no empty line, expected one after the preamble")
	}
	for i, line := range strings.Split(strings.TrimRight(rest, "\n"), "\n") {
		if m := headLine().FindStringSubmatch(line); m != nil {
			s := Suite{Operator: m[1], Commit: m[2], Passed: m[6] == "PASS"}
			fmt.Sscan(m[3]+" "+m[4]+" "+m[5], &s.Rungs, &s.Cases, &s.Seed)
			all = append(all, s)
		} else if m := rungLine().FindStringSubmatch(line); m != nil && len(all) > 0 {
			last := &all[len(all)-1]
			last.PTX = append(last.PTX, Rung{m[1], m[2]})
		} else {
			return "", nil, fmt.Errorf("suites: line %d after the preamble is %q, expected a suite or a rung with a hash of 16 digits", i+1, line)
		}
	}
	return preamble, all, nil
}

// FromTests are the suites that ran on a GPU in the output of `go test -v`.
func FromTests(output string) (all []Suite) {
	byTest, test := map[string]*Suite{}, ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := testStart().FindStringSubmatch(line); m != nil {
			test = m[1]
		} else if m := testHead().FindStringSubmatch(line); m != nil {
			s := &Suite{Operator: m[1]}
			fmt.Sscan(m[2]+" "+m[3]+" "+m[4], &s.Rungs, &s.Cases, &s.Seed)
			byTest[test] = s
		} else if m := testRung().FindStringSubmatch(line); m != nil && byTest[test] != nil {
			byTest[test].PTX = append(byTest[test].PTX, Rung{m[1], m[2]})
		} else if m := testEnd().FindStringSubmatch(line); m != nil && byTest[m[2]] != nil {
			s := byTest[m[2]]
			delete(byTest, m[2]) // the GPU is the first device; what follows is an emulator's
			if s.Passed = m[1] != "FAIL"; len(s.PTX) > 0 {
				all = append(all, *s)
			}
		}
	}
	return all
}

// PassedRungs are the rungs of suites that passed, by operator, name and hash.
func PassedRungs(all []Suite) map[[3]string]bool {
	passed := map[[3]string]bool{}
	for _, s := range all {
		for _, r := range s.PTX {
			if s.Passed {
				passed[[3]string{s.Operator, r.Name, r.Hash}] = true
			}
		}
	}
	return passed
}
