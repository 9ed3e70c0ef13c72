package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// BenchmarkStart measures the time from starting the program to its Ready event.
func BenchmarkStart(b *testing.B) {
	start(b).close() // builds the program
	for b.Loop() {
		c := start(b)
		b.StopTimer()
		c.close()
		b.StartTimer()
	}
}

// times runs cells and returns how long each took, in ms, sorted.
func (c *client) times(n int, code string) []float64 {
	var ms []float64
	for range n {
		began := time.Now()
		c.value(code)
		ms = append(ms, float64(time.Since(began).Microseconds())/1e3)
	}
	slices.Sort(ms)
	return ms
}

// BenchmarkTrivialCell also prints the median and the 99th percentile of 1000.
func BenchmarkTrivialCell(b *testing.B) {
	c := start(b)
	c.value("x := 0")
	for b.Loop() {
		c.value("x := 1")
	}
	ms := c.times(1000, "x = 1")
	b.ReportMetric(ms[500], "ms-median")
	b.ReportMetric(ms[990], "ms-p99")
}

// BenchmarkPosition runs a cell that reaches the same declarations at position 300 of a
// session and, printed beside it, at position 10.
func BenchmarkPosition(b *testing.B) {
	const code = "use(v)"
	c := start(b)
	c.value("import \"fmt\"\ntype T struct{ a int }\nfunc (t T) String() string { return fmt.Sprint(t.a) }")
	c.value("func use(t T) string { return t.String() + fmt.Sprint(t) }\nv := T{7}")
	for i := 2; i < 10; i++ {
		c.value(fmt.Sprintf("x%d := %d", i, i))
	}
	early := c.times(200, code)[100]
	for i := 10; i < 300; i++ {
		switch i % 4 {
		case 0:
			c.value(fmt.Sprintf("type T%[1]d struct{ a int }\nfunc (t T%[1]d) String() string { return \"\" }\nfmt.Sprint(T%[1]d{})", i))
		case 1:
			c.value(fmt.Sprintf("func f%d(n int) int { for i := range n { n += i }; return n }", i))
		default:
			c.value(fmt.Sprintf("x%d := []int{%d}", i, i))
		}
	}
	for b.Loop() {
		c.value(code)
	}
	late := c.times(200, code)[100]
	b.ReportMetric(early, "ms-at-10")
	b.ReportMetric(late, "ms-at-300")
	b.ReportMetric(late/early, "ratio")
}

// BenchmarkGrowth measures how much 2000 trivial cells, and 200 that define types, add
// to the program's proportional set size.
func BenchmarkGrowth(b *testing.B) {
	c := start(b)
	if c.pss() == 0 {
		b.Skip("needs the smaps_rollup of Linux")
	}
	c.value("x := 1")
	time.Sleep(time.Second) // for the packages that warm imports in the background
	idle := c.pss()
	c.times(200, "x = 1")
	before := c.pss()
	c.times(2000, "x = 1")
	cells := c.pss() - before
	before = c.pss()
	for i := range 200 {
		c.value(fmt.Sprintf("type T%[1]d struct{ A%[1]d int }\nfunc (t T%[1]d) M%[1]d() int { return t.A%[1]d }\nT%[1]d{1}.M%[1]d()", i))
	}
	types := c.pss() - before
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(idle, "MB-idle")
	b.ReportMetric(cells, "MB-2000-cells")
	b.ReportMetric(types, "MB-200-types")
}

// pss returns the program's proportional set size in MB, 0 where it is not known.
func (c *client) pss() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(data), "\nPss:")
	kb := 0.0
	fmt.Sscan(after, &kb)
	return kb / 1024
}

// BenchmarkFirstPlot measures the first import of gonum plot in a session that has not
// warmed it, and the first plot.
func BenchmarkFirstPlot(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := start(b)
		c.value("x := 0")
		b.StartTimer()
		c.value("import \"gonum.org/v1/plot\"\np := plot.New();")
		b.StopTimer()
		c.close()
		b.StartTimer()
	}
}

// BenchmarkReached runs a cell that reaches 100 functions of twenty lines.
func BenchmarkReached(b *testing.B) {
	c := start(b)
	for i := range 100 {
		call := "0"
		if i > 0 {
			call = fmt.Sprintf("h%d(n)", i-1)
		}
		body := ""
		for j := range 6 {
			body += fmt.Sprintf("\tfor i := 0; i < n; i++ {\n\t\ts += i * %d\n\t}\n", j)
		}
		c.value(fmt.Sprintf("func h%d(n int) int {\n\ts := 0\n%s\treturn s + %s\n}", i, body, call))
	}
	for b.Loop() {
		c.value("h99(1)")
	}
}

func BenchmarkFib30(b *testing.B) {
	c := start(b)
	c.value("func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }")
	for b.Loop() {
		c.value("fib(30)")
	}
}

func BenchmarkComplete(b *testing.B) {
	c := start(b)
	c.value("import \"gonum.org/v1/plot\"\np := plot.New();")
	for b.Loop() {
		if e := c.wait(c.send(cellproto.Request{Type: cellproto.Complete, Code: "p.Ti", Cursor: 4})); len(e.Matches) == 0 {
			b.Fatal("no match")
		}
	}
}

// BenchmarkInspect inspects the largest package of the standard library.
func BenchmarkInspect(b *testing.B) {
	c := start(b)
	c.value("import \"net/http\"\nvar client http.Client")
	for b.Loop() {
		if e := c.wait(c.send(cellproto.Request{Type: cellproto.Inspect, Code: "client.Do", Cursor: 8})); len(e.Data) == 0 {
			b.Fatal("nothing is known")
		}
	}
}
