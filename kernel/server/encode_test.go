package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestLargeTexts: large texts are encoded as others are.
func TestLargeTexts(t *testing.T) {
	var odd strings.Builder
	for r := range rune(0x3000) {
		odd.WriteRune(r)
	}
	text := strings.Repeat("line \"x\" <b>\t\\\n", largeBytes/10)
	data := map[string]any{
		"text/plain": text, "text/html": strings.Repeat(odd.String(), 10), "a": fmt.Sprint(place, 7), "b": text[:largeBytes-1],
		"z": "… 😀 é", "c": map[string]any{"d": []any{1.5, nil}}, "empty": "",
	}
	for _, content := range []any{
		display{Data: data, Metadata: map[string]any{"x": 1.0}, Transient: &transient{"d"}},
		executeResult{display{Data: data, Metadata: map[string]any{}}, 7},
	} {
		var got, want any
		if err := json.Unmarshal(marshal(content), &got); err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%T is encoded as another value", content)
		}
	}
	if data["text/plain"] != text {
		t.Error("the bundle has changed")
	}
	ascii := marshal(display{Data: map[string]any{"text/html": text, "text/plain": "… 😀"}})
	if strings.ContainsFunc(string(ascii), func(r rune) bool { return r > '~' }) {
		t.Error("a small text beside a large one is not in ASCII")
	}
	broken := strings.Repeat("a\xffb", largeBytes)
	if got := marshal(display{Data: map[string]any{"text/plain": broken}}); !json.Valid(got) || !strings.Contains(string(got), "a\uFFFDb") {
		t.Errorf("invalid UTF-8 is encoded as %.100s", got)
	}
}

// BenchmarkLargeDisplay: a display of 5 MB, encoded.
func BenchmarkLargeDisplay(b *testing.B) {
	d := display{Data: map[string]any{"text/html": strings.Repeat("<p>some &quot;text&quot;</p>\n", 170000)}}
	b.ReportAllocs()
	for b.Loop() {
		marshal(d)
	}
}
