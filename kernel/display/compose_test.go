package display

import (
	"encoding/json"
	"strings"
	"testing"

	"warpbook/kernel/leaf/record"
)

// TestCompose: several pieces are one page; a picture of vectors is shown where the
// notebook is not trusted, too; a record is kept, and two are refused.
func TestCompose(t *testing.T) {
	chart := LineChart{Title: "T", X: []float64{1, 2}, Series: []Series{{Name: "s", Values: []float64{3, 4}}}}
	data, metadata, err := Draw(vectors{chart})
	if err != nil || data[imagePNG] != nil || data[imageSVG] == nil {
		t.Fatalf("the picture has the types %v, %v", data, err)
	}
	picture := Piece{Data: data, Metadata: metadata}
	row := Piece{Data: map[string]any{textPlain: "row <1>", record.MIME: json.RawMessage(`{"kind":"checks"}`)}}
	const image = `<img src="data:image/svg+xml;base64,`

	one, err := compose([]Piece{picture})
	if err != nil || one.data[imageSVG] == nil || !strings.Contains(one.data[textHTML].(string), image) {
		t.Errorf("a picture alone is %v, %v", one, err)
	}
	all, err := compose([]Piece{{Text: "printed & \n"}, row, picture})
	if err != nil {
		t.Fatal(err)
	}
	if page := all.data[textHTML].(string); !strings.HasPrefix(page, "<pre>printed &amp; \n</pre><pre>row &lt;1&gt;</pre>") || !strings.Contains(page, image) || !strings.Contains(page, `width="700"`) {
		t.Errorf("the page is %.300s", page)
	}
	if text := all.data[textPlain].(string); !strings.HasPrefix(text, "printed & \nrow <1>\nT") || all.data[record.MIME] == nil {
		t.Errorf("the text is %q, of the types %v", text, all.data)
	}
	if text, _ := compose([]Piece{{Text: "printed\n"}}); len(text.data) != 1 || text.data[textPlain] != "printed" {
		t.Errorf("a text alone is %v", text)
	}
	if _, err := compose([]Piece{row, row}); err == nil || !strings.Contains(err.Error(), "2 tables with records, expected at most 1") {
		t.Errorf("two records: %v", err)
	}
}

// TestVectorsAreTheSame: a picture of vectors alone has the text and the SVG of the whole.
func TestVectorsAreTheSame(t *testing.T) {
	for _, v := range []any{
		LineChart{X: []float64{1, 2}, Series: []Series{{Name: "s", Values: []float64{3, 4}}}},
		CellChart{Columns: []string{"a"}, Rows: []string{"b"}, Text: [][]string{{"1"}}, Level: [][]int{{0}}},
		CellChart{Columns: []string{"a"}}, HTML("<b>x</b>"), "text", 5, NewLesson().Say("x"), LineChart{},
	} {
		whole, _, err := Draw(v)
		quick, _, failed := Draw(vectors{v})
		delete(whole, imagePNG)
		if (err == nil) != (failed == nil) || len(whole) != len(quick) {
			t.Errorf("%T: %v, %v, whole %v, %v", v, quick, failed, whole, err)
		}
		for key, value := range whole {
			if quick[key] != value {
				t.Errorf("%T: %s is %.100v, whole %.100v", v, key, quick[key], value)
			}
		}
	}
}
