// Package published holds every figure that the five founding notes print, as
// they print it: operators, notebooks and reports quote the notes from here and
// from nowhere else.
//
// The data is notes.json. A test compares it with the notes where
// WARPBOOK_NOTES names their folder. A figure is a number, words that stand in
// for one, or only an image. What this project measured is never in here.
//
// The package imports nothing of the project.
package published

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Figure is one figure of the notes, or the place of one that they do not
// print as text.
type Figure struct {
	Kernel     string `json:"kernel"`     // number of the note and the notes' own name, such as "000 reduce_v0"
	Experiment string `json:"experiment"` // such as "reduce"
	Quantity   string `json:"quantity"`   // such as "latency", "rate"

	Value     float64 `json:"value,omitempty"`
	PlusMinus float64 `json:"plus_minus,omitempty"` // as printed after the value; 0 is none
	Unit      string  `json:"unit,omitempty"`       // "ms", "GFLOP/s", "x", "cycles"; "" if no number is printed
	Words     string  `json:"words,omitempty"`      // the text in place of a number
	Image     string  `json:"image,omitempty"`      // file of an image that is not among the notes

	Size    []int  `json:"size,omitempty"`   // n, or m n k; nil if the note does not say it
	Device  string `json:"device,omitempty"` // "" for a GPU that is not named
	Note    string `json:"note"`             // number of the note, "000" to "004"
	Section string `json:"section"`          // the line of the note under which the figure stands
	Place   string `json:"place,omitempty"`  // short: the section, and how it was measured
	Comment string `json:"comment,omitempty"`

	// Quote is found in the section, in this order. SizeQuote is found in the note.
	Quote     []string `json:"quote"`
	SizeQuote string   `json:"size_quote,omitempty"`
}

// Where is the place of a figure as tables name it: the note, the section and
// the method, such as "003, without profiler".
func (f Figure) Where() string {
	switch {
	case f.Place == "":
		return f.Note
	case f.Note == "003":
		return f.Note + ", " + f.Place
	}
	return f.Note + " " + f.Place
}

// String is a figure as a table shows it.
func (f Figure) String() string {
	switch {
	case f.Unit == "x":
		return fmt.Sprintf("%vx", f.Value)
	case f.Unit != "" && f.PlusMinus != 0:
		return fmt.Sprintf("%v ± %v %s", f.Value, f.PlusMinus, f.Unit)
	case f.Unit != "":
		return fmt.Sprintf("%v %s", f.Value, f.Unit)
	case f.Words != "":
		return "in words: " + f.Words
	}
	return "only as an image"
}

//go:embed notes.json
var notes []byte

// data is notes.json.
type data struct {
	Figures []Figure `json:"figures"`

	// NotFigures are numbers with a unit that are no figures, and why.
	NotFigures []struct{ Note, Quote, Reason string } `json:"not_figures"`

	// Drawings are the images of each note that its text does not call a
	// measurement, without the ending of the file.
	Drawings map[string][]string `json:"drawings"`
}

var parsed = sync.OnceValue(func() data {
	var d data
	if err := json.Unmarshal(notes, &d); err != nil {
		panic("published: notes.json: " + err.Error()) // embedded: a test reads it
	}
	return d
})

// All returns every figure, in the order of the notes' experiments.
func All() []Figure { return slices.Clone(parsed().Figures) }

// Of returns the figures of one quantity of a kernel, such as the latencies of
// "000 reduce_v0". A pair without a figure is a mistake of the caller and
// panics.
func Of(kernel, quantity string) []Figure {
	var found []Figure
	for _, f := range parsed().Figures {
		if f.Kernel == kernel && f.Quantity == quantity {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		panic(fmt.Sprintf("published: no %s of %q, expected one of %s", quantity, kernel, strings.Join(kernels(), ", ")))
	}
	return found
}

// kernels are the names and quantities that Of knows.
func kernels() []string {
	var names []string
	for _, f := range parsed().Figures {
		if name := f.Kernel + ": " + f.Quantity; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
