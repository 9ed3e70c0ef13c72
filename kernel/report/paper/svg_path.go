package paper

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

func last(x, y float64) [3][2]float64 { return [3][2]float64{{}, {}, {x, y}} }

func rectangle(x, y, w, h float64) []segment {
	return []segment{
		{op: 'M', points: last(x, y)}, {op: 'L', points: last(x+w, y)},
		{op: 'L', points: last(x+w, y+h)}, {op: 'L', points: last(x, y+h)}, {op: 'Z'},
	}
}

func ellipse(x, y, rx, ry float64) []segment {
	const k = 0.5522847498
	return []segment{
		{op: 'M', points: last(x+rx, y)},
		{op: 'C', points: [3][2]float64{{x + rx, y + k*ry}, {x + k*rx, y + ry}, {x, y + ry}}},
		{op: 'C', points: [3][2]float64{{x - k*rx, y + ry}, {x - rx, y + k*ry}, {x - rx, y}}},
		{op: 'C', points: [3][2]float64{{x - rx, y - k*ry}, {x - k*rx, y - ry}, {x, y - ry}}},
		{op: 'C', points: [3][2]float64{{x + k*rx, y - ry}, {x + rx, y - k*ry}, {x + rx, y}}},
		{op: 'Z'},
	}
}

func parseTransform(text string) (matrix, error) {
	m := identity
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " ,\t\n") {
		name, rest, ok := strings.Cut(text, "(")
		list, after, closed := strings.Cut(rest, ")")
		v, err := floats(list)
		if !ok || !closed || err != nil {
			return m, fmt.Errorf("transform %q", text)
		}
		for len(v) < 6 {
			v = append(v, math.NaN())
		}
		var n matrix
		switch strings.TrimSpace(name) {
		case "translate":
			n = matrix{1, 0, 0, 1, v[0], v[1]}
			if math.IsNaN(v[1]) {
				n.f = 0
			}
		case "scale":
			n = matrix{v[0], 0, 0, v[1], 0, 0}
			if math.IsNaN(v[1]) {
				n.d = v[0]
			}
		case "rotate":
			sin, cos := math.Sincos(v[0] * math.Pi / 180)
			n = matrix{cos, sin, -sin, cos, 0, 0}
			if !math.IsNaN(v[1]) {
				n = matrix{1, 0, 0, 1, v[1], v[2]}.times(n).times(matrix{1, 0, 0, 1, -v[1], -v[2]})
			}
		case "matrix":
			n = matrix{v[0], v[1], v[2], v[3], v[4], v[5]}
		default:
			return m, fmt.Errorf("transform %q", name)
		}
		m, text = m.times(n), after
	}
	return m, nil
}

func floats(text string) (values []float64, err error) {
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		v, err := strconv.ParseFloat(strings.TrimSuffix(field, "px"), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("number %q", field)
		}
		values = append(values, v)
	}
	return values, nil
}

// pathNumbers is how many numbers a command of a path takes.
var pathNumbers = map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'C': 6, 'Q': 4, 'A': 7, 'Z': 0}

// parsePath reads a path with absolute commands, as charts have it.
func parsePath(d string) (path []segment, err error) {
	var x, y, startX, startY float64
	for at := 0; at < len(d); {
		op := d[at]
		if op == ' ' || op == '\n' || op == '\t' {
			at++
			continue
		}
		count, ok := pathNumbers[op]
		if !ok {
			return nil, fmt.Errorf("command %q of a path is not drawn", op)
		}
		v, end, err := pathOperands(d, at+1)
		if err != nil || count == 0 && len(v) > 0 || count > 0 && (len(v) == 0 || len(v)%count != 0) {
			return nil, fmt.Errorf("path near %.40q", d[at:])
		}
		at = end
		if op == 'Z' {
			path = append(path, segment{op: 'Z'})
			x, y = startX, startY
		}
		for ; len(v) > 0; v = v[count:] {
			var to segment
			switch op {
			case 'M':
				to = segment{op: 'M', points: last(v[0], v[1])}
				startX, startY = v[0], v[1]
				op, count = 'L', 2 // further pairs are lines
			case 'L':
				to = segment{op: 'L', points: last(v[0], v[1])}
			case 'H':
				to = segment{op: 'L', points: last(v[0], y)}
			case 'V':
				to = segment{op: 'L', points: last(x, v[0])}
			case 'C':
				to = segment{op: 'C', points: [3][2]float64{{v[0], v[1]}, {v[2], v[3]}, {v[4], v[5]}}}
			case 'Q':
				to = segment{op: 'C', points: [3][2]float64{
					{x + 2*(v[0]-x)/3, y + 2*(v[1]-y)/3}, {v[2] + 2*(v[0]-v[2])/3, v[3] + 2*(v[1]-v[3])/3}, {v[2], v[3]}}}
			case 'A':
				path = append(path, arc(x, y, v)...)
				x, y = v[5], v[6]
				continue
			}
			if len(path) == 0 && to.op != 'M' {
				return nil, errors.New("a path that starts without a move")
			}
			path = append(path, to)
			x, y = to.points[2][0], to.points[2][1]
		}
	}
	return path, nil
}

