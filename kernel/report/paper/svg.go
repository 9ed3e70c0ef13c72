package paper

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
)

// The limits of a drawing. No plot comes near.
const (
	mostBytes  = 16 << 20
	mostShapes = 200_000
	mostNested = 64
	mostValue  = 1e6 // of a coordinate
)

// drawing is an SVG as shapes in points from its upper left corner.
type drawing struct {
	width, height float64
	shapes        []shape
}

// shape is a path, or a text.
type shape struct {
	path         []segment
	fill, stroke *rgb
	evenOdd      bool
	lineWidth    float64
	dashes       []float64
	alpha        float64
	text         string
	style        style
	x, y, angle  float64 // of the text; degrees
	anchor       float64 // the share of the text's width left of x
}

// segment is a move, line or cubic curve to its last point, or the end of a contour.
type segment struct {
	op     byte // M, L, C or Z
	points [3][2]float64
}

// matrix is a transformation: x' = a x + c y + e, y' = b x + d y + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b,
		m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d,
		m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f,
	}
}

func (m matrix) at(x, y float64) [2]float64 {
	return [2]float64{m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f}
}

func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }

// svgState is what an element inherits.
type svgState struct {
	matrix matrix
	style  map[string]string
}

// Drawable reports whether Write can draw an SVG as vectors. It can draw the paths and
// texts of this project's charts, not all of SVG.
func Drawable(svg string) bool {
	_, err := parseSVG([]byte(svg))
	return err == nil
}

func parseSVG(data []byte) (*drawing, error) {
	if len(data) > mostBytes {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(data), mostBytes)
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	p := svgParser{decoder: d, stack: []svgState{{identity, map[string]string{"fill": "#000000"}}}}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := p.start(t); err != nil {
				return nil, err
			}
		case xml.EndElement:
			p.stack = p.stack[:len(p.stack)-1]
		}
	}
	if p.drawing.width == 0 {
		return nil, errors.New("no svg element with a size")
	}
	return &p.drawing, nil
}

type svgParser struct {
	decoder *xml.Decoder
	stack   []svgState
	drawing drawing
}

