//go:build edited

package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"warpbook/kernel/engine/symbols"
)

// faulty are cells that end with an error, or print the result of a recovered one.
var faulty = []string{
	"func f(xs []int, i int) int {\n\treturn xs[i]\n}\nfunc g(n int) int {\n\ts := 0\n\tfor i := 0; i <= n; i++ {\n\t\ts += f(make([]int, n), i)\n\t}\n\treturn s\n}\ng(7)",
	"xs := []float64{1, 2}\ni := -1\nfor range 3 {\n\txs[i] = 2\n}",
	"xs := []float64{1, 2}\nfor i := range 5 {\n\txs[i] *= 2\n}",
	"func f(n int) (s int) {\n\ta := [4]int{}\n\tfor i := 0; i < n; i++ {\n\t\ta[i] = i\n\t\ts += a[i]\n\t}\n\treturn s\n}\nf(9)",
	"func f(s string, n int) (c byte) {\n\tfor i := 0; i < n; i++ {\n\t\tc += s[i]\n\t}\n\treturn c\n}\nf(\"abc\", 5)",
	"func div(a, b int) int { return a / b }\nfunc f() (s int) {\n\tfor i := 5; i > -5; i-- {\n\t\ts += div(100, i)\n\t}\n\treturn s\n}\nf()",
	"func f(a, b uint8) (s uint8) {\n\tfor i := 0; i < 9; i++ {\n\t\ts += a % b\n\t\tb--\n\t}\n\treturn s\n}\nf(7, 3)",
	"func f(n int) (s int) {\n\tfor i := 3; i > -3; i-- {\n\t\ts += 1 << i\n\t}\n\treturn s\n}\nf(1)",
	"type N struct { v int; next *N }\nfunc sum(n *N) (s int) {\n\tfor {\n\t\ts += n.v\n\t\tn = n.next\n\t}\n}\nsum(&N{1, &N{2, nil}})",
	"type N struct { v int; next *N }\nfunc set(n *N) {\n\tfor i := range 3 {\n\t\tn.next.v = i\n\t}\n}\nset(&N{})",
	"func f(p *int, n int) {\n\tfor range n {\n\t\t*p = 1\n\t}\n}\nf(nil, 3)",
	"func f(p *[4]float32, n int) (s float32) {\n\tfor i := range n {\n\t\ts += p[i]\n\t}\n\treturn\n}\nf(nil, 3)",
	"func f(xs []int, a, b int) (s int) {\n\tfor i := range 9 {\n\t\ts += len(xs[a+i:b])\n\t}\n\treturn\n}\nf(make([]int, 3, 5), 0, 4)",
	"func f(xs []int, a, b int) (s int) {\n\tfor i := range 9 {\n\t\ts += len(xs[a:b+i])\n\t}\n\treturn\n}\nf(make([]int, 3, 5), 0, 4)",
	"func f(s string, n int) (t string) {\n\tfor i := range n {\n\t\tt = s[i:]\n\t}\n\treturn\n}\nf(\"ab\", 5)",
	"func f(n int) {\n\tfor i := range n {\n\t\tif i == 3 {\n\t\t\tpanic(\"three\")\n\t\t}\n\t}\n}\nfunc g(n int) { for range 2 { f(n) } }\ng(9)",
	"func f(n int) {\n\tvar m map[int]int\n\tfor i := range n {\n\t\tm[i] = i\n\t}\n}\nf(3)",
	"func f(x any, n int) (s int) {\n\tfor range n {\n\t\ts += x.(int)\n\t}\n\treturn\n}\nf(\"a\", 2)",
	"import \"fmt\"\nfunc f(xs []int, n int) (s int, err error) {\n\tdefer func() {\n\t\tif v := recover(); v != nil {\n\t\t\terr = fmt.Errorf(\"recovered: %v\", v)\n\t\t}\n\t}()\n\tfor i := range n {\n\t\ts += xs[i]\n\t}\n\treturn\n}\ns, err := f([]int{1, 2, 3}, 5)\nfmt.Sprint(s, err)",
	"import \"errors\"\nfunc f(n int) {\n\tdefer func() { panic(errors.New(\"second\")) }()\n\tfor i := range n {\n\t\t_ = 10 / (i - 2)\n\t}\n}\nf(3)",
	"func fact(n int) int {\n\tif n == 0 {\n\t\tpanic(\"bottom\")\n\t}\n\treturn n * fact(n-1)\n}\nfor range 9 {\n\tfact(4)\n}",
	"func f(n int) int { return f(n+1) + 1 }\nf(0)",
	"func even(n int) bool { if n == 0 { return true }; return odd(n - 1) }\nfunc odd(n int) bool { if n == 0 { return false }; return even(n - 1) }\neven(-1)",
	"func f(xs []int) (s int) {\n\tg := func(i int) int { return xs[i] }\n\tfor i := range 9 {\n\t\ts += g(i)\n\t}\n\treturn\n}\nf([]int{1, 2})",
	"type T struct{ xs []int }\nfunc (t *T) at(i int) int { return t.xs[i] }\nt := &T{[]int{1}}\nfor i := range 9 {\n\t_ = t.at(i)\n}",
	"type T struct{ xs []int }\nfunc (t T) at(i int) int { return t.xs[i] }\nt := T{[]int{1}}\nfor i := range 9 {\n\t_ = t.at(i)\n}",
	"type I interface{ at(int) int }\ntype T []int\nfunc (t T) at(i int) int { return t[i] }\nvar i I = T{1}\nfor k := range 9 {\n\t_ = i.at(k)\n}",
	"func f[T int | float64](xs []T, n int) (s T) {\n\tfor i := range n {\n\t\ts += xs[i]\n\t}\n\treturn\n}\nf([]float64{1}, 1) + f([]float64{1, 2}, 3)",
	"import \"sort\"\nxs := []int{3, 1, 2}\nsort.Slice(xs, func(i, j int) bool { return xs[i+2] < xs[j] })",
	"func f(n int) (s int) {\n\tfor i := range func(yield func(int) bool) {\n\t\tfor k := 0; yield(k); k++ {\n\t\t}\n\t} {\n\t\ts += 10 / (n - i)\n\t}\n\treturn\n}\nf(4)",
	"func f(b [][]float64, n int) (s float64) {\n\tfor i := range n {\n\t\tfor j := range n {\n\t\t\ts += b[i][j]\n\t\t}\n\t}\n\treturn\n}\nf([][]float64{{1, 2}, {3}}, 2)",
	"import \"fmt\"\ntype K uint\ntype V float64\nfunc f(n int) string {\n\ta, b, c, d := map[K]V{}, map[string]int{}, map[int]uint64{}, map[float64]int{}\n\tfor i := range n {\n\t\ta[K(i%7)] += V(i)\n\t\tb[\"abc\"[i%3:]]++\n\t\tif _, ok := c[i/2]; !ok {\n\t\t\tc[i/2] = uint64(i)\n\t\t}\n\t\tdelete(a, K(i))\n\t\td[float64(i%3)]--\n\t}\n\tv, ok := c[n]\n\tsum := 0\n\tfor k, v := range c {\n\t\tsum += k * int(v)\n\t}\n\treturn fmt.Sprint(a, b, c, d, v, ok, sum, b[\"zz\"], len(a))\n}\nf(100)",
	"func f(n int) (s int) {\n\tvar m map[string]int\n\tfor i := range n {\n\t\ts += m[\"a\"]\n\t\tif i == 3 {\n\t\t\tm[\"a\"] = i\n\t\t}\n\t}\n\treturn\n}\nf(9)",
	"type P struct{ x, y int }\nfunc f(m map[P]string, n int) (s int) {\n\tfor i := range n {\n\t\tdelete(m, P{i, i})\n\t\ts += len(m) + len(m[P{i, 1}])\n\t\tfor k := range m {\n\t\t\ts += k.x\n\t\t}\n\t\tif i == 2 {\n\t\t\tm[P{i, i}] = \"x\"\n\t\t}\n\t}\n\treturn\n}\nf(map[P]string{{1, 1}: \"abc\", {2, 1}: \"de\"}, 4) + f(nil, 4)",
	"type T struct{ m map[string][]int }\nfunc (t *T) add(s string, i int) { t.m[s] = append(t.m[s], i) }\nt := &T{map[string][]int{}}\nfor i := range 5 {\n\tt.add(\"abc\"[i%3:], i)\n\tif i == 3 {\n\t\tt.m = nil\n\t}\n}",
	"func f(n int) (s int) {\n\tm := map[any]int{}\n\tfor i := range n {\n\t\tm[i]++\n\t\tm[[]int{i}]++\n\t}\n\treturn\n}\nf(3)",
	"func f(t string, n int) (s int) {\n\tfor i, r := range t {\n\t\ts += i*int(r) + 100/(n-i)\n\t}\n\treturn\n}\nf(\"a\\xffé世b\", 3)",
	"import \"fmt\"\nfunc f(n int) (k, v any, s fmt.Stringer, i, r any) {\n\tfor range n {\n\t\tfor k, v = range map[int8]string{3: \"x\"} {\n\t\t}\n\t\tfor s = range map[T]bool{2: true} {\n\t\t}\n\t\tfor i, r = range \"ab\" {\n\t\t}\n\t}\n\treturn\n}\ntype T int\nfunc (t T) String() string { return fmt.Sprint(\"T\", int(t)) }\nk, v, s, i, r := f(3)\nfmt.Sprintf(\"%T %T %v %T %T\", k, v, s, i, r)",
	"import (\n\"fmt\"\n\"sort\"\n)\ntype P struct{ x, y int }\nps := []P{{3, 1}, {1, 2}, {2, 3}}\nsort.Slice(ps, func(i, j int) bool { return ps[i].x < ps[j].x })\nxs := []float64{5, 2, 8, 1}\nfor range 2 {\n\tsort.SliceStable(xs, func(i, j int) bool { return xs[i] > xs[j] })\n}\nfmt.Sprint(ps, xs, sort.Search(100, func(i int) bool { return i*i > 50 }))",
	"import \"sort\"\nfunc f(xs []int) (s string) {\n\tdefer func() { s, _ = recover().(string) }()\n\tfor range 3 {\n\t\tsort.Slice(xs, func(i, j int) bool { if xs[i] == 2 { panic(\"two\") }; return xs[i] < xs[j] })\n\t}\n\treturn \"none\"\n}\nf([]int{3, 1, 2})",
	"import \"fmt\"\ntype P struct{ x int; s []string }\nfunc f(n int) (string, error) {\n\tvar a []int8\n\tvar b []string\n\tvar c []P\n\tvar d []any\n\tvar e []fmt.Stringer\n\tvar g []byte\n\tvar h []*P\n\tvar z []struct{}\n\tfor i := range n {\n\t\ta = append(a, int8(i*77))\n\t\tb = append(b, \"abc\"[i%3:], \"x\")\n\t\tc = append(c, P{i, b}, P{})\n\t\td = append(d, i, nil, c[i], b[i])\n\t\te = append(e, T(i), nil)\n\t\tg = append(append(g, b[i]...), g...)\n\t\th = append(h, &c[i], nil)\n\t\tz = append(z, struct{}{})\n\t}\n\tc = append(c, c[1:]...)\n\td = append(d[:2:2], d...)\n\tk := copy(b[1:], b) + copy(g, \"hello\") + copy(d, d[3:]) + copy(c, []P(nil))\n\treturn fmt.Sprint(a, b, c, d, e, g, *h[2], len(h), len(z), cap(d) > len(d), k), nil\n}\ntype T int\nfunc (t T) String() string { return fmt.Sprint(\"T\", int(t)) }\nfunc bytes(n byte) (b []byte) {\n\tfor i := range n {\n\t\tb = append(b, i, n)\n\t}\n\treturn append(b[:2], append(b, b[:1]...)...)\n}\ns, _ := f(9)\nfmt.Sprint(s, bytes(3), append([]int(nil), []int{}...) == nil)",
	"import \"fmt\"\ntype P struct{ x int; s string }\nfunc pass[T any](vs ...T) (got []T, ok bool) {\n\tc, done := make(chan T), make(chan T, 2)\n\tgo func() {\n\t\tfor _, v := range vs {\n\t\t\tc <- v\n\t\t}\n\t\tclose(c)\n\t}()\n\tfor v := range c {\n\t\tdone <- v\n\t\tgot = append(got, <-done)\n\t}\n\t_, ok = <-c\n\tselect {\n\tcase done <- got[0]:\n\tcase <-done:\n\t}\n\treturn append(got, <-done, <-c), ok\n}\nfmt.Sprint(pass(1, -2, 3)) + fmt.Sprint(pass[int8](1, -2)) + fmt.Sprint(pass(\"a\", \"\")) + fmt.Sprint(pass(P{1, \"x\"}, P{})) + fmt.Sprint(pass[any](1, nil, P{})) + fmt.Sprint(pass[error](nil, fmt.Errorf(\"e\"))) + fmt.Sprint(pass([]int{1}, nil)) + fmt.Sprint(pass(map[int]int{1: 2})) + fmt.Sprint(pass(2.5, -1)) + fmt.Sprint(pass(struct{}{})) + fmt.Sprint(pass([2]int{1, 2}))",
	"func f(c chan int) (n int) {\n\tfor i := range 5 {\n\t\tif i == 3 {\n\t\t\tclose(c)\n\t\t}\n\t\tc <- i\n\t\tn += <-c\n\t}\n\treturn\n}\nf(make(chan int, 1))",
	"import \"fmt\"\nfunc two(f func(int, string) (int, error), n int) (s int) {\n\tfor i := range n {\n\t\tk, err := f(i, \"abc\")\n\t\ts += k\n\t\tif err != nil {\n\t\t\ts++\n\t\t}\n\t}\n\treturn\n}\nfunc one(f func(int) int, n int) (s int) {\n\tfor i := range n {\n\t\ts += f(i)\n\t}\n\treturn\n}\nfunc half(i int) int { return i / 2 }\ntype T struct{ k int }\nfunc (t T) add(i int) int { return t.k + i }\nfunc (t *T) sub(i int) int { t.k++; return t.k - i }\nfunc f() string {\n\tx, y, t := 1, []int{1, 2}, T{5}\n\tg := func(i int) int { x += i; return x + len(y) }\n\th := func(i int, s string) (int, error) { y = append(y, i); return len(s) + i, nil }\n\ta, b := 0, 0\n\tfor i := range 9 {\n\t\ta += g(i)\n\t\tk, _ := h(i, \"x\")\n\t\tb += k\n\t\tfunc() { b += i }()\n\t}\n\treturn fmt.Sprint(a, b, one(g, 7), one(half, 9), one(t.add, 3), one(t.sub, 4), one(func(i int) int { return i * i }, 5), two(h, 3), x, y, t)\n}\nf() + f()",
	"func one(f func(int) int, n int) (s int) {\n\tfor i := range n {\n\t\ts += f(i)\n\t}\n\treturn\n}\nx := 3\none(func(i int) int { return 10 / (x - i) }, 9)",
	"func one(f func(int) int, n int) (s int) {\n\tfor i := range n {\n\t\ts += f(i)\n\t}\n\treturn\n}\none(nil, 9)",
	"import \"fmt\"\ntype V struct{ x, y float64 }\ntype Q struct{ a, b V; name string; any any; p *V; n [2]int8 }\ntype W struct{ _ struct{}; p *int }\nfunc (v V) add(w V) V { return V{v.x + w.x, v.y + w.y} }\nfunc (v V) scale(k float64) V { v.x *= k; v.y *= k; return v }\nfunc (q Q) sum() (V, string) { return q.a.add(q.b), q.name + fmt.Sprint(q.any, q.n) }\nfunc (w W) get() int { return *w.p }\nfunc (v V) String() string { return fmt.Sprint(v.x, \"/\", v.y) }\nfunc arr(a [3]int, i int) (s [3]int) { s = a; s[i] += a[0]; return }\nfunc f(n int) string {\n\tv, k := V{1, 2}, 7\n\tw, q := W{p: &k}, Q{a: V{1, 1}, name: \"q\", p: &v}\n\tws, m, vs, c, a := map[W]int{}, map[V]Q{}, []V{}, make(chan V, 1), [3]int{1, 2, 3}\n\tvar s fmt.Stringer\n\tvar last V\n\tfor i := range n {\n\t\told := v\n\t\tv = v.add(V{float64(i), 1}).scale(0.5)\n\t\tq.b, q.any = v, old\n\t\tq.n[i%2]++\n\t\tr, name := q.sum()\n\t\tm[r] = q\n\t\tvs = append(vs, r, old)\n\t\tc <- r\n\t\tlast = <-c\n\t\ts = last\n\t\ta = arr(a, i%3)\n\t\tws[w]++\n\t\tk += w.get() + ws[w] + len(name) + len(m[r].name)\n\t\tif q2, ok := m[V{}]; !ok && last == r && vs[len(vs)-1] == old {\n\t\t\tk += len(q2.name)\n\t\t}\n\t\tq3 := q\n\t\tq3.a.x = 100\n\t\tfunc() { v.y += q3.a.x - q.a.x }()\n\t\t_ = struct{}{}\n\t}\n\tfor key, e := range m {\n\t\tlast.x += key.x + e.b.y\n\t}\n\treturn fmt.Sprint(v, w.get(), q.a, q.b, q.any, q.n, len(m), vs, s, a, k, int(last.x), q.p.x)\n}\nf(9)",
	"type P struct{ x, y int; s []int }\nfunc (p P) at(i int) int { return p.s[i] + p.x }\nvar ps []P\nfor i := range 9 {\n\tps = append(ps, P{i, i, []int{i}})\n\t_ = ps[i].at(i / 4)\n}",
	"import \"fmt\"\ntype S interface{ A(k int) int; B(s string) (string, int) }\ntype N int8\ntype F32 float32\ntype X string\ntype L []int\ntype M map[int]int\ntype F func(int) int\ntype R struct{ x, y int; s string }\ntype P struct{ p *int }\ntype E struct{ R; k int }\ntype Q struct{ k int }\ntype G struct{ a [40]int }\nfunc (n N) A(k int) int { return int(n) + k }\nfunc (n N) B(s string) (string, int) { return s + \"n\", int(n) }\nfunc (f F32) A(k int) int { return int(f*2) + k }\nfunc (f F32) B(s string) (string, int) { return s + \"f\", int(f) }\nfunc (x X) A(k int) int { return len(x) * k }\nfunc (x X) B(s string) (string, int) { return s + string(x), len(x) }\nfunc (l L) A(k int) int { return l[k%len(l)] }\nfunc (l L) B(s string) (string, int) { return s, cap(l) }\nfunc (m M) A(k int) int { m[k]++; return len(m) }\nfunc (m M) B(s string) (string, int) { return s, m[1] }\nfunc (f F) A(k int) int { return f(k) }\nfunc (f F) B(s string) (string, int) { return s, f(len(s)) }\nfunc (r R) A(k int) int { r.x += k; return r.x*r.y + len(r.s) }\nfunc (r R) B(s string) (string, int) { return r.s + s, r.y }\nfunc (p P) A(k int) int { *p.p += k; return *p.p }\nfunc (p P) B(s string) (string, int) { return s, *p.p }\nfunc (q *Q) A(k int) int { q.k += k; return q.k }\nfunc (q *Q) B(s string) (string, int) { return s + s, q.k }\nfunc (g G) A(k int) int { return g.a[k%40] + k }\nfunc (g G) B(s string) (string, int) { return s, len(g.a) }\nfunc f(list []S, n int) string {\n\tsum, text := 0, \"\"\n\tfor i := range n {\n\t\ts := list[i%len(list)]\n\t\tsum = sum*3 + s.A(i)\n\t\tt, k := s.B(\"ab\"[i%2:])\n\t\tsum, text = sum+k, text+t\n\t}\n\treturn fmt.Sprint(sum, text)\n}\ntype T interface{ value() int }\ntype leaf int\ntype node struct{ l, r T }\nfunc (l leaf) value() int { return int(l) }\nfunc (n *node) value() int { return n.l.value() + 2*n.r.value() }\nfunc tree(n int) T { if n == 0 { return leaf(3) }; return &node{tree(n - 1), leaf(n)} }\nk := 1\nlist := []S{N(-3), F32(1.5), X(\"xyz\"), L{4, 5}, M{}, F(func(i int) int { return i * i }), R{1, 2, \"r\"}, &R{3, 4, \"s\"}, P{&k}, &P{&k}, E{R{5, 6, \"e\"}, 1}, &E{R{7, 8, \"g\"}, 2}, &Q{9}, G{}, &G{}}\nfmt.Println(f(list, 100), f(list[:1], 9), f(list, 31), tree(20).value(), tree(300).value())\nf(append(list[:3:3], nil), 9)",
	"type V struct{ x, y int }\nfunc (v V) sum() int { return v.x*10 + v.y }\ntype W struct{ v V; k int8 }\nfunc (w W) sum() int { return w.v.sum() + int(w.k) }\nfunc f(n int) (s int) {\n\tlast := V{1, 1}\n\tfor i := range n {\n\t\tv := V{i, 1}\n\t\ts += v.sum()\n\t\tv.x++\n\t\ts += v.sum() + last.sum()\n\t\tw := V{i, 2}\n\t\tif i%2 == 0 {\n\t\t\tw.y = 7\n\t\t}\n\t\ts += w.sum()\n\t\tu := v\n\t\tv.y = 100\n\t\ts += u.sum() + v.sum()\n\t\tfunc() { u.x = -1 }()\n\t\ts += u.sum()\n\t\tp := &w\n\t\tq := w\n\t\tp.x = 1000\n\t\ts += w.sum() - q.sum()\n\t\ta := W{v, int8(i)}\n\t\tb, c := a, a.v\n\t\tc.y++\n\t\ts += a.sum() + b.sum() + c.sum()\n\t\tlist := []V{w, a.v}\n\t\tlist[0].x, list[1].y = 5, 6\n\t\ts += w.sum() + a.v.sum()\n\t\tvar any any = a\n\t\td := any.(W)\n\t\td.k = 2\n\t\ts += any.(W).sum() + d.sum()\n\t\te := V{i, 3}\n\t\tany = e\n\t\te.y = 50\n\t\ts += any.(V).sum() + e.sum()\n\t\tlast = a.v\n\t}\n\treturn s*10 + last.x\n}\nf(9)",
	"import (\n\t\"errors\"\n\t\"fmt\"\n\t\"io\"\n\t\"strings\"\n)\ntype S interface{ Area() float64 }\ntype Named interface { S; fmt.Stringer; error }\ntype Sq struct{ s float64 }\ntype Ci struct{ r float64 }\ntype N int\ntype F func(int) int\ntype Big struct{ a [40]int }\ntype One struct{ p *int }\ntype Holds struct { s S; any any; err error; n int }\nfunc (q Sq) Area() float64 { return q.s * q.s }\nfunc (c *Ci) Area() float64 { return c.r * 3 }\nfunc (n N) Area() float64 { return float64(n) }\nfunc (n N) String() string { return fmt.Sprint(\"N\", int(n)) }\nfunc (n N) Error() string { return \"error \" + n.String() }\nfunc (b Big) Area() float64 { return float64(b.a[3]) }\nfunc pick(list []S, i int) (S, error) {\n\tif i%5 == 4 {\n\t\treturn nil, N(i)\n\t}\n\treturn list[i%len(list)], nil\n}\nfunc kind(x any) string {\n\tswitch x := x.(type) {\n\tcase nil:\n\t\treturn \"nil\"\n\tcase int:\n\t\treturn fmt.Sprint(\"int\", x+1)\n\tcase int8, uint8:\n\t\treturn fmt.Sprintf(\"%T\", x)\n\tcase float64:\n\t\treturn fmt.Sprint(x / 2)\n\tcase string:\n\t\treturn x + \"!\"\n\tcase []int:\n\t\treturn fmt.Sprint(len(x), cap(x))\n\tcase map[string]any:\n\t\treturn fmt.Sprint(len(x), x[\"a\"])\n\tcase func(int) int:\n\t\treturn fmt.Sprint(x(2))\n\tcase F:\n\t\treturn fmt.Sprint(\"F\", x(3))\n\tcase Sq:\n\t\treturn fmt.Sprint(\"Sq\", x.s)\n\tcase *Ci:\n\t\treturn fmt.Sprint(\"Ci\", x.r)\n\tcase One:\n\t\treturn fmt.Sprint(*x.p)\n\tcase Named:\n\t\treturn x.String() + fmt.Sprint(x.Area())\n\tcase S:\n\t\treturn fmt.Sprint(x.Area())\n\tcase error:\n\t\treturn x.Error()\n\tcase io.Reader:\n\t\tb, _ := io.ReadAll(x)\n\t\treturn string(b)\n\tcase chan int:\n\t\treturn fmt.Sprint(cap(x))\n\tcase [2]string:\n\t\treturn x[1]\n\tcase complex128:\n\t\treturn fmt.Sprint(real(x))\n\tcase struct{}:\n\t\treturn \"empty\"\n\t}\n\treturn \"other\"\n}\nfunc f(n int) string {\n\tk := 5\n\tlist := []S{Sq{2}, &Ci{3}, N(4), Big{[40]int{3: 9}}}\n\tvals := []any{nil, 1, int8(2), uint8(3), 2.5, \"s\", []int{1}, map[string]any{\"a\": nil}, func(i int) int { return i * k }, F(func(i int) int { return i }),\n\t\tSq{1}, &Ci{2}, One{&k}, N(7), Big{}, errors.New(\"e\"), strings.NewReader(\"read\"), make(chan int, 3), [2]string{\"a\", \"b\"}, 2i, struct{}{}, &k, [0]int{}, uintptr(1), float32(2), true, 'x'}\n\tvar last S\n\tvar err error\n\tvar any0, old any\n\th := Holds{}\n\tm, em, c, ec := map[string]S{}, map[int]error{}, make(chan S, 1), make(chan error, 2)\n\tvar sb strings.Builder\n\tfor i := range n {\n\t\ts, e := pick(list, i)\n\t\tif e != nil {\n\t\t\terr = e\n\t\t\tem[i] = e\n\t\t\tif _, ok := e.(N); !ok || errors.As(e, new(*Ci)) {\n\t\t\t\tsb.WriteString(\"?\")\n\t\t\t}\n\t\t} else {\n\t\t\tm[fmt.Sprint(i%3)] = s\n\t\t\tlast = s\n\t\t\tsb.WriteString(kind(s))\n\t\t}\n\t\tx := vals[i%len(vals)]\n\t\tsb.WriteString(kind(x))\n\t\told, any0 = any0, x\n\t\th.s, h.any, h.err, h.n = last, any0, err, i\n\t\tg := h\n\t\tg.any = old\n\t\tif g.err == nil || g.s != last || any0 == nil || h.any == 1 || old == \"s\" {\n\t\t\tsb.WriteString(\"=\")\n\t\t}\n\t\tc <- s\n\t\tgot := <-c\n\t\tec <- nil\n\t\tec <- err\n\t\te1, ok := <-ec\n\t\tsb.WriteString(fmt.Sprint(got == s, e1, ok, (<-ec) == err))\n\t\tfunc() {\n\t\t\tany0 = last\n\t\t\tif st, ok := any0.(fmt.Stringer); ok {\n\t\t\t\tsb.WriteString(st.String())\n\t\t\t}\n\t\t}()\n\t\trec := func(a any, s S) (any, S) { return s, s }\n\t\ta, b := rec(x, last)\n\t\tsb.WriteString(fmt.Sprint(a == any(b), em[i], m[\"9\"], m[\"1\"]))\n\t\tif n, ok := a.(Named); ok {\n\t\t\tsb.WriteString(n.Error())\n\t\t}\n\t}\n\tfor k, v := range m {\n\t\tsb.WriteString(fmt.Sprint(len(k), v != nil))\n\t}\n\tvar p *Ci\n\tlast = p\n\tvar all []any\n\tvar es []error\n\tall, es = append(all, 1, \"x\", nil, last, err), append(es, err, nil, N(2))\n\tarr := [3]any{1, nil, \"z\"}\n\tpa := &arr\n\tpa[1] = last\n\treturn sb.String() + fmt.Sprint(last == nil, last.(*Ci) == nil, len(all), es, arr[0], arr[1] == last, pa[2])\n}\nf(200)",
	"type S interface{ M() int }\ntype A int\nfunc (a A) M() int { return int(a) }\nfunc f(xs []any, n int) (s int) {\n\tfor i := range n {\n\t\ts += xs[i].(S).M()\n\t}\n\treturn\n}\nf([]any{A(1), A(2), \"s\"}, 3)",
	"type S interface{ M() int }\ntype A int\nfunc (a A) M() int { return int(a) }\nfunc f(xs []any, n int) (s int) {\n\tfor i := range n {\n\t\ts += xs[i].(S).M()\n\t}\n\treturn\n}\nf([]any{A(1), A(2), nil}, 3)",
	"type S interface{ M() int }\ntype A int\nfunc (a A) M() int { return int(a) }\nfunc f(xs []any, n int) (s int) {\n\tfor i := range n {\n\t\ts += xs[i].(S).M()\n\t}\n\treturn\n}\nf([]any{A(1), A(2), []int{1}}, 3)",
	"type S interface{ M() int }\nfunc f(s S, n int) (k int) {\n\tfor range n {\n\t\tk += s.M()\n\t}\n\treturn\n}\nf(nil, 2)",
	"func f(p *any, q *error, n int) {\n\tfor range n {\n\t\t*p = n\n\t\t*q = nil\n\t}\n}\nvar x any\nf(&x, nil, 2)",
	"type H struct{ e error }\nfunc f(h *H, n int) (s int) {\n\tfor range n {\n\t\tif h.e == nil {\n\t\t\ts++\n\t\t}\n\t\th = nil\n\t}\n\treturn\n}\nf(&H{}, 3)",
	"func f(a, b any, n int) (s int) {\n\tfor range n {\n\t\tif a == b {\n\t\t\ts++\n\t\t}\n\t}\n\treturn\n}\nf(1, 1, 3) + f([]int{1}, []int{1}, 2)",
	"func f(x any, n int) (s int) {\n\tfor range n {\n\t\ts += len(x.([]string))\n\t\tx = x.([]string)[1]\n\t}\n\treturn\n}\nf([]string{\"a\", \"b\"}, 3)",
	"func f(c chan any, n int) (s any) {\n\tdefer func() { s = recover() }()\n\tfor i := range n {\n\t\tc <- i\n\t\tif v, ok := <-c; ok {\n\t\t\ts = v.(int) / (2 - i)\n\t\t}\n\t}\n\treturn s\n}\nf(make(chan any, 1), 5)",
	"import (\n\t\"bytes\"\n\t\"errors\"\n\t\"fmt\"\n\t\"io\"\n\t\"math\"\n\t\"math/big\"\n\t\"math/bits\"\n\t\"os\"\n\t\"sort\"\n\t\"strconv\"\n\t\"strings\"\n\t\"sync\"\n\t\"time\"\n\t\"unicode/utf8\"\n)\ntype T int\ntype E struct{ k int }\ntype list []int\nfunc (t T) String() string { return \"T\" + strconv.Itoa(int(t)) }\nfunc (e *E) Error() string { return fmt.Sprintf(\"E%d\", e.k) }\nfunc (l list) Len() int { return len(l) }\nfunc (l list) Less(i, j int) bool { return l[i] < l[j] }\nfunc (l list) Swap(i, j int) { l[i], l[j] = l[j], l[i] }\ntype up struct{ w io.Writer }\nfunc (u up) Write(b []byte) (int, error) {\n\tn, err := u.w.Write(bytes.ToUpper(b))\n\treturn n, err\n}\nfunc f(n int) (out string) {\n\tvar sb strings.Builder\n\tvar buf bytes.Buffer\n\tvar mu sync.Mutex\n\tvar once sync.Once\n\tw := up{&buf}\n\tbig1, big2 := big.NewInt(3), big.NewInt(1)\n\tdefer func() {\n\t\tout += fmt.Sprint(recover(), sb.Len(), strings.ToUpper(\"end\"))\n\t}()\n\tfor i := range n {\n\t\tmu.Lock()\n\t\tsb.WriteString(strconv.Itoa(i))\n\t\tsb.WriteByte(' ')\n\t\tmu.Unlock()\n\t\tonce.Do(func() { sb.WriteString(\"once\") })\n\t\tk, err := strconv.Atoi(\"12\"[:i%3] + \"3\")\n\t\tx, err2 := strconv.ParseFloat(strconv.FormatFloat(float64(i)/3, 'g', 5, 64), 32)\n\t\t_, err3 := strconv.Atoi(\"x\")\n\t\twhole, frac := math.Modf(x)\n\t\tsin, cos := math.Sincos(float64(i))\n\t\tr, size := utf8.DecodeRuneInString(\"aé世\"[i%2:])\n\t\tbefore, after, found := strings.Cut(\"key=value\", \"=\")\n\t\thi, lo := bits.Mul64(uint64(i)<<60, 12345)\n\t\tfmt.Fprintf(w, \"%v|%v|%T;\", T(i), &E{i}, T(i))\n\t\tfmt.Fprint(&sb, k, err, err2, whole, float32(frac), sin > cos, r, size, before, after, found, hi, lo, utf8.RuneLen('é'), math.Float32bits(1.5), math.Float32frombits(uint32(i)))\n\t\tvar e *E\n\t\tvar wrapped error = fmt.Errorf(\"at %d: %w\", i, &E{i})\n\t\tif errors.As(wrapped, &e) && errors.Is(wrapped, e) && !errors.Is(err3, io.EOF) {\n\t\t\tsb.WriteString(e.Error() + errors.Unwrap(wrapped).Error() + err3.Error())\n\t\t}\n\t\tbig2 = big2.Mul(big2, big1)\n\t\tbig2.Add(big2, big1)\n\t\td := time.Duration(i) * time.Millisecond\n\t\tsb.WriteString(d.String() + strconv.FormatBool(d.Seconds() > 0.002) + d.Round(time.Second).String())\n\t\tl := list{3, 1, 2, i}\n\t\tsort.Sort(l)\n\t\tsort.Sort(sort.Reverse(l))\n\t\tfields := strings.Fields(\" a  b \" + strings.Repeat(\"c\", i%3))\n\t\tsb.WriteString(strings.Join(fields, \"+\") + fmt.Sprint(l, bytes.Equal([]byte(\"a\"), buf.Bytes()), sort.SearchInts(l, 2)))\n\t\tb, err4 := io.ReadAll(strings.NewReader(\"read\"))\n\t\tc := strings.Map(func(r rune) rune { return r + 1 }, \"abc\")\n\t\tfmt.Fprintln(&sb, string(b), err4, c, strings.ContainsRune(\"héllo\", 'é'), len(os.Args) > 0, min(i, 2), strings.NewReplacer(\"a\", \"b\").Replace(\"aXa\"))\n\t\tvar nothing io.Reader\n\t\tif i == 7 {\n\t\t\tsb.WriteString(strings.Repeat(\"x\", 5-i))\n\t\t\tio.ReadAll(nothing)\n\t\t}\n\t}\n\treturn sb.String() + buf.String() + big2.String()\n}\nf(7) + f(9)",
	"import \"strings\"\nfunc f(n int) (s string) {\n\tfor i := range n {\n\t\ts += strings.Repeat(\"x\", 2-i)\n\t}\n\treturn\n}\nf(5)",
	"import \"strings\"\nfunc f(b *strings.Builder, n int) {\n\tfor i := range n {\n\t\tb.WriteByte(byte(i))\n\t\tif i == 2 {\n\t\t\tb = nil\n\t\t}\n\t}\n}\nf(&strings.Builder{}, 5)",
	"import \"fmt\"\ntype T int\nfunc (t T) String() string { return fmt.Sprint(10 / (int(t) - 3)) }\nfunc (t T) Error() string { panic(fmt.Errorf(\"error of %d\", int(t))) }\ntype U struct{ n *int }\nfunc (u U) String() string { return fmt.Sprint(*u.n) }\nfunc f(n int) (s string) {\n\tfor i := range n {\n\t\ts += fmt.Sprint(T(i), U{nil}) + fmt.Sprintf(\"%v %d\", U{&i}, i)\n\t}\n\treturn\n}\nf(5)",
	"import (\n\"sort\"\n\"fmt\"\n)\ntype L []int\nfunc (l L) Len() int { return len(l) }\nfunc (l L) Less(i, j int) bool { if l[i] == 4 { panic(fmt.Sprint(\"four\")) }; return l[i] < l[j] }\nfunc (l L) Swap(i, j int) { l[i], l[j] = l[j], l[i] }\nfunc f(n int) (s string) {\n\tdefer func() { s += fmt.Sprint(recover()) }()\n\tfor i := range n {\n\t\tl := L{i, 2, 1}\n\t\tsort.Sort(l)\n\t\ts += fmt.Sprint(l)\n\t}\n\treturn\n}\nf(6)",
	"import (\"fmt\"; \"runtime\")\nfunc where() (s string) {\n\tfor i := 1; i < 9; i++ {\n\t\t_, _, line, ok := runtime.Caller(i)\n\t\tif !ok { break }\n\t\ts += fmt.Sprint(line, \" \")\n\t}\n\treturn s\n}\nfunc f(k int) (s string) {\n\tdefer func() {\n\t\ts += where() + \"|\"\n\t}()\n\tdefer func() {\n\t\ts += fmt.Sprint(recover()) + where() + \"|\"\n\t}()\n\tdefer func() {\n\t\ts += where() + \"|\"\n\t}()\n\tfor i := range 3 {\n\t\tif k == i {\n\t\t\tpanic(\"p\")\n\t\t}\n\t\tdefer func() { s += where() }()\n\t}\n\treturn where()\n}\nf(0) + f(1) + f(2) + f(3) + f(4)",
	"func h(n int) {\n\tdefer func() { _ = n }()\n\tif n == 0 {\n\t\tvar m map[int]int\n\t\tm[0] = 1\n\t}\n\tfor range 2 {\n\t\th(n - 1)\n\t}\n}\nh(3)",
	"import \"errors\"\nfunc h(n int) (err error) {\n\tdefer func() {\n\t\tif n == 2 {\n\t\t\tpanic(errors.New(\"second\"))\n\t\t}\n\t}()\n\tdefer func() {\n\t\tif n == 1 {\n\t\t\tpanic(errors.New(\"first\"))\n\t\t}\n\t}()\n\tfor range 2 {\n\t\tif n > 0 {\n\t\t\terr = h(n - 1)\n\t\t}\n\t}\n\treturn err\n}\nh(4)",
	"func h(n int) {\n\tdefer func() {\n\t\tif v := recover(); v != nil {\n\t\t\tfor range 2 {\n\t\t\t\tpanic(v)\n\t\t\t}\n\t\t}\n\t}()\n\tfor range 2 {\n\t\tif n == 0 {\n\t\t\t_ = 10 / n\n\t\t}\n\t\th(n - 1)\n\t}\n}\nh(3)",
	"import \"os\"\nfunc h(n int) {\n\tdefer func() { println(n); recover() }()\n\tfor range 2 {\n\t\tif n == 0 {\n\t\t\tos.Exit(3)\n\t\t}\n\t\th(n - 1)\n\t}\n}\nh(2)",
	"import (\"runtime\"; \"fmt\")\nfunc h(n int, out *string) {\n\tdefer func() { *out += fmt.Sprint(n, recover()) }()\n\tfor range 2 {\n\t\tif n == 0 {\n\t\t\truntime.Goexit()\n\t\t}\n\t\th(n - 1, out)\n\t}\n}\ns, done := \"\", make(chan int)\ngo func() { defer close(done); h(2, &s) }()\n<-done\ns",
	"import (\"sort\"; \"fmt\"; \"runtime\")\nfunc f(xs []int) (s string) {\n\tdefer func() { s += fmt.Sprint(recover()) }()\n\tsort.Slice(xs, func(i, j int) bool {\n\t\tdefer func() {\n\t\t\t_, _, line, _ := runtime.Caller(1)\n\t\t\ts += fmt.Sprint(line, \" \")\n\t\t\tif v := recover(); v != nil {\n\t\t\t\tpanic(fmt.Sprint(\"again \", v))\n\t\t\t}\n\t\t}()\n\t\tif xs[i] == 2 {\n\t\t\tpanic(\"two\")\n\t\t}\n\t\treturn xs[i] < xs[j]\n\t})\n\treturn s\n}\nf([]int{3, 1, 2}) + f([]int{3, 1, 1})",
	"type T struct{ n int }\nfunc (t *T) close() { t.n++ }\nfunc (t T) value() {}\ntype I interface{ close() }\nfunc f(t *T, i I, g func(), k int) {\n\tfor n := range 3 {\n\t\tswitch {\n\t\tcase k == n && k == 0:\n\t\t\tdefer i.close()\n\t\tcase k == n && k == 1:\n\t\t\tdefer g()\n\t\tcase k == n && k == 2:\n\t\t\tdefer t.value()\n\t\t}\n\t\tdefer t.close()\n\t}\n}\nfunc run(k int) (v any) {\n\tdefer func() { v = recover() }()\n\tf(nil, nil, nil, k)\n\treturn nil\n}\nimport \"fmt\"\nfmt.Sprint(run(0), run(1), run(2), run(3))",
	"func f(t *struct{ n int }) {\n\tfor range 2 {\n\t\tdefer func() { t.n++ }()\n\t}\n}\nf(nil)",
	"import \"strings\"\nfunc f(n int) {\n\tfor i := range n {\n\t\tdefer strings.Repeat(\"x\", 2-i)\n\t}\n}\nf(5)",
	"import \"fmt\"\nfunc deep(n int) (r int) {\n\tdefer func() { r += n & 1 }()\n\tfor range 1 {\n\t\tif n > 0 {\n\t\t\tr = deep(n - 1)\n\t\t}\n\t}\n\treturn r\n}\ndeep(60000)",
	"import \"sync\"\nfunc f() {\n\tvar o sync.Once\n\tdefer func() { recover(); panic(\"after\") }()\n\tfor range 1 {\n\t\tdefer o.Do(func() {\n\t\t\tfor range 1 {\n\t\t\t\tdefer func() { recover() }()\n\t\t\t\tpanic(\"once\")\n\t\t\t}\n\t\t})\n\t\tpanic(\"f\")\n\t}\n}\nf()",
	"x := 0\nfunc f() int {\n\tx++\n\treturn x\n}\nxs := []int{1, 2, 3}\nfor range 5 {\n\txs[f()] = f()\n}",
}

