package display

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"

	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/lazyregexp"
)

// Save writes v to a file in the format of its extension: a figure or a chart as
// .png, .svg or .pdf, a table as .csv or .md. The file is written whole or not at
// all. An error names the path and, where the format does not fit, those that do.
func Save(v any, path string) error {
	extension := strings.ToLower(filepath.Ext(path))
	var data []byte
	var err error
	formats := ".csv or .md"
	switch v := v.(type) {
	case tabler:
		data, err = tableFile(v, extension)
	case *Figure:
		formats = ".png, .svg or .pdf"
		data, err = v.file(extension)
	case interface{ Figure() (*Figure, error) }:
		var f *Figure
		if f, err = v.Figure(); err == nil {
			return Save(f, path)
		}
	default:
		return fmt.Errorf("display: save %s: %T is neither a figure nor a table, expected one", path, v)
	}
	if err == nil && data == nil {
		err = fmt.Errorf("extension %q, expected %s", extension, formats)
	}
	if err == nil {
		err = atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err != nil {
		return fmt.Errorf("display: save %s: %w", path, err)
	}
	return nil
}

// Save writes the figure to a file: .png, .svg or .pdf.
func (f *Figure) Save(path string) error { return Save(f, path) }

// Save writes the table to a file: .csv or .md.
func (t *Table) Save(path string) error { return Save(t, path) }

// CSV returns the table as comma-separated values (RFC 4180) with its columns in the
// first line. Numbers have no groups of digits.
func (t *Table) CSV() string { return csvOf(t) }

// Markdown returns the table as a table of GitHub's Markdown.
func (t *Table) Markdown() string { return markdownOf(t) }

func tableFile(t tabler, extension string) ([]byte, error) {
	switch extension {
	case ".csv":
		return []byte(csvOf(t)), nil
	case ".md":
		return []byte(markdownOf(t)), nil
	}
	return nil, nil
}

// grouped is a number as groupDigits sets it.
var grouped = lazyregexp.New(`^-?\d{1,3}( \d{3})+$`)

func csvOf(t tabler) string {
	columns, rows := t.Table()
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(columns)
	for _, row := range rows {
		fields := make([]string, len(row))
		for i, text := range row {
			if grouped().MatchString(text) {
				text = strings.ReplaceAll(text, " ", "")
			}
			fields[i] = text
		}
		w.Write(fields)
	}
	w.Flush() // into memory: no error
	return b.String()
}

func markdownOf(t tabler) string {
	columns, rows := t.Table()
	var b strings.Builder
	if t, ok := t.(titler); ok && t.Title() != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Title())
	}
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\n", "<br>").Replace(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(columns)
	b.WriteString(strings.Repeat("| --- ", len(columns)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	if t, ok := t.(noter); ok && len(t.Notes()) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(t.Notes(), "\n\n"))
	}
	return b.String()
}

// file draws the figure for a file; nil for another extension.
func (f *Figure) file(extension string) (data []byte, err error) {
	if f == nil || f.Plot == nil {
		return nil, fmt.Errorf("figure: no plot")
	}
	all := seriesOf(f.Plot)
	width, height, err := f.size(all)
	if err != nil {
		return nil, err
	}
	paint := func(c draw.Canvas) error { return f.draw(c, prepare(f.Plot, all), nil) }
	switch extension {
	case ".png":
		data, _, err = renderPNG(width, height, paint)
	case ".svg":
		data, err = renderSVG(width, height, paint)
	case ".pdf":
		data, err = renderPDF(width, height, paint)
	}
	return data, err
}

// renderPDF draws one page. Text is drawn as outlines, because gonum's PDF has
// Windows-1252 only.
func renderPDF(width, height int, paint func(draw.Canvas) error) (out []byte, err error) {
	defer recoverDrawing(&err)
	c := outlined{vgpdf.New(vg.Length(width)*px, vg.Length(height)*px)}
	if _, err = paintPage(c, true, paint); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	_, err = c.WriteTo(&buf)
	return buf.Bytes(), err
}

// outlined is a PDF page that fills the outlines of letters.
type outlined struct{ *vgpdf.Canvas }

// FillString fills the outlines of s, letter by letter.
func (o outlined) FillString(face font.Face, pt vg.Point, s string) {
	var buf sfnt.Buffer
	for _, r := range s {
		glyph, err := face.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		// In units of the font's own grid, so that nothing is rounded.
		units := face.Face.UnitsPerEm()
		segments, err := face.Face.LoadGlyph(&buf, glyph, fixed.I(int(units)), nil)
		if err == nil {
			if outline := outlineOf(segments, pt, face.Font.Size/vg.Length(units)); len(outline) > 0 {
				o.Fill(outline)
			}
		}
		pt.X += face.Width(string(r))
	}
}

// outlineOf places the outline of a glyph at pt.
func outlineOf(segments sfnt.Segments, pt vg.Point, scale vg.Length) (path vg.Path) {
	at := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: pt.X + vg.Length(p.X)/64*scale, Y: pt.Y - vg.Length(p.Y)/64*scale}
	}
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(path) > 0 {
				path.Close()
			}
			path.Move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(at(s.Args[0]), at(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}
