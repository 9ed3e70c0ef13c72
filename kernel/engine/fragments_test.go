//go:build edited

package engine

import (
	"context"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
)

var fragments = flag.Int("fragments", 2000, "how many mutated fragments TestMutatedFragments asks about")

// fragmentSession are cells that declare one of each kind of name.
var fragmentSession = []string{
	"import (\"fmt\"; \"strings\"; . \"math\"; m \"math/rand\")\n_, _, _, _ = fmt.Sprint, strings.ToUpper, Sqrt(2), m.Int()",
	"type T struct{ A int; B *T; c []string }\nfunc (t *T) M(x int) int { return t.A + x }\nfunc (t T) String() string { return t.c[0] }\ntype U = T\ntype P = *T",
	"type G[E any] struct{ X E; next *G[E] }\nfunc (g *G[E]) Sum(more ...E) (s E) { return g.X }\ntype Pair[K comparable, V any] struct{ G[K]; V V }\ntype I interface{ M(int) int }\ntype Number interface{ ~int | ~float64 }",
	"func first[S ~[]E, E Number](s S) (E, error) { return s[0], nil }\nfunc f(a int, b string) (int, error) { return a, nil }\nconst (\n k0 = iota\n k1\n name = \"text\"\n)",
	"kept, t, g := T{A: 1}, &T{}, G[int]{X: 1}\nvar i I = t\nvar e error\nx, s, list, table, c := 1, \"s\", []float64{1}, map[string]T{}, make(chan int, 1)\nh := func(a int) func() T { return func() T { return kept } }",
}

// fragmentEngine is an engine that has run them.
func fragmentEngine(t testing.TB) *Engine {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i, src := range fragmentSession {
		if r := evaluate(t.Context(), e, i+1, src); r.Err != nil {
			t.Fatal(r.Err.Traceback)
		}
	}
	return e
}

// fragmentCorpus are the cells of the sequences, and declarations that refer to
// names of the session.
func fragmentCorpus(t testing.TB) (corpus []string) {
	files, err := filepath.Glob("../cells/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no sequences", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(data), "\n--- ") {
			if text, ok := strings.CutPrefix(part, "cell\n"); ok {
				text, _, _ = strings.Cut(text, "\n=== ")
				corpus = append(corpus, strings.TrimSpace(text))
			}
		}
	}
	corpus = append(corpus, fragmentSession...)
	return append(corpus, "func (t *T) M() int { t.", "type Y T\nvar y Y\ny.", "type Y = T\nfunc (y Y) N() { y.A }", "type T T\nT{", "type Y = P\nfunc (y *Y) Z() {}",
		"func (g *G[E]) Next() E { return g.next.X }", "type Q[E T] = G[E]\nfunc (q Q[E]) N() { q.X }", "type Z struct{ T; *U; I }\nZ{}.M(1)", "type ( A B; B C; C A )\nvar a A\na.",
		"func (Pair[K, V]) W() { var v V; v. }", "type N interface { N; Number; ~[]T }\nfunc n[X N](x X) { x. }", "const k1, k2 = k2, k1", "func (x x) x() { x.x }", "var kept = kept.A\nkept.")
}

// tokens cuts a fragment into tokens, with the space before each.
func tokens(src string) (list []string) {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(src)), []byte(src), nil, scanner.ScanComments)
	last := 0
	for {
		pos, tok, lit := s.Scan()
		at := int(pos) - 1
		if lit == "" {
			lit = tok.String()
		}
		end := min(at+len(lit), len(src))
		if tok == token.EOF || end < last {
			return append(list, src[last:])
		}
		list, last = append(list, src[last:end]), end
	}
}

