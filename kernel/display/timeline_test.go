package display

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func overlap() Timeline {
	return Timeline{
		Title: "Copy and compute", Subtitle: "two streams", Axis: "time (us)",
		Spans: []Span{
			{"stream 1", "copy in", 0, 100}, {"stream 1", "compute", 100, 250.5},
			{"stream 2", "copy in", 100, 200}, {"stream 2", "compute", 250.5, 400}, {"stream 1", "copy in", 250.5, 350},
		},
		Notes: []string{"seed 42"},
	}
}

func TestTimeline(t *testing.T) {
	data, metadata := Of(overlap())
	f, err := overlap().Figure()
	if err != nil {
		t.Fatal(err)
	}
	_, height, err := f.size(nil)
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, data, metadata, plotWidth, height)
	want := `Copy and compute
two streams
time (us)

                   start    end
────────  ───────  ─────  ─────
stream 1  copy in      0  100.0
stream 1  compute  100.0  250.5
stream 2  copy in  100.0  200.0
stream 2  compute  250.5  400.0
stream 1  copy in  250.5  350.0

seed 42`
	if got := data[textPlain]; got != want {
		t.Errorf("text:\n%s", got)
	}
	texts := svgTexts(t, data)
	for _, want := range []string{"Copy and compute", "copy in", "compute", "stream 1", "stream 2", "time (us)", "400"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no %q in the picture: %q", want, texts)
		}
	}
	long := overlap()
	long.Spans[0].Row, long.Spans[1].Kind = strings.Repeat("a long name ", 20), strings.Repeat("another ", 40)
	checkTextsInside(t, long)
}

// A timeline that cannot be drawn is an error with the reason.
func TestTimelineErrors(t *testing.T) {
	for want, spans := range map[string][]Span{
		"no spans":           nil,
		"span 0 from 2 to 1": {{"a", "b", 2, 1}},
		"span 0 from NaN":    {{"a", "b", math.NaN(), 1}},
		"to +Inf":            {{"a", "b", 0, math.Inf(1)}},
	} {
		data, _ := Of(Timeline{Spans: spans})
		if text, _ := data[textPlain].(string); !strings.Contains(text, "display: timeline: ") || !strings.Contains(text, want) {
			t.Errorf("%q, expected it to say %q", text, want)
		}
	}
	data, metadata := Of(Timeline{Spans: []Span{{"a", "b", 5, 5}}}) // of no length
	checkPicture(t, data, metadata, plotWidth, metadata[imagePNG].(map[string]any)["height"].(int))
}
