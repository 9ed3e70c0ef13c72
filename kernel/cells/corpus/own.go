package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"warpbook/kernel/nbformat"
)

// Own are the cells of a notebook of this repository, whose folder is their working directory.
type Own struct {
	OwnNotebook
	dir   string
	cells []string
}

// ReadOwn reads a notebook of a folder.
func ReadOwn(dir string, n OwnNotebook) (o Own, err error) {
	nb, err := nbformat.Read(filepath.Join(dir, n.Name+".ipynb"))
	if err != nil {
		return o, err
	}
	var set []nbformat.Parameter
	for _, p := range n.Parameters {
		key, value, _ := strings.Cut(p, "=")
		set = append(set, nbformat.Parameter{Name: key, Value: value})
	}
	if err := nb.SetParameters(set); err != nil {
		return o, err
	}
	o.OwnNotebook, o.dir = n, dir
	for _, c := range nb.Cells {
		if c.Type == nbformat.Code {
			o.cells = append(o.cells, c.Source)
		}
	}
	return o, nil
}

// races reports whether a cell prints numbers of a race.
func (o Own) races(cell string) bool {
	return slices.ContainsFunc(o.Races, func(text string) bool { return strings.Contains(cell, text) })
}

// Compared tells what of two runs of a notebook was compared with compiled Go.
type Compared struct {
	Cells        int            // that both have run, twice
	Lines        int            // that are equal
	WithoutTimes int            // further lines, of outputs with times, whose words are equal
	Left         map[int]string // cells that the compiled program lacks, by number, with the reasons
	Differences  []string
}

// Compare runs all cells of a notebook, and then all again, in a session, and compares what
// they print and show with a compiled program that does the same. Root is the folder of this
// module, and dir an empty one. The environment names the device, which is to be the emulator.
func (o Own) Compare(program, root, dir string) (c Compared, err error) {
	twin := readOwn(o.cells)
	want, err := twin.run(o, root, dir)
	if err != nil {
		return c, err
	}
	got, err := o.inSession(program, twin)
	if err != nil {
		return c, err
	}
	if len(want) != len(got) {
		return c, fmt.Errorf("corpus: %s: the compiled program ran %d cells, the session %d", o.Name, len(want), len(got))
	}
	c.Left = map[int]string{}
	for i := range got {
		cell := i % len(o.cells)
		if twin.cells[cell].left != "" {
			c.Left[cell] = twin.cells[cell].left
			continue
		}
		c.Cells++
		if difference := c.compare(got[i], want[i], o.races(o.cells[cell])); difference != "" {
			c.Differences = append(c.Differences, fmt.Sprintf("cell %d, run %d:\n%.500s\n%s", cell, i/len(o.cells)+1, o.cells[cell], difference))
		}
	}
	return c, nil
}

// Times are left out. The rule: of an output that names a unit of time or of a rate, or a
// race, of which the emulator's workers see one byte or another first, only the words are
// compared, without numbers and without their order, because the width of a number decides
// where the words of a head break. An output is what is printed between two displays, or a
// display. The date of a table is left out, too.
var (
	dated  = regexp.MustCompile(`\bdate: \S+`)
	timed  = regexp.MustCompile(`\b(ns|us|ms|s|[GTM]?(B|FLOPS?|FLOP|op)/s)\b|race: `)
	number = regexp.MustCompile(`[-+]?\d[\d.,]*(e[-+]?\d+)?((n|u|µ|m)?s\b|x\b)?|[─–-]+`)
)

// words are those of an output with times.
func words(output string) []string {
	list := strings.Fields(number.ReplaceAllString(output, " "))
	slices.Sort(list)
	return list
}

// compare compares what a cell printed with what the compiled program did.
func (c *Compared) compare(got, want string, races bool) (difference string) {
	got, want = dated.ReplaceAllString(got, "date: #"), dated.ReplaceAllString(want, "date: #")
	outputs, expected := strings.Split(got, "\x01"), strings.Split(want, "\x01")
	if len(outputs) != len(expected) {
		return fmt.Sprintf("--- %d outputs\n%.2000s\n--- compiled Go has %d\n%.2000s", len(outputs), got, len(expected), want)
	}
	for i, w := range expected {
		lines := strings.Count(strings.TrimSuffix(w, "\n"), "\n") + 1
		if w == "" {
			lines = 0
		}
		switch g := outputs[i]; {
		case g == w:
			c.Lines += lines
		case (races || timed.MatchString(w)) && slices.Equal(words(g), words(w)):
			c.WithoutTimes += lines
		default:
			return fmt.Sprintf("---\n%.2000s\n--- compiled Go\n%.2000s", g, w)
		}
	}
	return ""
}

// inSession is what each cell prints and shows in a session, without those that the compiled
// program lacks.
func (o Own) inSession(program string, twin *ownTwin) (outputs []string, err error) {
	s, err := Start(program, o.dir, twinLimit)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for range 2 {
		for i, code := range o.cells {
			if twin.cells[i].left != "" {
				outputs = append(outputs, "")
				continue
			}
			a := s.Run(code)
			if a.Failure != "" {
				a.Shown += "\x03"
			}
			outputs = append(outputs, a.Shown)
		}
	}
	return outputs, nil
}

// run is what the program prints for each cell.
func (t *ownTwin) run(o Own, root, dir string) (outputs []string, err error) {
	binary, err := t.build(o, root, dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), twinLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, binary, fmt.Sprint(len(o.cells)))
	c.Dir, c.Stdout, c.Stderr, c.Env = o.dir, &stdout, &stderr, append(os.Environ(), timeZone)
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("corpus: compiled program of %s: %w: %.1000s", o.Name, err, stderr.String())
	}
	return strings.Split(stdout.String(), "\x02")[1:], nil
}

// build builds the program as a package of this module, whose files lie in dir.
func (t *ownTwin) build(o Own, root, dir string) (binary string, err error) {
	imports, err := exported(root, t.paths())
	if err != nil {
		return "", err
	}
	shown, err := t.check(imports)
	if err != nil {
		return "", err
	}
	source, overlay := filepath.Join(dir, o.Name+".go"), filepath.Join(dir, o.Name+".json")
	if err := os.WriteFile(source, []byte(t.text(shown)), 0o666); err != nil {
		return "", err
	}
	const place = "kernel/cells/corpus/own" // no such folder
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, place, "main.go"): source}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replace, 0o666); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, o.Name)
	c := exec.Command("go", "build", "-overlay", overlay, "-ldflags=-s -w", "-o", binary, "./"+place)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("corpus: compiled program of %s: %w\n%.2000s", o.Name, err, out)
	}
	return binary, nil
}

// exported is an importer of packages that the go command has compiled.
func exported(root string, paths []string) (types.Importer, error) {
	c := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)...)
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("corpus: go list: %w", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }), nil
}