// execute sets what executes the cells of the engines that a test starts.
func execute(t *testing.T, interpretOnly bool) {
	before := executing
	t.Cleanup(func() { executing = before })
	executing.interpretOnly, executing.eager = interpretOnly, !interpretOnly
}

// TestFaultsOfBytecode: code that bytecode executes fails as in the engine library, with
// the same message, frames and lines.
func TestFaultsOfBytecode(t *testing.T) {
	symbols.Register()
	for i, code := range faulty {
		var ends [2]string
		for k, only := range []bool{false, true} {
			execute(t, only)
			e, err := New(Config{})
			if err != nil {
				t.Fatal(err)
			}
			r := evaluate(context.Background(), e, 1, code)
			if ends[k] = fmt.Sprint(r.Values); r.Err != nil {
				ends[k] = r.Err.Error() + "\n" + strings.Join(r.Err.Traceback, "\n")
			}
			again := evaluate(context.Background(), e, 2, "20 + 22")
			if again.Err != nil || fmt.Sprint(again.Values) != "[42]" {
				t.Errorf("%d: afterwards: %v, %v", i, again.Values, again.Err)
			}
			e.Close()
		}
		if strings.HasPrefix(ends[1], "compile error") {
			t.Errorf("%s\n%s", code, ends[1])
		}
		if strings.HasPrefix(ends[1], "panic: stack overflow") { // the depths may differ
			ends[0], ends[1] = ends[0][:60], ends[1][:60]
		}
		if ends[0] != ends[1] {
			t.Errorf("%s\nbytecode: %s\nengine library: %s", code, ends[0], ends[1])
		}
	}
}

// TestRecursionOfBytecode: a recursion may be as deep as in the engine library.
func TestRecursionOfBytecode(t *testing.T) {
	for _, code := range []string{
		"func f(n int) int { if n == 0 { return 0 }; return f(n-1) + 1 }\nf(100000)",
		"func f(m map[int]int, n int) int { if n == 0 { return 0 }; return f(m, n-1) + 1 }\nf(nil, 60000)",
		"func f(x any, n int) int { if n == 0 { return 0 }; return f(x, n-1) + 1 }\nf(nil, 60000)",
	} {
		execute(t, false)
		e, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if r := evaluate(context.Background(), e, 1, code); r.Err != nil {
			t.Errorf("%s: %v", code, r.Err)
		}
		e.Close()
	}
}
