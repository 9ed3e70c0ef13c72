package magic

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestList(t *testing.T) {
	names := map[string]bool{}
	for _, m := range All {
		ways := 0
		for _, set := range []bool{m.Run != nil, m.Start != nil, m.Loop != nil, m.Declare != nil} {
			if set {
				ways++
			}
		}
		if ways != 1 || names[m.Name] || len(m.signs()) == 0 || !strings.HasSuffix(m.Short, ".") {
			t.Errorf("%s: does %d things, or is there twice, or cannot be called, or says nothing", m.Name, ways)
		}
		names[m.Name] = true
		for _, sign := range m.signs() {
			if c, err := Parse(sign + m.Name + " --help"); err != nil || !c.Help {
				t.Errorf("%s%s --help: %+v, %v", sign, m.Name, c, err)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, x := range []struct {
		text, rest, body string
		at               int
	}{
		{"%time f(x)", "f(x)", "", 6},
		{"%time\t -x \r", "-x", "", 7},
		{"%timeit -n 5  -r 7 -x", "-x", "", 19},
		{"%%time\na\nb", "", "a\nb", 7},
		{"%env A = b c ", "A = b c", "", 5},
	} {
		c, err := Parse(x.text)
		if err != nil {
			t.Errorf("%q: %v", x.text, err)
			continue
		}
		if _, at := c.Code(); c.Rest != x.rest || c.Body != x.body || at != x.at {
			t.Errorf("%q: %+v, code at %d", x.text, c, at)
		}
	}
}

// TestInterval checks the places against the binomial distribution summed from
// Pascal's triangle.
func TestInterval(t *testing.T) {
	row := []float64{1}
	for r := 1; r <= 200; r++ {
		next := make([]float64, r+1)
		for i := range next {
			if i > 0 {
				next[i] += row[i-1] / 2
			}
			if i < r {
				next[i] += row[i] / 2
			}
		}
		row = next
		want, below := -1, 0.0
		for i := range row {
			if below += row[i]; below > 0.025 {
				break
			}
			want = i
		}
		if lo, hi := interval(r); lo != want || hi != r-1-want {
			t.Errorf("%d values: %d and %d, want %d and %d", r, lo, hi, want, r-1-want)
		}
	}
}

func TestReadable(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 ns", 999: "999 ns", 1500: "1.5 µs", 2 * time.Millisecond: "2 ms", math.MaxInt32: "2.15 s"} {
		if got := readable(d); got != want {
			t.Errorf("%d ns: %s, want %s", d, got, want)
		}
	}
}

// Flags have one or two minus signs, and values of their own form.
func TestFlags(t *testing.T) {
	c, err := Parse("%%cuda --std=c++20 mine -arch sm_90 --fast-math --instantiate 'f<1, 2>' --instantiate g<3>\ncode")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"std": "c++20", "arch": "sm_90", "fast-math": "yes", "instantiate": "f<1, 2>\ng<3>"} {
		if got := c.Flags[name]; got != want {
			t.Errorf("-%s is %q, expected %q", name, got, want)
		}
	}
	if c.Rest != "mine" || c.Body != "code" {
		t.Errorf("name %q, body %q", c.Rest, c.Body)
	}
	for text, want := range map[string]int{
		"%%cuda --fast-math=1\nx": 7, "%%cuda --instantiate 'f<1>\nx": 21, "%%cuda --arch\nx": 7,
		"%%cuda a b\nx": 9, "%%ptx --std c++20\nx": 6, "%%ncu x\ny": 6, "%timeit --bogus x": 8, "%time --bogus x": 6,
	} {
		wrong := (*Error)(nil)
		if _, err := Parse(text); !errors.As(err, &wrong) || wrong.Offset != want {
			t.Errorf("%q: %v, expected an error at %d", text, err, want)
		}
	}
}
