package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/kernel/leaf/atomicfile"
)

const (
	planFile = "sweep.json"
	most     = 10_000 // points
)

// Axis is a parameter with its values, which are Go expressions.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Plan is a notebook with the points at which it is run.
type Plan struct {
	Schema   int    `json:"schema"` // 1
	Notebook string `json:"notebook"`
	Hash     string `json:"notebook_sha256"`
	Axes     []Axis `json:"axes"`

	folder string
}

// Point is one combination of values.
type Point struct {
	Index  int
	Name   string   // of its folder
	Values []string // one an axis
}

// ParseAxis reads NAME=VALUE,VALUE,... A comma inside brackets or quotes belongs to a
// value.
func ParseAxis(text string) (Axis, error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return Axis{}, errors.New("expected NAME=VALUE, or NAME=VALUE,VALUE for several")
	}
	a := Axis{Name: name, Values: split(values)}
	for i, v := range a.Values {
		if a.Values[i] = strings.TrimSpace(v); a.Values[i] == "" {
			return Axis{}, fmt.Errorf("value %d of %s is empty, expected a Go expression", i+1, name)
		}
		if slices.Contains(a.Values[:i], a.Values[i]) {
			return Axis{}, fmt.Errorf("value %s of %s is given twice, expected once", a.Values[i], name)
		}
	}
	return a, nil
}

// split cuts at commas outside of brackets and quotes.
func split(text string) []string {
	var parts []string
	depth, start, quote := 0, 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return append(parts, text[start:])
}

// NewPlan plans a sweep into a folder. A folder that holds another sweep is refused, so
// that no report mixes two.
func NewPlan(notebook string, axes []Axis, folder string) (*Plan, error) {
	data, err := os.ReadFile(notebook)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	sum := sha256.Sum256(data)
	p := &Plan{Schema: 1, Notebook: filepath.Base(notebook), Hash: hex.EncodeToString(sum[:]), Axes: axes, folder: folder}
	count := 1
	seen := map[string]bool{}
	for _, a := range axes {
		if count *= len(a.Values); count > most {
			return nil, fmt.Errorf("sweep: more than %d points, expected fewer values", most)
		}
		if seen[a.Name] {
			return nil, fmt.Errorf("sweep: %s is set twice, expected --set %s=VALUE,VALUE once", a.Name, a.Name)
		}
		seen[a.Name] = true
	}
	old, err := os.ReadFile(filepath.Join(folder, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		for _, path := range p.results() { // of no sweep
			if _, err := os.Lstat(path); err == nil {
				return nil, fmt.Errorf("sweep: %s: no sweep has written this file, expected an empty folder, or --out another", path)
			}
		}
		return p, p.write()
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: --out: %w, expected an empty folder, or that of this sweep", err)
	}
	before := Plan{Schema: p.Schema} // plans of older versions have no member of this name
	if json.Unmarshal(old, &before) != nil || !p.equal(&before) {
		return nil, fmt.Errorf("sweep: %s holds another sweep, or one of an earlier version of the notebook: expected an empty folder, or --out another", folder)
	}
	return p, nil
}

func (p *Plan) equal(other *Plan) bool {
	a, errA := json.Marshal(p)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}

func (p *Plan) write() error {
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	err := atomicfile.Write(filepath.Join(p.folder, planFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(p)
	})
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// Points are all combinations; the last axis changes fastest.
func (p *Plan) Points() []Point {
	points := []Point{{}}
	for _, a := range p.Axes {
		var next []Point
		for _, old := range points {
			for _, v := range a.Values {
				next = append(next, Point{Values: append(old.Values[:len(old.Values):len(old.Values)], v)})
			}
		}
		points = next
	}
	for i := range points {
		points[i].Index = i
		points[i].Name = p.pointName(i, points[i])
	}
	return points
}

// pointName is a name for a folder: what is special in an expression becomes '_', and
// the number makes it unique.
func (p *Plan) pointName(i int, point Point) string {
	name := fmt.Sprintf("%04d", i)
	for k, v := range point.Values {
		name += "-" + p.Axes[k].Name + "=" + v
	}
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '=' || r == '.' || r == '+' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 100)]
}

// Folder is where the files of a point go.
func (p *Plan) Folder(point Point) string { return filepath.Join(p.folder, "points", point.Name) }

// File is the record of a point.
func (p *Plan) File(point Point) string {
	return filepath.Join(p.Folder(point), strings.TrimSuffix(p.Notebook, filepath.Ext(p.Notebook))+".json")
}

// Done reports whether a point has passed.
func (p *Plan) Done(point Point) bool {
	data, err := os.ReadFile(p.File(point))
	var run struct{ Passed bool }
	return err == nil && json.Unmarshal(data, &run) == nil && run.Passed
}

// Missing are the points without a passed run.
func (p *Plan) Missing() (points []Point) {
	for _, point := range p.Points() {
		if !p.Done(point) {
			points = append(points, point)
		}
	}
	return points
}

// Arguments are those of warpbook run for a point.
func (p *Plan) Arguments(notebook string, point Point) []string {
	args := []string{"run", notebook, "--quiet", "--out", p.Folder(point)}
	for i, v := range point.Values {
		args = append(args, "--set", p.Axes[i].Name+"="+v)
	}
	return args
}
