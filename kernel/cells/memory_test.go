package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const readHeap = "runtime.GC()\nruntime.GC()\nruntime.ReadMemStats(&ms)\nfloat64(ms.HeapAlloc) / (1 << 20)"

// heap is what the program has allocated, in MB.
func (c *client) heap() (mb float64) {
	fmt.Sscan(c.value("import \"runtime\"\nvar ms runtime.MemStats\n"+readHeap), &mb)
	return mb
}

// startWarm starts a program that has imported what it else imports by itself,
// some time after its start, which would count as growth.
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

// TestMemory: cells that define nothing that lasts leave nothing behind.
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

// profile is how many bytes the memory profile has, for good, when heap was read
// last.
func (c *client) profile() (bytes int) {
	fmt.Sscan(c.value("ms.BuckHashSys"), &bytes)
	return bytes
}

// TestCollectionsAreRare: few small cells fall on a collection, and the memory that
// is used between two is there before the first.
func TestCollectionsAreRare(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory is not the program's")
	}
	c := start(t)
	c.value("import \"runtime\"\nvar ms runtime.MemStats")
	collections := func() (n int) {
		fmt.Sscan(c.value("runtime.ReadMemStats(&ms)\nms.NumGC"), &n)
		return n
	}
	for deadline := time.Now().Add(4 * soon); collections() < 3; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the heap is not filled")
		}
	}
	c.value("x := 1")
	for range 100 {
		c.run("x = 1")
	}
	n, mb := collections(), c.pss()
	for range 1000 {
		c.run("x = 1")
	}
	if n = collections() - n; n < 1 || n > 4 {
		t.Errorf("1000 small cells had %d collections, expected 1 to 4", n)
	}
	if mb = c.pss() - mb; mb > 1 {
		t.Errorf("1000 small cells took %.1f MB, at most 1 is allowed", mb)
	}
	t.Logf("%d collections, %.1f MB", n, mb)
}

// TestMemoryOfTypes: types with methods that compiled code calls stay, and
// those methods can be called however many others came later.
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

// TestMemoryOfRedefinitions: a function or a method that is declared again and
// again leaves what it was behind.
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
