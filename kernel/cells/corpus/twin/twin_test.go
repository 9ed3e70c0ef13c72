package twin

import (
	"slices"
	"strings"
	"testing"
)

// TestMeanings: from the run on that declares a name anew, cells and the declarations that
// mention it have the new declaration, and runs that do not compile are no part of the program.
func TestMeanings(t *testing.T) {
	for _, test := range []struct {
		name    string
		cells   string // between two ---
		order   []int
		runs    []int    // functions of the program
		has     []string // parts of its text
		refused string   // what the last reason says
	}{
		{"a cell that runs again is one function",
			"x := 1 --- x++", []int{0, 0, 1, 1}, []int{0, 0, 1, 1}, []string{"var x int", "x = 1", "x++"}, ""},
		{"a variable of another type is another variable, which functions use from then on",
			"x := 1\nfunc f() any { return x } --- x := `a`\nf()", []int{0, 1}, []int{0, 1},
			[]string{"var xꞏ1 string", "func fꞏ1() any { return xꞏ1 }", "Show(fꞏ1())"}, ""},
		{"a function that no longer compiles is undefined until it does",
			"func g() int { return 1 }\nfunc f() int { return g() } --- func g() string { return `` } --- f() --- func g() int { return 2 } --- f()",
			[]int{0, 1, 2, 3, 4}, []int{0, 0, Refused, 0, 1}, []string{"func fꞏ1() int { return gꞏ2() }"}, "undefined: f"},
		{"a type as it stands keeps its identity, a method has a body for each declaration",
			"type T struct{ n int }\nfunc (t T) M() int { return t.n }\nvar i interface{ M() int } = T{1}\nkept := T.M --- type T struct { // again\n\tn int\n}\nfunc (T) M() int { return 2 }\ni.M() + kept(T{})",
			[]int{0, 1}, []int{0, 1}, []string{"TꞏM = 1", "kept = T.bodyꞏ0ꞏM", "case 1: return rꞏ.bodyꞏ1ꞏM()"}, ""},
		{"a half-typed cell and one of an undefined name",
			"x := 1 --- x := --- x = y", []int{0, 1, 2}, []int{0, Refused, Refused}, nil, "undefined: y"},
		{"variables are initialised as those of a package, before functions init",
			"var a = b + 1\nvar b = f()\nfunc f() int { return 4 }\nfunc init() { b = 7 }\na", []int{0}, []int{0}, []string{"b = f()\na = b + 1\ninitꞏ1()"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := New(strings.Split(test.cells, " --- "), test.order, nil)
			if err != nil {
				t.Fatal(err)
			}
			src, runs := p.Source("run")
			if !slices.Equal(runs, test.runs) {
				t.Errorf("runs %v, expected %v; refused: %v", runs, test.runs, p.Refusals())
			}
			for _, part := range test.has {
				if !strings.Contains(src, part) {
					t.Errorf("the program lacks %q:\n%s", part, src)
				}
			}
			last := ""
			for i := range test.order {
				if why := p.Refusals()[i]; why != "" {
					last = why
				}
			}
			if !strings.Contains(last, test.refused) || (last == "") != (test.refused == "") {
				t.Errorf("the last run without a function is refused for %q, expected %q", last, test.refused)
			}
		})
	}
}