// pathOperands are the numbers of a path from at to the next command, which is at end. A
// minus sign separates numbers, except in an exponent.
func pathOperands(d string, at int) (v []float64, end int, err error) {
	end = at
	for end < len(d) && (d[end] < 'A' || d[end] > 'Z') && (d[end] < 'a' || d[end] > 'z' || d[end] == 'e') {
		end++
	}
	text := d[at:end]
	if !strings.Contains(text, "e-") {
		text = strings.ReplaceAll(text, "-", " -")
	}
	v, err = floats(text)
	return v, end, err
}

// arc returns the cubic curves of an elliptical arc from (x, y); v are the numbers of
// its command. The formulas are those of the SVG specification, appendix B.2.4.
func arc(x, y float64, v []float64) (path []segment) {
	rx, ry := math.Abs(v[0]), math.Abs(v[1])
	x2, y2 := v[5], v[6]
	if rx == 0 || ry == 0 || x == x2 && y == y2 {
		return []segment{{op: 'L', points: last(x2, y2)}}
	}
	sin, cos := math.Sincos(v[2] * math.Pi / 180)
	dx, dy := (x-x2)/2, (y-y2)/2
	x1, y1 := cos*dx+sin*dy, -sin*dx+cos*dy
	if over := x1*x1/(rx*rx) + y1*y1/(ry*ry); over > 1 {
		rx, ry = rx*math.Sqrt(over), ry*math.Sqrt(over)
	}
	below := rx*rx*y1*y1 + ry*ry*x1*x1
	k := math.Sqrt(math.Max(0, (rx*rx*ry*ry-below)/below))
	if (v[3] != 0) == (v[4] != 0) {
		k = -k
	}
	cx1, cy1 := k*rx*y1/ry, -k*ry*x1/rx
	cx, cy := cos*cx1-sin*cy1+(x+x2)/2, sin*cx1+cos*cy1+(y+y2)/2
	from := math.Atan2((y1-cy1)/ry, (x1-cx1)/rx)
	sweep := math.Atan2((-y1-cy1)/ry, (-x1-cx1)/rx) - from
	switch {
	case v[4] != 0 && sweep < 0:
		sweep += 2 * math.Pi
	case v[4] == 0 && sweep > 0:
		sweep -= 2 * math.Pi
	}
	m := matrix{cos * rx, sin * rx, -sin * ry, cos * ry, cx, cy}
	pieces := int(math.Ceil(math.Abs(sweep) / (math.Pi / 2)))
	step := sweep / float64(pieces)
	handle := 4.0 / 3 * math.Tan(step/4)
	for i := range pieces {
		s0, c0 := math.Sincos(from + float64(i)*step)
		s1, c1 := math.Sincos(from + float64(i+1)*step)
		path = append(path, segment{op: 'C', points: [3][2]float64{
			m.at(c0-handle*s0, s0+handle*c0), m.at(c1+handle*s1, s1-handle*c1), m.at(c1, s1)}})
	}
	return path
}

// parseColor reads #rgb, #rrggbb, and the names of black and white; nil for none.
func parseColor(text string) (*rgb, error) {
	switch text {
	case "", "none":
		return nil, nil
	case "black":
		return &rgb{}, nil
	case "white":
		return &rgb{255, 255, 255}, nil
	}
	hex, ok := strings.CutPrefix(text, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if !ok || len(hex) != 6 || err != nil {
		return nil, fmt.Errorf("colour %q is not drawn", text)
	}
	return &rgb{int(v >> 16), int(v >> 8 & 255), int(v & 255)}, nil
}