// mutate makes a new fragment from some of a corpus, and a cursor in it.
func mutate(r *rand.Rand, corpus [][]string) (src string, cursor int) {
	any := func() []string { return corpus[r.IntN(len(corpus))] }
	list := append([]string{}, any()...)
	for range 1 + r.IntN(4) {
		i, n := r.IntN(len(list)+1), 1+r.IntN(3)
		other := any()
		j := r.IntN(len(other))
		part := other[j:min(j+n, len(other))]
		switch r.IntN(8) {
		case 0: // half written
			list = list[:i]
		case 1:
			list = append(list[:i:i], list[min(i+n, len(list)):]...)
		case 2:
			list = append(append(list[:i:i], part...), list[i:]...)
		case 3:
			list = append(append(list[:i:i], part...), list[min(i+len(part), len(list)):]...)
		case 4:
			if i < len(list) {
				k := r.IntN(len(list))
				list[i], list[k] = list[k], list[i]
			}
		case 5:
			list = append(append(list, "\n"), other...)
		case 6:
			list = append(append(append([]string{}, other...), "\n"), list...)
		case 7: // at a member
			list = append(list[:i:i], append([]string{"."}, list[i:]...)...)
		}
	}
	src = strings.Join(list, "")
	if r.IntN(10) == 0 && len(src) > 0 {
		b := []byte(src)
		b[r.IntN(len(b))] = byte(r.IntN(256))
		src = string(b)
	}
	if cursor = len([]rune(src)); r.IntN(2) == 0 {
		cursor = r.IntN(cursor + 1)
	}
	return src, cursor
}

// ask makes every request about a fragment except running it.
func (e *Engine) ask(src string, cursor int) *cellproto.Error {
	if _, fail := e.Complete(src, cursor); fail != nil {
		return fail
	}
	if _, fail := e.Inspect(src, cursor); fail != nil {
		return fail
	}
	return e.refuseOrDrop(src)
}

// refuseOrDrop checks a fragment as a cell.
func (e *Engine) refuseOrDrop(src string) (fail *cellproto.Error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	defer failure.Rescue("check", &fail)
	if c, _ := e.Declares(src); c != nil {
		return nil // a compiler's
	}
	j := &namespace.Journal{}
	defer j.Undo()
	e.Check(context.Background(), j, 99, src)
	return nil
}

// TestMutatedFragments: no fragment of a cell, however broken, makes the engine or
// the type checker panic, overflow a stack or search for long.
//
//	go run ./kernel/edited/go test ./kernel/engine -run MutatedFragments -fragments 1000000 -timeout 12h -v
func TestMutatedFragments(t *testing.T) {
	const seed, renew = 17, 20_000
	var corpus [][]string
	for _, src := range fragmentCorpus(t) {
		if list := tokens(src); len(list) < 200 {
			corpus = append(corpus, list)
		}
	}
	t.Logf("seed %d, %d cells", seed, len(corpus))
	var e *Engine
	began, longest := time.Now(), time.Duration(0)
	for i := range *fragments {
		if i%renew == 0 {
			if e != nil {
				e.Close()
			}
			e = fragmentEngine(t)
		}
		src, cursor := mutate(rand.New(rand.NewPCG(seed, uint64(i))), corpus)
		hung := time.AfterFunc(time.Minute, func() { panic(fmt.Sprintf("fragment %d takes a minute: %q", i, src)) })
		start := time.Now()
		if fail := e.ask(src, cursor); fail != nil {
			t.Errorf("fragment %d, cursor %d: %v\n%s", i, cursor, fail, src)
		}
		longest = max(longest, time.Since(start))
		hung.Stop()
		if n := i + 1; n%renew == 0 || n == *fragments {
			if r := evaluate(t.Context(), e, 100, "kept.M(1) + g.Sum()"); r.Err != nil || len(r.Values) != 1 || r.Values[0] != 3 {
				t.Fatalf("after %d fragments the session answers %v, %v", n, r.Values, r.Err)
			}
			t.Logf("%d fragments in %.0f s, longest %d ms", n, time.Since(began).Seconds(), longest.Milliseconds())
		}
	}
	e.Close()
}

// FuzzFragments starts from the same cells, and from one of 20 where inputs are searched: all
// seeds run before the first new input, which takes a minute.
//
//	go run ./kernel/edited/go test ./kernel/engine -run '^$' -fuzz FuzzFragments -fuzztime 60s
func FuzzFragments(f *testing.F) {
	searches := flag.Lookup("test.fuzz").Value.String() != ""
	for i, src := range fragmentCorpus(f) {
		if !searches || i%20 == 0 {
			f.Add(src, len([]rune(src)))
		}
	}
	var e *Engine
	n := 0
	f.Fuzz(func(t *testing.T, src string, cursor int) {
		if n++; e == nil || n%2000 == 0 {
			e = fragmentEngine(t)
		}
		if fail := e.ask(src, cursor); fail != nil {
			t.Fatal(fail)
		}
	})
}