func (p *svgParser) start(t xml.StartElement) error {
	if len(p.stack) > mostNested || len(p.drawing.shapes) > mostShapes {
		return errors.New("more elements than a plot has")
	}
	parent := p.stack[len(p.stack)-1]
	s := svgState{parent.matrix, maps.Clone(parent.style)}
	attributes := map[string]string{}
	for _, a := range t.Attr {
		attributes[a.Name.Local] = a.Value
		if a.Name.Local != "d" && a.Name.Local != "style" {
			s.style[a.Name.Local] = a.Value // presentation attributes
		}
	}
	for declaration := range strings.SplitSeq(attributes["style"], ";") {
		if name, value, ok := strings.Cut(declaration, ":"); ok {
			s.style[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if text := attributes["transform"]; text != "" {
		m, err := parseTransform(text)
		if err != nil {
			return err
		}
		s.matrix = s.matrix.times(m)
	}
	n := numbers{attributes: attributes, width: p.drawing.width, height: p.drawing.height}
	var err error
	var path []segment
	switch t.Name.Local {
	case "svg":
		err = p.open(attributes, &s)
	case "g", "title", "desc", "defs":
	case "path":
		path, err = parsePath(attributes["d"])
	case "rect":
		path = rectangle(n.of("x"), n.of("y"), n.of("width"), n.of("height"))
	case "line":
		path = []segment{{op: 'M', points: last(n.of("x1"), n.of("y1"))}, {op: 'L', points: last(n.of("x2"), n.of("y2"))}}
	case "circle":
		path = ellipse(n.of("cx"), n.of("cy"), n.of("r"), n.of("r"))
	case "text":
		return p.text(&s, n)
	default:
		err = fmt.Errorf("element %s is not drawn", t.Name.Local)
	}
	p.stack = append(p.stack, s)
	if err == nil {
		err = n.err
	}
	if err == nil && path != nil {
		err = p.shape(s, path)
	}
	return err
}

// open reads the size of the drawing, once.
func (p *svgParser) open(attributes map[string]string, s *svgState) error {
	if p.drawing.width != 0 {
		return errors.New("a second svg element")
	}
	box, err := floats(attributes["viewBox"])
	if err != nil || len(box) != 4 || !(box[2] > 0 && box[3] > 0) {
		return fmt.Errorf("viewBox %q, expected four numbers", attributes["viewBox"])
	}
	p.drawing.width, p.drawing.height = box[2], box[3]
	s.matrix = matrix{1, 0, 0, 1, -box[0], -box[1]}
	return nil
}

func (p *svgParser) shape(s svgState, path []segment) error {
	for i := range path {
		for j, point := range path[i].points {
			at := s.matrix.at(point[0], point[1])
			if !(math.Abs(at[0]) < mostValue && math.Abs(at[1]) < mostValue) {
				return fmt.Errorf("a point at %v, expected less than %g", at, mostValue)
			}
			path[i].points[j] = at
		}
	}
	sh := shape{path: path, alpha: 1, lineWidth: 1, evenOdd: s.style["fill-rule"] == "evenodd"}
	var err error
	if sh.fill, err = parseColor(s.style["fill"]); err != nil {
		return err
	}
	if sh.stroke, err = parseColor(s.style["stroke"]); err != nil {
		return err
	}
	for name, into := range map[string]*float64{"stroke-width": &sh.lineWidth, "opacity": &sh.alpha} {
		if text := s.style[name]; text != "" {
			if *into, err = strconv.ParseFloat(strings.TrimSuffix(text, "px"), 64); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"fill-opacity", "stroke-opacity"} {
		if text := s.style[name]; text != "" {
			share, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return err
			}
			sh.alpha *= share
		}
	}
	if text := s.style["stroke-dasharray"]; text != "" && text != "none" {
		if sh.dashes, err = floats(text); err != nil {
			return err
		}
	}
	sh.lineWidth *= s.matrix.scale()
	p.drawing.shapes = append(p.drawing.shapes, sh)
	return nil
}

// text reads a text element to its end.
func (p *svgParser) text(s *svgState, n numbers) error {
	var content struct {
		Text string `xml:",chardata"`
		Any  []struct {
			XMLName xml.Name
		} `xml:",any"`
	}
	at := xml.StartElement{Name: xml.Name{Local: "text"}}
	if err := p.decoder.DecodeElement(&content, &at); err != nil {
		return err
	}
	if len(content.Any) > 0 {
		return errors.New("elements within a text are not drawn")
	}
	size, err := strconv.ParseFloat(strings.TrimSuffix(s.style["font-size"], "px"), 64)
	fill, colorErr := parseColor(s.style["fill"])
	x, y := n.of("x"), n.of("y")
	switch {
	case err != nil || colorErr != nil || n.err != nil:
		return errors.New("a text without size, colour or place")
	case fill == nil || strings.TrimSpace(content.Text) == "":
		return nil
	}
	place := s.matrix.at(x, y)
	sh := shape{
		text:  strings.Join(strings.Fields(content.Text), " "),
		x:     place[0],
		y:     place[1],
		angle: math.Atan2(s.matrix.b, s.matrix.a) * 180 / math.Pi,
		alpha: 1,
		style: style{family: sans, size: size * s.matrix.scale(), color: *fill,
			bold: s.style["font-weight"] == "bold" || s.style["font-weight"] == "700", italic: s.style["font-style"] == "italic"},
		anchor: map[string]float64{"middle": 0.5, "end": 1}[s.style["text-anchor"]],
	}
	if strings.Contains(s.style["font-family"], "Mono") || strings.Contains(s.style["font-family"], "mono") {
		sh.style.family = mono
	}
	if !(sh.style.size > 0 && sh.style.size < 1000 && math.Abs(sh.x) < mostValue && math.Abs(sh.y) < mostValue) {
		return errors.New("a text of that size or place is not drawn")
	}
	p.drawing.shapes = append(p.drawing.shapes, sh)
	return nil
}

// numbers reads attributes that are lengths. Percentages are of the drawing.
type numbers struct {
	attributes    map[string]string
	width, height float64
	err           error
}

func (n *numbers) of(name string) float64 {
	text, ok := n.attributes[name]
	if !ok {
		return 0
	}
	share := 1.0
	if strings.HasSuffix(text, "%") {
		share = n.width / 100
		if name == "height" || strings.HasPrefix(name, "y") {
			share = n.height / 100
		}
		text = strings.TrimSuffix(text, "%")
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "px"), 64)
	if err != nil {
		n.err = err
	}
	return v * share
}
