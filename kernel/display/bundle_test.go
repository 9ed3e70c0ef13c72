package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/leaf/record"
)

type point struct {
	X, Y float64
	name string
}

type node struct {
	Value int
	Next  *node
}

type loud struct{}

func (loud) String() string { panic("no words") }

type quiet struct{ n int }

func (q *quiet) String() string { return fmt.Sprint(q.n) } // panics for nil

// holder has all in fields that are not exported.
type holder struct {
	q    *quiet
	a    any
	list []fmt.Stringer
	//lint:ignore U1000 printed through reflection: a struct with exported fields
	n node
}

type report struct{ record any }

func (report) Table() ([]string, [][]string) {
	return []string{"variant", "us"}, [][]string{{"reduce_v0", "279"}}
}
func (report) Title() string   { return "Reduce" }
func (report) Notes() []string { return []string{"seed 7"} }
func (r report) Record() any   { return r.record }
func (report) String() string  { return "not this" }

type custom map[string]any

func (c custom) MIMEBundle() (data, metadata map[string]any) {
	return c, map[string]any{"k": 1}
}

// source has a form as Go source.
type source struct{ n int }

func (s source) GoString() string { return fmt.Sprintf("display.newSource(%d)", s.n) }

func textOf(t *testing.T, v any) string {
	t.Helper()
	data, _ := Of(v)
	s, ok := data[textPlain].(string)
	if !ok {
		t.Fatalf("Of(%T) has no text/plain: %v", v, data)
	}
	if _, err := json.Marshal(data); err != nil {
		t.Fatalf("Of(%T) cannot be encoded: %v", v, err)
	}
	return s
}

func TestTextOfValues(t *testing.T) {
	ring := &node{Value: 1}
	ring.Next = ring
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "<nil>"},
		{42, "42"},
		{1.5, "1.5"},
		{math.NaN(), "NaN"},
		{true, "true"},
		{"two\nlines", "two\nlines"},
		{'x', "120"},
		{3 * time.Second, "3s"},
		{errors.New("reduce: wrong"), "reduce: wrong"},
		{Text("<as it is>"), "<as it is>"},
		{HTML("<p>a &lt; <b>b</b></p><p>c</p>"), "a < b\nc"},
		{Markdown("# T"), "# T"},
		{[]int{1, 2, 3}, "[]int{1, 2, 3}"},
		{[]int(nil), "([]int)(nil)"},
		{[]string{"a b", "c"}, `[]string{"a b", "c"}`},
		{[2]bool{true, false}, "[2]bool{true, false}"},
		{map[int]string{10: "b", 9: "a"}, `map[int]string{9: "a", 10: "b"}`},
		{map[float64]string{math.NaN(): "n", math.Inf(1): "i", 2: "b"}, `map[float64]string{NaN: "n", 2: "b", +Inf: "i"}`},
		{map[[2]int]bool{{10, 1}: true, {9, 2}: false, {9, 1}: true}, `map[[2]int]bool{[2]int{9, 1}: true, [2]int{9, 2}: false, [2]int{10, 1}: true}`},
		{map[struct{ n int }]int{{10}: 1, {9}: 2}, `map[struct { n int }]int{struct { n int }{n: 9}: 2, struct { n int }{n: 10}: 1}`},
		{map[any]int{"a": 1, nil: 2, 10: 3, 9: 4, true: 5}, `map[interface {}]int{nil: 2, true: 5, 9: 4, 10: 3, "a": 1}`},
		{source{2}, "display.newSource(2)"},
		{[]source{{3}}, "[]display.source{display.newSource(3)}"},
		{point{1, 2.5, "p"}, `display.point{X: 1, Y: 2.5, name: "p"}`},
		{&point{X: 1}, `&display.point{X: 1, Y: 0, name: ""}`},
		{(*point)(nil), "(*display.point)(nil)"},
		{ring, "&display.node{Value: 1, Next: (cycle)}"},
		{[]time.Duration{time.Second}, "[]time.Duration{1s}"},
		{[]any{1, nil, "s"}, `[]interface {}{1, nil, "s"}`},
		{(*quiet)(nil), "(*display.quiet)(nil)"},
		{loud{}, "display: display.loud: panic: no words"},
		{[]loud{{}}, "[]display.loud{display: display.loud: panic: no words}"},
		{strings.Repeat, "func(string, int) string"},
		{[]byte("AB"), "[]byte, 2 bytes\n00000000  41 42                                             |AB|"},
		{holder{q: &quiet{7}, a: &quiet{8}, list: []fmt.Stringer{&quiet{9}}}, "display.holder{\n    q: 7,\n    a: 8,\n    list: []fmt.Stringer{9},\n    n: display.node{Value: 0, Next: nil},\n}"},
		{&holder{q: nil, a: 5}, "&display.holder{q: nil, a: 5, list: nil, n: display.node{Value: 0, Next: nil}}"},
	} {
		if got := textOf(t, c.v); got != c.want {
			t.Errorf("text of %T:\ngot  %q\nwant %q", c.v, got, c.want)
		}
	}
}

