package corpus

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"warpbook/kernel/cells/corpus/twin"
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
// they print and show with a compiled program that does the same. Dir is an empty folder. The
// environment names the device, which is to be the emulator.
func (o Own) Compare(program, dir string) (c Compared, err error) {
	n := Notebook{Name: o.Name, Dir: o.dir, Cells: o.cells}
	twins, err := compileTwins(dir, []Notebook{n}, []Order{All2})
	if err != nil {
		return c, err
	}
	answer := twins.answer(n, All2)
	if answer.reason != "" {
		return c, fmt.Errorf("corpus: %s: %s", o.Name, answer.reason)
	}
	s, err := Start(program, o.dir, twinLimit)
	if err != nil {
		return c, err
	}
	defer s.Close()
	got, want := n.outputs(s, All2), strings.Split(answer.text, "\x02")[1:]
	c.Left = map[int]string{}
	for i := range got {
		cell := i % len(o.cells)
		if _, left := twin.WithoutMagics(o.cells[cell]); left != "" {
			c.Left[cell] = left
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
// display. The date of a table is left out, too, and its commit: a cells program that is kept
// names the one at which it was built, which has the same sources.
var (
	dated  = regexp.MustCompile(`\bdate: \S+|\bcommit [0-9a-f]{12}( with changes)?`)
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
	got, want = dated.ReplaceAllString(got, "#"), dated.ReplaceAllString(want, "#")
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
