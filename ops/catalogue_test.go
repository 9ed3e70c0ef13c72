package ops

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/ptxfile"
	"warpbook/ops/ladder"
)

// Operators are found by their names; the error for another lists the nearest.
func TestFind(t *testing.T) {
	var names []string
	for _, o := range Operators() {
		if found, err := Find(o.Name); found != o || err != nil {
			t.Errorf("Find(%q) = %v, %v", o.Name, found, err)
		}
		if slices.Contains(names, o.Name) {
			t.Errorf("two operators %s", o.Name)
		}
		names = append(names, o.Name)
	}
	if _, err := Find("redcue"); !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "reduce") {
		t.Errorf("unknown operator: %v, expected the nearest names", err)
	}
}

// Every operator of the catalogue has a line optest.Run(t, OPERATOR) in its folder.
func TestEveryOperatorIsTested(t *testing.T) {
	text, err := os.ReadFile("ops.go")
	if err != nil {
		t.Fatal(err)
	}
	entries := regexp.MustCompile(`(?m)^\t\w+ += (\w+)\.(\w+)$`).FindAllStringSubmatch(string(text), -1)
	if len(entries) != len(Operators()) {
		t.Fatalf("%d operators in ops.go, expected %d as Operators lists", len(entries), len(Operators()))
	}
	for _, e := range entries {
		files, err := filepath.Glob(e[1] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		call := fmt.Sprintf("optest.Run(t, %s)", e[2])
		if !slices.ContainsFunc(files, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(text), call)
		}) {
			t.Errorf("ops/%s: no test has the line %s: the operator is not tested", e[1], call)
		}
	}
}

var entryLine = regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`)

// Every entry of the committed PTX is launched by a rung of an operator of its folder.
func TestEveryEntryIsLaunched(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	launched := map[string]bool{}
	for _, o := range Operators() {
		for _, v := range o.Variants {
			if v.Host != nil || v.Picks {
				continue
			}
			for _, size := range sizesOf(o) {
				if v.Refuses != nil && v.Refuses(size) != nil {
					continue
				}
				for _, s := range v.Plan(v.Name, size, gpu.Info{SMs: 132}).Steps {
					launched[o.Folder+" "+s.Entry] = true
				}
			}
		}
	}
	for _, o := range Operators() {
		names, err := ptxfile.Glob(o.Files, "*.ptx")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d PTX files, %v", o.Folder, len(names), err)
		}
		for _, name := range names {
			text, err := ptxfile.Read(o.Files, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range entryLine.FindAllStringSubmatch(text, -1) {
				if !launched[o.Folder+" "+m[1]] {
					t.Errorf("%s/%s: no variant launches entry %s", o.Folder, name, m[1])
				}
			}
		}
	}
}

// sizesOf are those of an operator's cases, and cubes of different sizes.
func sizesOf(o *ladder.Operator) (all []ladder.Size) {
	for _, c := range o.Cases {
		all = append(all, c.Size)
	}
	for _, n := range []int{1, 640, 768, 1000, 1 << 20} {
		if cube := slices.Repeat(ladder.Size{n}, len(o.Dims)); o.CheckSize(cube) == nil {
			all = append(all, cube)
		}
	}
	return all
}

// A parameter has the value that was set, or the value is refused: none is rounded.
func TestParametersAreNotRounded(t *testing.T) {
	for _, o := range Operators() {
		for i, p := range o.Parameters {
			for _, v := range []float64{p.Value + 0.5, math.NaN(), math.Inf(1), 1e30} {
				if other, err := o.Set(p.Name, v); err == nil {
					if got := other.Parameters[i].Value; got != v && v == p.Value+0.5 || p.Whole {
						t.Errorf("%s: %s = %v is %v", o.Name, p.Name, v, got)
					}
				} else if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "-9223372036854775808") {
					t.Errorf("%s: %s = %v: %v, expected an argument error with the value", o.Name, p.Name, v, err)
				}
			}
		}
	}
}
