package main

import (
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

// at splits code at the mark of the cursor, and counts code points.
func at(code string) (string, int) {
	before, after, ok := strings.Cut(code, "¦")
	if !ok {
		panic("no cursor in " + code)
	}
	return before + after, len([]rune(before))
}

func session(t *testing.T) *client {
	c := start(t)
	c.value(`import ("fmt"; "strings"; "gonum.org/v1/plot")
type Point struct{ X, Y int; hidden string }
func (p *Point) Move(dx, dy int) { p.X += dx; p.Y += dy }
type Named struct { Point; Name string }
// distance is how far.
func distance(a, b Point) float64 { return 0 }
// Documented has a comment
// of two lines.
func documented(w float64) float64 { return w }
pts := []Point{{X: 1}}
named := &Named{}
sb := strings.Builder{}
pl := plot.New()
_ = fmt.Sprint`)
	return c
}

// Signatures have the names of parameters, also for compiled code.
var signatures = map[string]string{
	"ReplaceAll": "func(s, old, new string) string", "WriteString": "func(s string) (int, error)",
	"Move": "func(dx int, dy int)", "distance": "func(a Point, b Point) float64",
}

func TestComplete(t *testing.T) {
	c := session(t)
	for _, x := range []struct{ code, want, not string }{
		{"na¦", "named:variable Named:type", "pts"},
		{"dis¦tance", "distance:function", ""},
		{"pl.Ti¦", "Title:field", "type"},
		{"pl.T¦\n", "Title:field TextHandler:field", "type true"},
		{"x := pl.T¦; y := 2", "Title:field", "type true"},
		{"named.¦", "X:field Y:field hidden:field Name:field Point:field Move:method", "named fmt"},
		{"pts[0].¦", "X:field Move:method", "Name"},
		{"named.Na¦", "Name:field", "Move"},
		{"strings.Repl¦", "Replace:function ReplaceAll:function Replacer:type", "Repeat"},
		{"fmt.Println(strings.ToU¦", "ToUpper:function", "ToLower"},
		{"fmt.Println(pl.Ti¦)", "Title:field", ""},
		{"later := bytes.NewBuffer(nil)\nlater.WriteB¦", "WriteByte:method", ""},
		{"bytes.NewBuff¦", "NewBuffer:function", ""},
		{"sb.Wri¦", "WriteString:method Write:method", "String"},
		{"local := 5\nfor i := range lo¦ {\n}", "local:variable", ""},
		{"local := pts\nif true {\n inner := local[0]\n inner.M¦\n}", "Move:method", ""},
		{"func f(arg Point) {\n arg.¦\n}", "X:field Move:method", ""},
		{"func f(argument Point) {\n arg¦\n}", "argument:variable", ""},
		{"fmt.Println(\"é😀\", na¦", "named:variable", ""},
		{"import \"gonum.org/v1/plot/v¦\"", "gonum.org/v1/plot/vg:package gonum.org/v1/plot/vg/draw:package", "fmt"},
		{"import (\n\"fmt\"\n\"encoding/j¦", "encoding/json:package", ""},
		{"ra¦", "range:keyword", ""},
		{"x := undefinedthing.¦", "", "named"},
		{"named.¦\nx := )", "X:field", ""},
		{"bytes.Cont¦", "Contains:function ContainsAny:function", "Count"},
		{"rand.Int¦", "Intn:function IntN:function", "named"},
		{"Point{¦", "X:field Y:field hidden:field named:variable", "Move"},
		{"p := []Point{{X¦: 1}}", "X:field", "Name"},
		{"Point{X: na¦}", "named:variable", "X"},
		{"import \"warpbook/gpu\"\ngpu.Dim{¦}", "X:field Y:field Z:field", "Move"},
		{"%ti¦", "%time:magic %timeit:magic %%time:magic", "%who named"},
		{"x := 1\n%ba¦", "%%bash:magic", ""},
		{"%time na¦", "named:variable", "%who"},
		{"%timeit -n 5 named.Na¦", "Name:field", ""},
		{"%%time\nx := 1\nnamed.Mo¦ve", "Move:method", ""},
		{"x := 8\n%who\nnamed.Mo¦", "Move:method", ""},
		{"%timeit -¦", "--n:option --r:option", "named"},
		{"%%cuda --ar¦", "--arch:option", "--std named"},
		{"%%cuda ¦\n__global__ void k() {}", "--arch:option --fast-math:option", "named k"},
		{"%%cuda\n__global__ void k(float* y) { __sync¦ }", "__syncthreads:function __syncwarp:function", "named k"},
		{"%%cuda\n__global__ void k(float* y) { y[threadIdx.¦] = 1; }", "x:field y:field z:field", "threadIdx __syncthreads"},
		{"%%cuda\n__device__ float twice(float v) { return 2 * v; }\n__global__ void k(float* y) {\n  float total = tw¦", "twice:function", "total"},
		{"%%cuda\n#define TILE 16\n__global__ void k(float* y) { float total = 0; y[0] = to¦; }", "total:variable", "named TILE"},
		{"%%cuda\n#define TILE 16\n__global__ void k(float* y) { __shared__ float s[TI¦", "TILE:variable", "named"},
		{"%%ptx\n.version 7.8\nld.global.v¦", "v2:keyword v4:keyword volatile:keyword", "named"},
		{"%%ptx\n.reg .b32 %total;\nmov.u32 %to¦, %tid.x;", "total:variable", "named"},
		{"%%ptx\nmov.u32 %r1, %ctaid.¦;", "x:field y:field z:field", "global"},
		{"%%cuda\n__global__ void k(float* y) { s.threadIdx.¦ }", "", "x"},
		{"¦", "named:variable func:keyword append:function fmt:package", ""},
		{"defer named.¦", "X:field Move:method", "fmt named"},
		{"go fmt.Printl¦", "Println:function", "named"},
		{"defer named.Mo¦(1, 2)", "Move:method", "named"},
		{"Point.¦", "", "X Move"},
		{"(*Point).¦", "Move:method", "X"},
		{"outer: for { for { break ¦ } }", "outer:label", "named for"},
		{"outer: for { inner: switch { default: continue ¦ } }", "outer:label", "inner"},
		{"outer: for { inner: switch { default: break ¦ } }", "outer:label inner:label", ""},
		{"outer: for { func() { for { break ¦ } }() }", "", "outer named"},
		{"func f() {\n\tif true { goto en¦ }\nend:\n}", "end:label", "named"},
	} {
		code, cursor := at(x.code)
		e := c.wait(c.send(cellproto.Request{Type: cellproto.Complete, Code: code, Cursor: cursor}))
		var got []string
		for _, m := range e.Matches {
			got = append(got, m.Text+":"+m.Kind)
		}
		for _, want := range strings.Fields(x.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%q: no %s in %v", x.code, want, got)
			}
		}
		for _, not := range strings.Fields(x.not) {
			if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, not+":") }) {
				t.Errorf("%q: %s in %v", x.code, not, got)
			}
		}
		for _, m := range e.Matches {
			if want := signatures[m.Text]; want != "" && m.Type != want {
				t.Errorf("%q: %s is %s, want %s", x.code, m.Text, m.Type, want)
			}
		}
		runes := []rune(code)
		if e.Start > e.End || e.End > len(runes) || e.Start > cursor || e.End < cursor {
			t.Errorf("%q: replaces %d to %d with the cursor at %d", x.code, e.Start, e.End, cursor)
		}
	}
}

