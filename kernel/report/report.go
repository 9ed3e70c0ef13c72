// Package report renders a notebook to one HTML file that needs nothing else:
// no script, font, style or picture from outside, so that it can be mailed,
// printed and opened in ten years. It executes nothing.
//
// A notebook may come from anywhere, so nothing in it is trusted: all HTML in
// cells and outputs passes an allowlist, SVG is shown only as a picture (where
// its scripts are dead), and the page forbids every request by its content
// security policy. What is lost that way: pictures that are not in the
// notebook, which become links, and anything that needs a script.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"warpbook/kernel/atomicfile"
	"warpbook/kernel/nbformat"
)

//go:embed page.html
var pageSource string

//go:embed style.css
var style string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// page is what page.html shows.
type page struct {
	Title        string
	Name         string // the notebook's file
	Style        template.CSS
	Contents     []heading // without the title
	Badges       []badge
	Cells        []cell
	Environments [][]setting
}

// cell is one cell of the page. HTML fields have been made safe.
type cell struct {
	ID      string
	Prose   template.HTML // of a markdown cell
	Code    bool          // a code cell: what follows
	Prompt  string        // "3", or blank
	Label   string
	Source  template.HTML
	Hidden  bool // the source is folded away
	Outputs []template.HTML
}

// Write renders the notebook to a file, whole or not at all.
func Write(path string, nb *nbformat.Notebook) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Render(w, nb) })
}

// Render writes the notebook as one HTML document.
func Render(w io.Writer, nb *nbformat.Notebook) error {
	p := newPage(nb)
	if err := pageTemplate.Execute(w, p); err != nil {
		return fmt.Errorf("report: render %s: %w", nb.Name, err)
	}
	return nil
}

func newPage(nb *nbformat.Notebook) page {
	p := page{Name: filepath.Base(nb.Name), Style: template.CSS(style)}
	prose := newProse(nb)
	for _, c := range nb.Cells {
		switch {
		case c.Type == nbformat.Markdown:
			p.Cells = append(p.Cells, cell{ID: c.ID, Prose: prose.cell(c)})
		case c.Type == nbformat.Code && (c.Source != "" || len(c.Outputs) > 0):
			p.Cells = append(p.Cells, codeCell(prose, c, language(nb)))
		}
	}
	p.Title, p.Contents = titleAndContents(prose.headings, p.Name)
	results := resultsOf(nb)
	p.Badges = results.badges()
	p.Environments = environments(results.records)
	return p
}

// titleAndContents takes the title from the first heading; the others are the
// contents.
func titleAndContents(headings []heading, name string) (string, []heading) {
	if len(headings) == 0 {
		return strings.TrimSuffix(name, filepath.Ext(name)), nil
	}
	return headings[0].Text, headings[1:]
}

// language returns what the notebook's cells are written in.
func language(nb *nbformat.Notebook) string {
	info, _ := nb.Metadata["language_info"].(map[string]any)
	if name, ok := info["name"].(string); ok {
		return name
	}
	spec, _ := nb.Metadata["kernelspec"].(map[string]any)
	if name, ok := spec["language"].(string); ok {
		return name
	}
	return "go"
}

func codeCell(p *prose, c *nbformat.Cell, language string) cell {
	v := cell{
		ID:     c.ID,
		Code:   true,
		Source: highlight(strings.TrimRight(c.Source, "\n"), language),
		Hidden: sourceHidden(c.Metadata),
	}
	if c.ExecutionCount != nil {
		v.Prompt = fmt.Sprint(*c.ExecutionCount)
	}
	switch {
	case c.HasTag(nbformat.TagInjectedParameters):
		v.Label = "parameters set for this run"
	case c.HasTag(nbformat.TagParameters):
		v.Label = "parameters"
	case c.HasTag(nbformat.TagSkipExecution):
		v.Label = "not executed"
	}
	for _, o := range c.Outputs {
		v.Outputs = append(v.Outputs, renderOutput(p, o, c.HasTag(nbformat.TagRaisesException)))
	}
	return v
}

func sourceHidden(metadata map[string]any) bool {
	jupyter, _ := metadata["jupyter"].(map[string]any)
	hidden, _ := jupyter["source_hidden"].(bool)
	return hidden
}
