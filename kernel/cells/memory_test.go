package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

const readHeap = "runtime.GC()\nruntime.GC()\nruntime.ReadMemStats(&ms)\nfloat64(ms.HeapAlloc) / (1 << 20)"

// heap returns the program's allocated memory in MB.
func (c *client) heap() (mb float64) {
	fmt.Sscan(c.value("import \"runtime\"\nvar ms runtime.MemStats\n"+readHeap), &mb)
	return mb
}

// startWarm starts a program and imports the packages that it would otherwise import by
// itself later, which would count as growth.
func startWarm(t *testing.T) *client {
	c := start(t)
	c.value(`import (_ "sort"; _ "strings"; _ "warpbook/ops"; _ "warpbook/kernel/display"; _ "gonum.org/v1/plot"; _ "gonum.org/v1/plot/plotter")`)
	return c
}

// checkGrowth fails if the heap has grown by more than some MB.
func (c *client) checkGrowth(before, most float64) {
	c.t.Helper()
	after := c.heap()
	c.t.Logf("heap %.1f MB before, %.1f MB after", before, after)
	if before < 1 || after > before+most {
		c.t.Errorf("heap grew from %.1f to %.1f MB, at most %.0f MB are allowed", before, after, most)
	}
}

// TestMemory: cells that define nothing lasting leave no memory allocated.
func TestMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory is not the program's")
	}
	c := startWarm(t)
	c.value("import \"fmt\"")
	cells := func(n int) {
		for i := range n {
			if got := c.value(fmt.Sprintf("x := %d\nx++\nfmt.Sprint(x)", i)); got != fmt.Sprint(i+1) {
				t.Fatalf("x is %s in cell %d", got, i)
			}
		}
	}
	cells(100)
	before, profile := c.heap(), c.profile()
	cells(1000)
	c.checkGrowth(before, 2)
	const most = 16 << 10
	if grown := c.profile() - profile; profile == 0 || grown > most {
		t.Errorf("the memory profile grew from %d by %d bytes, at most %d are allowed", profile, grown, most)
	} else {
		t.Logf("memory profile %d bytes before, %d more after", profile, grown)
	}
}

// profile is how many bytes the memory profile held, for good, at the last call of
// heap.
func (c *client) profile() (bytes int) {
	fmt.Sscan(c.value("ms.BuckHashSys"), &bytes)
	return bytes
}

// TestCollectionsAreRare: few small cells coincide with a collection (one in 250 at a
// collection every 8 MB, and two more in a pause), and after three collections the program
// does not grow. A program that grows grows in every try; other
// programs and the system only disturb some.
func TestCollectionsAreRare(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory is not the program's")
	}
	c := startWarm(t)
	c.value("import \"runtime\"\nvar ms runtime.MemStats")
	collections := func() (n int) {
		fmt.Sscan(c.value("runtime.ReadMemStats(&ms)\nms.NumGC"), &n)
		return n
	}
	c.value("x := 1")
	// The memory of a moment depends on how long ago the last collection was, so
	// the least of several moments is compared.
	least := func(cells int) float64 {
		mb := math.Inf(1)
		for range cells / 100 {
			for range 100 {
				c.run("x = 1")
			}
			mb = min(mb, c.pss())
		}
		return mb
	}
	least(1000)
	before := least(1000)
	for try := 1; ; try++ {
		n := collections()
		after := least(1000)
		n = collections() - n
		grown := after - before
		t.Logf("1000 small cells: %d collections, %.1f MB", n, grown)
		if n >= 1 && n <= 7 && grown <= 2 {
			return
		}
		if try == 5 {
			t.Fatalf("in each of %d tries, 1000 small cells had fewer than 1 or more than 7 collections, or took more than 2 MB; the last had %d and took %.1f MB", try, n, grown)
		}
		before = after
	}
}