// TestCompleteTexts: in a string, the names of the catalogue that fit the call, and no
// name of Go.
func TestCompleteTexts(t *testing.T) {
	c := session(t)
	c.value(`import ("warpbook/ops"; "warpbook/gpu/device")
dev := device.MustOpen("emu")
scan := ops.MustBench(dev, ops.Scan, 1, 100)
_ = dev
func first(o *ops.Operator, prefix string) string {
	for _, v := range o.Variants {
		if len(v.Name) >= len(prefix) && v.Name[:len(prefix)] == prefix {
			return v.Name
		}
	}
	panic("no rung " + prefix)
}`)
	rungs := strings.NewReplacer( // the names of rungs belong to the catalogue
		"$V0", c.value(`first(ops.Reduce, "reduce_v0")`), "$V3", c.value(`first(ops.Reduce, "reduce_v3")`),
		"$CHAINED", c.value(`first(ops.Scan, "scan_ch")`), "$GEMM", c.value(`first(ops.Gemm, "gemm_")`))
	for _, x := range []struct{ code, want, not string }{
		{"ops.Reduce.Code(\"¦", "$V0 $V3", "$GEMM"},
		{"ops.Reduce.Code(\"reduce_v3¦", "$V3", "$V0"},
		{"ops.Reduce.Diff(\"$V3\", \"redu¦\")", "$V0", "$GEMM"},
		{"x := ops.Reduce.With(ops.Rung{Like: \"reduce_v3¦\"})\nx.Name", "$V3", ""},
		{"scan.Compare(\"¦\")", "$CHAINED", "$V3"},
		{"func f() { scan.Compare(\"scan_ch¦", "$CHAINED", "$V3"},
		{"ops.Find(\"re¦\")", "reduce", "$V3"},
		{"names := []string{\"reduce_v3¦\"}", "$V3", ""},
		{"ops.Reduce.Code(`reduce_v3¦", "$V3", ""},
		{"println(\"¦\")", "", "$V3 named"},
		{"println(\"na¦\")", "", "named"},
		{"println(\"reduce\", na¦)", "named", ""},
		{"// ops.Reduce.Code(\"reduce_v3¦", "", "$V3"},
		{"%%bash\necho \"reduce_v3¦", "", "$V3"},
	} {
		x.code, x.want, x.not = rungs.Replace(x.code), rungs.Replace(x.want), rungs.Replace(x.not)
		code, cursor := at(x.code)
		e := c.wait(c.send(cellproto.Request{Type: cellproto.Complete, Code: code, Cursor: cursor}))
		got := map[string]bool{}
		for _, m := range e.Matches {
			got[m.Text] = true
			if typed := string([]rune(code)[e.Start:cursor]); !strings.HasPrefix(strings.ToLower(m.Text), typed) {
				t.Errorf("%q: %s does not begin with %q", x.code, m.Text, typed)
			}
		}
		for _, want := range strings.Fields(x.want) {
			if !got[want] {
				t.Errorf("%q: no %s in %v", x.code, want, got)
			}
		}
		for _, not := range strings.Fields(x.not) {
			if got[not] {
				t.Errorf("%q: %s in %v", x.code, not, got)
			}
		}
	}
}

