package magic

import (
	"math"
	"testing"
	"time"
)

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
		c, err := Builtin().Parse(x.text)
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