func TestLongValuesAreBounded(t *testing.T) {
	wide := make(map[string][]string)
	for i := range 1000 {
		wide[fmt.Sprint(i)] = []string{strings.Repeat("x", 1000), strings.Repeat("y", 1000)}
	}
	deep := &node{}
	for range 100_000 {
		deep = &node{Next: deep}
	}
	var nested any = 1
	for range 1000 {
		nested = []any{nested, nested, nested}
	}
	floats := make([]float32, 25_600_000)
	floats[0], floats[len(floats)-1] = 1, 9
	cases := map[string]any{
		"floats": floats, "map": wide, "list": deep, "nested": nested,
		"string": strings.Repeat("é", 1<<20), "bytes": make([]byte, 1<<20),
		"matrix": make([][100]float64, 1000),
	}
	for name, v := range cases {
		if n := len(textOf(t, v)); n > maxText+1000 {
			t.Errorf("%s: %d bytes of text", name, n)
		}
	}
	got := textOf(t, floats)
	for _, want := range []string{"[]float32{1,", "…", "9}", "(25600000 elements)"} {
		if !strings.Contains(got, want) {
			t.Errorf("text of a long slice lacks %q:\n%s", want, got)
		}
	}
	if len(got) > 300 {
		t.Errorf("text of a long slice has %d bytes:\n%s", len(got), got)
	}
}

func TestTableBundle(t *testing.T) {
	data, _ := Of(report{map[string]any{"kind": "figures"}})
	if got := data[textPlain].(string); got != "Reduce\n\nvariant     us\n─────────  ───\nreduce_v0  279\n\nseed 7" {
		t.Errorf("text:\n%s", got)
	}
	if got := fmt.Sprintf("%s", data[record.MIME]); got != `{"kind":"figures"}` {
		t.Errorf("record: %s", got)
	}
	if !strings.Contains(data[textHTML].(string), "<td") {
		t.Errorf("html: %s", data[textHTML])
	}
}

// A record that JSON does not have must be missed aloud, not lost with the
// whole event.
func TestRecordThatCannotBeEncoded(t *testing.T) {
	data, _ := Of(report{map[string]any{"x": math.NaN()}})
	if _, ok := data[record.MIME]; ok || !strings.Contains(data[textPlain].(string), "record of display.report left out: json: unsupported value: NaN") {
		t.Errorf("got %v", data)
	}
}

func TestMIMEBundle(t *testing.T) {
	data, metadata := Of(custom{textPlain: "t", "x/y": 3})
	if data["x/y"] != 3 || metadata["k"] != 1 {
		t.Errorf("got %v %v", data, metadata)
	}
	if got := textOf(t, custom{textPlain: "t", "x/y": make(chan int)}); !strings.Contains(got, "cannot be encoded") {
		t.Errorf("got %q", got)
	}
}

func TestImageBundle(t *testing.T) {
	data, metadata := Of(image.NewGray(image.Rect(0, 0, 30, 20)))
	img := decodePNG(t, data)
	if img.Bounds().Dx() != 30 || img.Bounds().Dy() != 20 {
		t.Errorf("size %v", img.Bounds())
	}
	if got := fmt.Sprint(metadata); got != "map[image/png:map[height:20 width:30]]" {
		t.Errorf("metadata %s", got)
	}
	for _, empty := range []image.Image{(*image.Gray)(nil), image.NewGray(image.Rectangle{})} {
		textOf(t, empty)
	}
}

func decodePNG(t *testing.T, data map[string]any) image.Image {
	t.Helper()
	encoded, ok := data[imagePNG].(string)
	if !ok {
		t.Fatalf("no PNG in %v", data)
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// The text beside a large HTML display is made of its beginning, and says so.
func TestTextOfLargeHTML(t *testing.T) {
	page := "<p>first</p>" + strings.Repeat("<b>x</b> ", maxStripped)
	data, _ := Of(HTML(page))
	text := data["text/plain"].(string)
	if !strings.HasPrefix(text, "first\n") || !strings.HasSuffix(text, fmt.Sprintf("(%d bytes of HTML, the first %d read)", len(page), maxStripped)) {
		t.Errorf("%d bytes: %.40q ... %q", len(text), text, text[len(text)-60:])
	}
	if data["text/html"] != page {
		t.Error("the HTML was changed")
	}
}