func TestInspect(t *testing.T) {
	c := session(t)
	for _, x := range []struct{ code, want string }{
		{"nam¦ed", "var named *Named"},
		{"distance¦(", "func distance(a, b Point) float64 { return 0 }"},
		{"strings.To¦Upper", "func ToUpper(s string) string\n\nToUpper returns s with all Unicode letters"},
		{"sb.WriteSt¦ring", "func (b *Builder) WriteString(s string) (int, error)"},
		{"import \"net/http\"\nhttp.Client{}.Time¦out", "Client.Timeout time.Duration"},
		{"pts¦", "var pts []Point = [{X: 1, Y: 0, hidden: \"\"}]"},
		{"import \"warpbook/ops\"\nops.Red¦uce", "y[0] = x[0] + ... + x[n-1]"},
		{"plot.N¦ew()", "New returns a new plot with some reasonable default settings."},
		{"pl.Ad¦d()", "func (p *Plot) Add(ps ...Plotter)"},
		{"pl.Tit¦le", "Plot.Title"},
		{"named.Mo¦ve", "func (p *Point) Move(dx, dy int)"},
		{"pl¦ot.New()", "package plot"},
		{"app¦end", "builtin append\n\nfunc append(slice []T, elems ...T) []T"},
		{"for¦ i := range 3 {}", "for init; condition; post"},
		{"time.Sec¦ond", "const time.Second time.Duration = 1000000000"},
		{"import \"warpbook/ops\"\nops.Ru¦ng{}", "type Rung = ladder.Rung\n\ntype Rung struct"},
		{"documented¦(1)", "func documented(w float64) float64 { return w }\n\nDocumented has a comment\nof two lines."},
		{"Poi¦nt{}", "type Point struct{ X, Y int; hidden string }"},
		{"loc := 1.5\nlo¦c", "var loc float64"},
		{"fmt.Println(¦", "func Println(a ...any) (n int, err error)"},
		{"fmt.Println(\"a\", ¦)", "func Println(a ...any) (n int, err error)"},
		{"fmt.Println(pl¦)", "var pl *plot.Plot"},
		{"bytes.Cont¦ains", "import \"bytes\"\n\nfunc Contains(b, subslice []byte) bool\n\nContains reports"},
		{"bytes.Contains(¦", "import \"bytes\"\n\nfunc Contains(b, subslice []byte) bool\n\nContains reports"},
		{"bytes.Nothing¦", ""},
		{"Point{¦", "type Point struct{ X, Y int; hidden string }"},
		{"import \"warpbook/gpu\"\ngpu.Dim{¦}", "type Dim struct"},
		{"distance(Point{¦}, pts[0])", "type Point struct{ X, Y int; hidden string }"},
		{"%ti¦meit x", "Run Go code many times"},
		{"%%ba¦sh\necho", "bash script"},
		{"%tim¦", ""},
		{"%time nam¦ed", "var named *Named"},
		{"%%cuda --ar¦ch sm_80\nx", "--arch SM\n\nlowest compute capability"},
		{"%%cuda\n__global__ void k(int* y) { y[0] = __po¦pc(7); }", "int __popc(unsigned x)\n\nThe number of bits that are 1."},
		{"%%cuda\n__global__ void k(int* y) { atomicAdd(y, ¦", "float atomicAdd(float* address, float value)"},
		{"%%cuda\n__device__ float twice(float v) { return 2 * v; }\n__global__ void k(float* y) { y[0] = twi¦ce(1); }", "__device__ float twice(float v)"},
		{"%%cuda\n__global__ void k(float* y) { y[0] = __half2flo¦at(y); }", "It needs #include <cuda_fp16.h>."},
		{"%%cuda\n__global__ void k(float* y) { noth¦ing; }", ""},
		{"😀", ""},
		{"nothing¦", ""},
	} {
		got := c.inspect(x.code)
		if !strings.Contains(got, x.want) || (x.want == "") != (got == "") {
			t.Errorf("%q: %q, want %q", x.code, got, x.want)
		}
	}
}

