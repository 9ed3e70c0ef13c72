package display

import (
	"bytes"
	"compress/zlib"
	"encoding/csv"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

func TestSaveFigure(t *testing.T) {
	p := plot.New()
	p.Title.Text = "Σ of 10³ − 1"
	line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 2}})
	if err != nil {
		t.Fatal(err)
	}
	p.Add(line)
	dir := t.TempDir()
	f := NewFigure(p, 400, 300)
	files := map[string][]byte{}
	for _, extension := range []string{".png", ".svg", ".pdf", ".PDF"} {
		path := filepath.Join(dir, "figure"+extension)
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		if files[extension], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	picture, err := png.Decode(bytes.NewReader(files[".png"]))
	if err != nil || picture.Bounds().Dx() != 800 {
		t.Errorf("PNG: %v, %v, expected 800 pixels", picture.Bounds(), err)
	}
	if !bytes.Contains(files[".svg"], []byte("<svg")) {
		t.Error("SVG: no svg element")
	}
	if !bytes.HasPrefix(files[".pdf"], []byte("%PDF-")) {
		t.Error("PDF: no header")
	}
	// Letters are outlines: curves, and no text that a font would have to show.
	drawn := pdfStreams(t, files[".pdf"])
	if curves := len(regexp.MustCompile(` [cv]\n`).FindAll(drawn, -1)); curves < 50 || bytes.Contains(drawn, []byte("Tj")) {
		t.Errorf("PDF: %d curves and text %v, expected letters as outlines", curves, bytes.Contains(drawn, []byte("Tj")))
	}
}

// pdfStreams are the pages' contents.
func pdfStreams(t *testing.T, pdf []byte) (all []byte) {
	for _, part := range bytes.Split(pdf, []byte("stream\n"))[1:] {
		r, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil {
			continue // the end of one
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}

func TestSaveTable(t *testing.T) {
	table := NewTable("rung", "n", "note").Row("a|b", 25600000, "x, \"y\"\nz").Row("-", -12345, 1.5).SetTitle("title").Note("below")
	got, err := csv.NewReader(strings.NewReader(table.CSV())).ReadAll()
	want := [][]string{{"rung", "n", "note"}, {"a|b", "25600000", "x, \"y\"\nz"}, {"-", "-12345", "1.500"}}
	for i := range want {
		if err != nil || len(got) != len(want) || strings.Join(got[i], ";") != strings.Join(want[i], ";") {
			t.Fatalf("%q, %v, expected %q", got, err, want)
		}
	}
	const markdown = "title\n\n| rung | n | note |\n| --- | --- | --- |\n| a\\|b | 25 600 000 | x, \"y\"<br>z |\n| - | -12 345 | 1.500 |\n\nbelow\n"
	if got := table.Markdown(); got != markdown {
		t.Errorf("%q, expected %q", got, markdown)
	}
	dir := t.TempDir()
	for name, want := range map[string]string{"t.csv": table.CSV(), "t.md": markdown} {
		if err := table.Save(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != want || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		v          any
		name, want string
	}{
		{NewFigure(plot.New(), 0, 0), "x.jpg", `extension ".jpg", expected .png, .svg or .pdf`},
		{NewFigure(nil, 0, 0), "x.png", "no plot"},
		{NewFigure(plot.New(), 1, 1), "x.pdf", "no room for the data"},
		{LineChart{}, "x.png", ""},
		{NewTable("a"), "x.pdf", `extension ".pdf", expected .csv or .md`},
		{NewTable("a"), "none/x.csv", "none/x.csv"},
		{5, "x.csv", "int is neither a figure nor a table"},
	} {
		err := Save(test.v, filepath.Join(dir, test.name))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T to %s: %v, expected one line with %q", test.v, test.name, err, test.want)
		}
	}
	if entries, err := os.ReadDir(dir); len(entries) != 0 || err != nil {
		t.Errorf("%v, %v, expected that nothing was written", entries, err)
	}
}