// TestCollectionsByGOGC: the program collects as rarely as GOGC says, also after collections.
func TestCollectionsByGOGC(t *testing.T) {
	for gogc, want := range map[string]string{"900": "900", "off": strconv.FormatUint(math.MaxUint64, 10)} {
		c := start(t, "GOGC="+gogc)
		c.value("import (\"runtime\"; \"runtime/metrics\")\npercent := []metrics.Sample{{Name: \"/gc/gogc:percent\"}}\nruntime.GC()\nlen(percent)")
		got := ""
		for i := 0; i < 100 && got != want; i++ { // the program answers a collection on another goroutine
			got = c.value("runtime.GC()\nmetrics.Read(percent)\npercent[0].Value.Uint64()")
		}
		if got != want {
			t.Errorf("GOGC=%s: the heap grows by %s %% before a collection, expected %s", gogc, got, want)
		}
	}
}

// TestMemoryOfLargeVariables: cells that assign large arrays to a variable, one after the
// other, need memory for the old array and the new one, and not for those before.
func TestMemoryOfLargeVariables(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory is not the program's")
	}
	c := start(t)
	c.value("import \"syscall\"\nvar e []float64\nfunc touch() {\n\tfor i := 0; i < len(e); i += 512 {\n\t\te[i] = 1\n\t}\n}\ntouch()\nlen(e)")
	for range 6 {
		c.value("e = make([]float64, 20_000_000)\ntouch()\nlen(e)")
	}
	var kb float64
	fmt.Sscan(c.value("var u syscall.Rusage\nsyscall.Getrusage(syscall.RUSAGE_SELF, &u)\nu.Maxrss"), &kb)
	const array = 160
	if mb := kb / 1024; mb < 2*array || mb > 3*array {
		t.Errorf("the program had up to %.0f MB for arrays of %d MB, expected the memory of two and at most that of three", mb, array)
	} else {
		t.Logf("%.0f MB", mb)
	}
}

// TestMemoryOfTypes: types stay when compiled code calls their methods, and those
// methods stay callable however many types follow.
func TestMemoryOfTypes(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory is not the program's")
	}
	c := startWarm(t)
	c.value("import \"fmt\"")
	cells := func(from, n int) {
		for i := from; i < from+n; i++ {
			code := fmt.Sprintf(`type Q%[1]d struct{ a, b int; next *Q%[1]d }
func (q Q%[1]d) String() string { return fmt.Sprint("q", q.a) }
func (q *Q%[1]d) Add(n int) { q.a += n }
v%[1]d := &Q%[1]d{a: %[1]d}
v%[1]d.Add(1)
fmt.Sprint(v%[1]d)`, i)
			if got, want := c.value(code), fmt.Sprint("q", i+1); got != want {
				t.Fatalf("cell %d shows %q, want %q", i, got, want)
			}
		}
	}
	cells(0, 10)
	before := c.heap()
	cells(10, 200)
	c.checkGrowth(before, 20)
	if got := c.value("fmt.Sprint(v0, v100, v209, v0)"); got != "q1 q101 q210 q1" {
		t.Errorf("the values are %s", got)
	}
}

// TestMemoryOfRedefinitions: redefining a function or a method frees the previous
// definition.
func TestMemoryOfRedefinitions(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory is not the program's")
	}
	for _, head := range []string{"func f() int", "func (A) M() int"} {
		c := startWarm(t)
		c.value("type A struct{}\nfunc (A) M() int { return 0 }\nfunc f() int { return 0 }\nfunc sum() int { return f() + A{}.M() }")
		cells := func(n int) {
			for i := range n {
				c.value(fmt.Sprintf("%s {\n\ts := 0\n%s\treturn s + %d\n}", head, strings.Repeat("\tfor i := 0; i < 3; i++ {\n\t\ts += i * s\n\t}\n", 10), i))
			}
		}
		cells(50)
		before := c.heap()
		cells(200)
		c.checkGrowth(before, 8)
		if got := c.value("sum()"); got != "199" {
			t.Errorf("%s: the sum is %s", head, got)
		}
	}
}
