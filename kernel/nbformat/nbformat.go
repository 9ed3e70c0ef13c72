// Package nbformat reads, checks and writes Jupyter notebooks (.ipynb, format 4.5), and
// applies an execution to one: outputs, updates of displays, parameters. Its main type
// is Notebook; the warpbook command and package report use it. A notebook that Jupyter
// wrote is written back byte for byte, including members that this package does not
// know.
//
// It runs nothing, renders nothing (package report does), and must not import the
// packages that do. It converts no other major format. Notebooks of format 4.0 to 4.4
// become 4.5 when they are read.
//
// A Notebook and all that it holds belong to one goroutine at a time.
package nbformat

import "strings"

// Format and Minor are the version that this package writes.
const (
	Format = 4
	Minor  = 5
)

// The types of a Cell.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// The types of an Output.
const (
	Stream  = "stream"
	Display = "display_data"
	Result  = "execute_result"
	Error   = "error"
)

// Tags of cells with a meaning for an execution.
const (
	TagParameters         = "parameters"          // declares what SetParameters may set
	TagInjectedParameters = "injected-parameters" // SetParameters wrote the cell
	TagRaisesException    = "raises-exception"    // must fail, and does not end the run
	TagSkipExecution      = "skip-execution"      // is not executed and stays as it is
	TagHideInput          = "hide-input"          // its source is folded, beside metadata.jupyter.source_hidden
	TagMainPlot           = "main-plot"           // a report opens with the first plot of the cell
	TagMainPlotEmulated   = "main-plot-emulated"  // the same where no time is a GPU's
)

// Notebook is one notebook. Values in its maps have the types of encoding/json, with
// json.Number for numbers, so that none is rounded.
type Notebook struct {
	Name     string // the file that it was read from, for errors; not written
	Minor    int    // at least 5: a later minor version is kept
	Metadata map[string]any
	Cells    []*Cell
	Extra    map[string]any // members that the format does not have
}

// Cell is one cell. Outputs and ExecutionCount are only for code cells.
type Cell struct {
	Type           string
	ID             string
	Metadata       map[string]any
	Source         string
	Attachments    map[string]map[string]any // file name to MIME bundle; nil: no such member
	ExecutionCount *int                      // nil: not executed
	Outputs        []*Output
	Extra          map[string]any

	clearNext bool // clear the outputs before the next one is added
}

// Output is one output of a code cell. Which fields count depends on Type.
type Output struct {
	Type string

	// Stream
	Name string // "stdout" or "stderr"
	Text string

	// Display and Result: a MIME bundle. The value of a JSON type is any JSON,
	// of every other type a string.
	Data           map[string]any
	Metadata       map[string]any
	ExecutionCount *int // Result

	// Error
	ErrorName  string
	ErrorValue string
	Traceback  []string

	Extra map[string]any

	displayID string           // UpdateDisplay looks for it
	growing   *strings.Builder // holds Text while AddStream appends to it
}

// HasTag reports whether the cell's metadata has the tag.
func (c *Cell) HasTag(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	for _, t := range tags {
		if t == tag {
			return true
		}
	}
	return false
}

// isJSON reports whether a MIME type holds a JSON value rather than text.
func isJSON(mime string) bool {
	return mime == "application/json" ||
		strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}
