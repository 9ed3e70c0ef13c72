package paper

import (
	"fmt"
	"io"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// draw draws the SVG with its upper left corner at (x, y), scaled.
func (d *drawing) draw(pdf *fpdf.Fpdf, f *fonts, x, y, scale float64) {
	for _, s := range d.shapes {
		if s.alpha < 1 {
			pdf.SetAlpha(s.alpha, "Normal")
		}
		if s.text != "" {
			s.drawText(pdf, f, x, y, scale)
		} else {
			s.drawPath(pdf, x, y, scale)
		}
		if s.alpha < 1 {
			pdf.SetAlpha(1, "Normal")
		}
	}
}

func (s shape) drawText(pdf *fpdf.Fpdf, f *fonts, x, y, scale float64) {
	s.style.size *= scale
	x, y = x+s.x*scale, y+s.y*scale
	if s.angle != 0 {
		pdf.TransformBegin()
		pdf.TransformRotate(-s.angle, x, y)
		defer pdf.TransformEnd()
	}
	f.write(s.style, x-s.anchor*f.textWidth(s.style, s.text), y, s.text)
}

func (s shape) drawPath(pdf *fpdf.Fpdf, x, y, scale float64) {
	how := ""
	if s.fill != nil {
		pdf.SetFillColor(s.fill.r, s.fill.g, s.fill.b)
		how = "F"
	}
	if s.stroke != nil && s.lineWidth > 0 {
		pdf.SetDrawColor(s.stroke.r, s.stroke.g, s.stroke.b)
		pdf.SetLineWidth(s.lineWidth * scale)
		how += "D"
	}
	if how == "" {
		return
	}
	if s.evenOdd && how != "D" {
		how += "*"
	}
	if len(s.dashes) > 0 {
		dashes := make([]float64, len(s.dashes))
		for i, d := range s.dashes {
			dashes[i] = d * scale
		}
		pdf.SetDashPattern(dashes, 0)
		defer pdf.SetDashPattern(nil, 0)
	}
	for _, seg := range s.path {
		at := func(i int) (float64, float64) { return x + seg.points[i][0]*scale, y + seg.points[i][1]*scale }
		x2, y2 := at(2)
		switch seg.op {
		case 'M':
			pdf.MoveTo(x2, y2)
		case 'L':
			pdf.LineTo(x2, y2)
		case 'C':
			x0, y0 := at(0)
			x1, y1 := at(1)
			pdf.CurveBezierCubicTo(x0, y0, x1, y1, x2, y2)
		case 'Z':
			pdf.ClosePath()
		}
	}
	pdf.DrawPath(how)
}

// WriteFigure writes an SVG as a PDF of one page of its size, for a file of its own. It
// is an error if the SVG is not Drawable or has Chinese text without a font.
func WriteFigure(w io.Writer, svg string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	d, err := parseSVG([]byte(svg))
	if err != nil {
		return err
	}
	pdf := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: d.width, Ht: d.height}})
	pdf.SetCatalogSort(true)
	pdf.SetCreator("warpbook", true)
	var text strings.Builder
	for _, s := range d.shapes {
		text.WriteString(s.text)
	}
	f, err := newFonts(pdf, text.String())
	if err != nil {
		return err
	}
	pdf.AddPage()
	d.draw(pdf, f, 0, 0, 1)
	return pdf.Output(w)
}
