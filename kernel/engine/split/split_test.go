package split

import (
	"reflect"
	"strings"
	"testing"
)

func TestCell(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string // kind letter, text; a trailing ! where a semicolon was written
	}{
		{"", nil},
		{"// nothing\n", nil},
		{"x := 1", []string{"s x := 1"}},
		{"x := 1; y := 2;", []string{"s x := 1!", "s y := 2!"}},
		{"x // why\ny", []string{"s x", "s y"}},
		{"import \"fmt\"\nimport (\n\"os\"\n)\nfmt.Println()", []string{"i import \"fmt\"", "i import (\n\"os\"\n)", "s fmt.Println()"}},
		{"package main\nfunc main() {}", []string{"p package main", "f func main() {}"}},
		{"func (t *T) M() {}\nfunc(x int) {}(1)\nfunc F[T any]() {}", []string{"f func (t *T) M() {}", "s func(x int) {}(1)", "f func F[T any]() {}"}},
		{"func() int { return 1 }()", []string{"s func() int { return 1 }()"}},
		{"for i := 0; i < 3; i++ {\n}\nx", []string{"s for i := 0; i < 3; i++ {\n}", "s x"}},
		{"for i := 0; ; i++ { break }; x", []string{"s for i := 0; ; i++ { break }!", "s x"}},
		{"for ;; { break }\nx", []string{"s for ;; { break }", "s x"}},
		{"for s := []int{1}; len(s) > 0; s = s[1:] {}\nx", []string{"s for s := []int{1}; len(s) > 0; s = s[1:] {}", "s x"}},
		{"if x := f(); x > 0 { y() } else if z() {\n}\nq", []string{"s if x := f(); x > 0 { y() } else if z() {\n}", "s q"}},
		{"switch x := f(); {\ncase x: ; }\nq", []string{"s switch x := f(); {\ncase x: ; }", "s q"}},
		{"L:\nfor i := 0; i < 3; i++ { continue L }\nx", []string{"s L:\nfor i := 0; i < 3; i++ { continue L }", "s x"}},
		{"type (\nA int\nB string\n)\nconst c = 1\nvar v = 2", []string{"t type (\nA int\nB string\n)", "c const c = 1", "v var v = 2"}},
		{"x := `a;\n{`\ny", []string{"s x := `a;\n{`", "s y"}},
		{"f(\n1,\n2)\ny", []string{"s f(\n1,\n2)", "s y"}},
		{"x\n%who a 'b\ny", []string{"s x", "m %who a 'b", "s y"}},
		{" \n %time f(`\n%cd `\n", []string{"m %time f(`", "m %cd `"}},
		{"\n%%bash\nx := (\n%who\n", []string{"m %%bash\nx := (\n%who\n"}},
		{"x; %who", []string{"s x!", "s %who"}},
		{"x := a %\n%b", []string{"s x := a %\n%b"}},
		{"f(a\n% b)", []string{"s f(a\n% b)"}},
		{"s := `\n%who\n`\n/*\n%who\n*/\n%cd", []string{"s s := `\n%who\n`", "m %cd"}},
		{"x := 1 // why\n%= 3\ny", []string{"s x := 1", "m %= 3", "s y"}},
		{"for x y z {\n}\nafter()", []string{"s for x y z {\n}", "s after()"}},
	} {
		ps, errs := Cell(c.src)
		if len(errs) > 0 {
			t.Errorf("%q: %v", c.src, errs)
			continue
		}
		var got []string
		for _, p := range ps {
			s := string("spictvfm"[p.Kind]) + " " + c.src[p.Start:p.End]
			if p.Semicolon {
				s += "!"
			}
			got = append(got, s)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.src, got, c.want)
		}
	}
}

func TestPlace(t *testing.T) {
	ps, errs := Cell("//line other.go:99\nx := 1\n\n\ty := \"é\"; z := 2")
	if len(errs) > 0 || len(ps) != 3 {
		t.Fatal(ps, errs)
	}
	for i, want := range [][2]int{{2, 1}, {4, 2}, {4, 13}} {
		if got := [2]int{ps[i].Line, ps[i].Col}; got != want {
			t.Errorf("piece %d at %v, want %v", i, got, want)
		}
	}
}

// TestManyMagics: finding a magic takes time linear in its line.
func TestManyMagics(t *testing.T) {
	const n = 100_000
	magics, rest := Magics(strings.Repeat("%who\nx++\n", n))
	if last := magics[len(magics)-1]; len(magics) != n || last.Line != 2*n-1 || last.Col != 1 || last.Start != (n-1)*9 || last.End != last.Start+4 {
		t.Errorf("%d magics, the last %+v, want %d", len(magics), magics[len(magics)-1], n)
	}
	if want := strings.Repeat("    \nx++\n", n); rest != want {
		t.Errorf("the rest is %.40q", rest)
	}
}

// TestTooLong: a cell that is too long to compile is an error at the first token beyond
// the limit.
func TestTooLong(t *testing.T) {
	if pieces, errs := Cell(strings.Repeat("x++\n", maxTokens/3)); len(errs) > 0 || len(pieces) != maxTokens/3 {
		t.Errorf("%d pieces, %v", len(pieces), errs)
	}
	_, errs := Cell(strings.Repeat("x++\n", 5_000_000))
	if len(errs) != 1 || errs[0].Line != maxTokens/3+1 || !strings.HasPrefix(errs[0].Msg, "the cell has more than 1000000 tokens") {
		t.Errorf("20 MB: %v", errs)
	}
}

func TestErrors(t *testing.T) {
	for src, want := range map[string]Error{
		"x := (1":       {1, 6, "( is never closed"},
		"f()\n}":        {2, 1, "unexpected }"},
		"x[1)":          {1, 4, "unexpected )"},
		"s := \"abc\nx": {1, 6, "string literal not terminated"},
	} {
		_, errs := Cell(src)
		if len(errs) == 0 || errs[0] != want {
			t.Errorf("%q: %+v, want %+v", src, errs, want)
		}
	}
}

// FuzzCell: pieces are in order, do not overlap, and omit only comments, blanks and
// semicolons.
func FuzzCell(f *testing.F) {
	f.Add("x := 1; for i := 0; i < 2; i++ { f(i) }\nfunc (t T) M() {}\n")
	f.Add("L:\nfor { break L }\n/* c */ type T struct{}; `raw`")
	f.Add("if x := f(); x {\n} else {\n}\nswitch {}\n//line a:1\nselect {}")
	f.Add("x := a\n%time f(`x`)\n%%bash\ny %\n z\n%who '")
	f.Add("\n %%bash\nif x; then\n")
	f.Add("0/*\n*/0;`a\r\n`/*\n*/+1")
	f.Add("for {}wrong\n%time x\ny := 1")
	f.Fuzz(func(t *testing.T, src string) {
		ps, errs := Cell(src)
		if len(errs) > 0 {
			return
		}
		end := 0
		for _, p := range ps {
			if p.Start < end || p.End < p.Start || p.End > len(src) {
				t.Fatalf("piece %+v after offset %d in %q", p, end, src)
			}
			if strings.TrimSpace(src[p.Start:p.End]) == "" {
				t.Fatalf("empty piece %+v in %q", p, src)
			}
			if p.Line < 1 || p.Col < 1 {
				t.Fatalf("piece %+v has no place in %q", p, src)
			}
			if gap, _ := Cell(src[end:p.Start]); len(gap) > 0 {
				t.Fatalf("%q is in no piece of %q", src[end:p.Start], src)
			}
			end = p.End
		}
	})
}
