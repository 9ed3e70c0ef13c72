package ops

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"warpbook/ops/suites"
)

// The sentence of figures.md about suites is that of the committed logs and of today's PTX:
// a rung that came or changed after the last run is named.
func TestFiguresNameRungsThatNoGPURan(t *testing.T) {
	text, err := os.ReadFile("figures.md")
	if err != nil {
		t.Fatal(err)
	}
	want := suitesSentence(t, passedOn(t, "h200"), passedOn(t, "h100"))
	if !strings.Contains(string(text), want) {
		t.Errorf("figures.md does not have the sentence of the logs of suites:\n%s", want)
	}
}

// A changed rung counts as one that no GPU ran.
func TestChangedRungIsNamed(t *testing.T) {
	all := passedOn(t, "h200")
	before := suitesSentence(t, all, nil)
	for key := range all {
		if key[0] == Reduce.Name {
			delete(all, key)
			if after := suitesSentence(t, all, nil); after == before || !strings.Contains(after, "`"+key[1]+"`") {
				t.Errorf("without the hash of %s: %s, expected its name", key[1], after)
			}
			return
		}
	}
	t.Error("the log of the H200 has no rung of reduce")
}

func passedOn(t *testing.T, gpu string) map[[3]string]bool {
	t.Helper()
	text, err := os.ReadFile("optest/suites." + gpu + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	_, all, err := suites.Read(string(text))
	if err != nil {
		t.Fatalf("optest/suites.%s.txt: %v", gpu, err)
	}
	return suites.PassedRungs(all)
}

// suitesSentence says how many rungs passed on which GPU with today's PTX, and names the others.
func suitesSentence(t *testing.T, h200, h100 map[[3]string]bool) string {
	t.Helper()
	rungs, on200, on100, others := 0, 0, 0, []string{}
	for _, o := range Operators() {
		for _, v := range o.Variants {
			hash, err := o.CodeHash(v, suites.Hopper)
			if err != nil {
				t.Fatal(err)
			}
			if hash == "" {
				continue
			}
			rungs++
			switch key := [3]string{o.Name, v.Name, hash}; {
			case h200[key]:
				on200++
			case h100[key]:
				on100++
			default:
				others = append(others, "`"+v.Name+"`")
			}
		}
	}
	sentence := fmt.Sprintf("Of %d rungs on a GPU, %d passed their suite on an H200 with the PTX that they have today, and %d more on an H100.", rungs, on200, on100)
	if slices.Sort(others); len(others) > 0 {
		verb := "are"
		if len(others) == 1 {
			verb = "is"
		}
		sentence += fmt.Sprintf(" The other %d %s newer or changed: %s.", len(others), verb, strings.Join(slices.Compact(others), ", "))
	}
	return sentence
}