// inspect is the answer for the name at the mark of the cursor, "" if there is none.
func (c *client) inspect(code string) string {
	c.t.Helper()
	cursor := 0
	if strings.Contains(code, "¦") {
		code, cursor = at(code)
	}
	e := c.wait(c.send(cellproto.Request{Type: cellproto.Inspect, Code: code, Cursor: cursor}))
	text, _ := e.Data["text/plain"].(string)
	return text
}

// TestInspectMembers: fields and methods of interfaces have the comments of their
// declarations, also through aliases, embedding and literals; constants have values; packages
// are described where their names or paths stand.
func TestInspectMembers(t *testing.T) {
	c := start(t)
	c.value(`import ("fmt"; "net/http")
// Shape has an area.
type Shape interface {
	// Area in square metres.
	Area() float64
	fmt.Stringer
}
type Rect struct {
	// W is the width,
	// in metres.
	W float64
	H float64 ` + "`json:\"h\"`" + ` // H is the height.
	plain int
}
func (r Rect) Area() float64 { return r.W * r.H }
type Alias = Rect
type Outer struct { *Rect; n int }
type Tree[T any] struct {
	// Left is less.
	Left *Tree[T]
}
type Colour int
// The colours.
const (
	Red Colour = iota // like a rose
	Green
)
const Big = 1 << 40
var s Shape
a, o, tree, area := Alias{}, Outer{}, &Tree[int]{}, Rect.Area`)
	for _, x := range []struct{ code, want string }{
		{"a.W¦", "field W float64\n\nW is the width,\nin metres."},
		{"a.plain¦", "field plain int"},
		{"o.H¦", "field H float64 `json:\"h\"`\n\nH is the height."},
		{"Rect{W¦: 1}", "field W float64\n\nW is the width,\nin metres."},
		{"map[string]Rect{\"a\": {H¦: 1}}", "field H float64 `json:\"h\"`\n\nH is the height."},
		{"tree.Left.Left¦", "field Left *Tree[int]\n\nLeft is less."},
		{"s.Area¦()", "func (Shape).Area() float64\n\nArea in square metres."},
		{"s.String¦", "func (fmt.Stringer).String() string"},
		{"Green¦", "const Green Colour = 1\n\nconst (\n\tRed Colour = iota // like a rose\n\tGreen\n)\n\nThe colours."},
		{"Big¦", "const Big untyped int = 1099511627776\n\nconst Big = 1 << 40"},
		{"const local = 5\nlocal¦", "const local untyped int = 5"},
		{"area¦", "var area func(Rect) float64"},
		{"var st struct { Q int `a:\"b\"` }\nst.Q¦", "field Q int `a:\"b\"`"},
		{"http.Server{Addr¦: \"x\"}", "Server.Addr string\n\nAddr optionally specifies"},
		{"var r http.Request\nr.URL.Host¦", "URL.Host string\n\n\"host\" or \"host:port\""},
		{"bufio¦", "import \"bufio\"\n\npackage bufio // import bufio\n\nPackage bufio implements"},
		{"bufio¦.NewReader(nil)", "import \"bufio\"\n\npackage bufio // import bufio\n\nPackage bufio implements"},
		{"fmt¦.Println()", "package fmt // import fmt"},
		{"import \"encoding/json¦\"", "package json // import encoding/json\n\nPackage json implements"},
		{"const ( x = iota¦ )", "const iota\n\nthe number of the line"},
		{"var e error¦", "type error interface{ Error() string }"},
		{"nil¦", "nil\n\nthe zero value"},
	} {
		if got := c.inspect(x.code); !strings.HasPrefix(got, x.want) || strings.HasSuffix(got, "\n") {
			t.Errorf("%q: %q, want %q", x.code, got, x.want)
		}
	}
}

// Detail 1 gives the source, of a cell's declaration and of a library.
func TestInspectSource(t *testing.T) {
	c := start(t)
	c.value("import \"strings\"\n// twice doubles.\nfunc twice(x int) int { return 2 * x }")
	for _, test := range []struct {
		code   string
		detail int
		source string
		shown  bool
	}{{"twice", 0, "return 2 * x", true}, {"twice", 1, "return 2 * x", true}, {"strings.Contains", 0, "return Index(s, substr) >= 0", false}, {"strings.Contains", 1, "return Index(s, substr) >= 0", true}, {"strings", 1, "package strings", true}} {
		e := c.wait(c.send(cellproto.Request{Type: cellproto.Inspect, Code: test.code, Cursor: len(test.code), Detail: test.detail}))
		if text, _ := e.Data["text/plain"].(string); strings.Contains(text, test.source) != test.shown {
			t.Errorf("%s, detail %d: %q", test.code, test.detail, text)
		}
	}
}
