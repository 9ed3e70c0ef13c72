// Package report renders a notebook to one self-contained HTML file: without external
// scripts, fonts, styles or pictures, so that it can be mailed, printed and opened in
// ten years. Its main function is Render, and renderPDF lays the same page out as a PDF;
// the warpbook command calls them. It executes
// nothing, and must not import cellproc or the engine.
//
// A notebook may come from any source, so its content is not trusted: all HTML in cells
// and outputs passes an allowlist, SVG is shown only as a picture (which runs no
// scripts), and the page's content security policy forbids every request. This loses
// pictures outside the notebook, which become links, and anything that needs a script.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/highlight"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report/paper"
)

//go:embed page.html
var pageSource string

//go:embed style.css
var style string

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageSource)) })

// page is the data of page.html.
type page struct {
	Title        string
	Language     string // of the prose, a tag of BCP 47
	Phrases      *phrases
	Rendered     string // the last line
	Name         string // the notebook's file
	Style        template.CSS
	Contents     []heading // without the title
	Recorded     bool      // nothing was executed for this page
	Badges       []badge
	Cells        []cell
	Environments []*environment
	Glossary     *glossary
	Lead         template.HTML // the notebook's title
	Summary      summary
}

// cell is one cell of the page. Its HTML fields are sanitised.
type cell struct {
	ID      string
	Prose   template.HTML // of a markdown cell
	Code    bool          // a code cell: the fields below apply
	Prompt  string        // "3", or blank
	Label   string
	Source  template.HTML
	Fold    string // the summary of a folded source, "" for one that is shown
	Outputs []template.HTML
}

// Origin is the source of a notebook's outputs. It decides what a page may claim about
// their verdicts. The zero Origin is a notebook read from a file, whose content may be
// forged.
type Origin struct {
	Ran      bool // this program has just executed the notebook
	Executed int  // number of executed cells
	Cells    int  // number of cells to execute
}

// Write renders the notebook and replaces the file with the result as a whole, or
// leaves it unchanged.
func Write(path string, nb *nbformat.Notebook, from Origin) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Render(w, nb, from) })
}

// Render writes the notebook as one HTML document.
func Render(w io.Writer, nb *nbformat.Notebook, from Origin) error {
	p := newPage(nb, from, nil)
	if err := pageTemplate().Execute(w, p); err != nil {
		return fmt.Errorf("report: render %s: %w", nb.Name, err)
	}
	return nil
}

// WritePDF is Write for a PDF. It returns the characters that no font of this computer
// has; Chinese ones are an error.
func WritePDF(path string, nb *nbformat.Notebook, from Origin) (missing []rune, err error) {
	err = atomicfile.Write(path, func(w io.Writer) error {
		missing, err = renderPDF(w, nb, from)
		return err
	})
	return missing, err
}

// renderPDF writes the page of Render as a PDF.
func renderPDF(w io.Writer, nb *nbformat.Notebook, from Origin) (missing []rune, err error) {
	var b strings.Builder
	if err = pageTemplate().Execute(&b, newPage(nb, from, paper.Drawable)); err == nil {
		missing, err = paper.Write(w, b.String())
	}
	if err != nil {
		return nil, fmt.Errorf("report: PDF of %s: %w", nb.Name, err)
	}
	return missing, nil
}

// newPage makes the page of a notebook. vectors reports whether an SVG can be shown;
// nil: any.
func newPage(nb *nbformat.Notebook, from Origin, vectors func(svg string) bool) page {
	p := page{Recorded: !from.Ran, Name: filepath.Base(nb.Name), Style: template.CSS(style), Language: nb.Language()}
	prose := newProse(nb)
	prose.vectors = vectors
	p.Phrases = prose.phrases
	if vectors == nil { // paper has no room for definitions
		prose.glossary = glossaryOf(nb, prose.newID, prose.inline)
	}
	results := resultsOf(nb)
	p.Environments = environments(results.records, p.Phrases)
	prose.environments = p.Environments
	p.Summary = prose.summaryOf(nb, results.records)
	p.Rendered = fmt.Sprintf(p.Phrases.Rendered, p.Name)
	for _, c := range nb.Cells {
		switch {
		case c.Type == nbformat.Markdown:
			p.Cells = append(p.Cells, cell{ID: c.ID, Prose: prose.cell(c)})
		case c.Type == nbformat.Code && (c.Source != "" || len(c.Outputs) > 0):
			p.Cells = append(p.Cells, codeCell(prose, c, language(nb)))
		}
	}
	if p.Glossary = prose.glossary; p.Glossary != nil {
		prose.headings = append(prose.headings, heading{2, p.Glossary.Section, p.Phrases.Definitions})
	}
	p.Title, p.Contents = titleAndContents(prose.headings, p.Name)
	p.Badges = results.badges(from, p.Phrases)
	p.cutTitle()
	return p
}

// cutTitle moves a title that opens the first cell above the summary.
func (p *page) cutTitle() {
	const end = "</h1>"
	if len(p.Cells) == 0 || !strings.HasPrefix(string(p.Cells[0].Prose), "<h1") {
		return
	}
	text := string(p.Cells[0].Prose)
	at := strings.Index(text, end) + len(end)
	p.Lead, p.Cells[0].Prose = template.HTML(text[:at]), template.HTML(text[at:])
}

// titleAndContents returns the first heading as the title, and the others as the
// contents.
func titleAndContents(headings []heading, name string) (string, []heading) {
	if len(headings) == 0 {
		return strings.TrimSuffix(name, filepath.Ext(name)), nil
	}
	return headings[0].Text, headings[1:]
}

// language returns the language of the notebook's cells.
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
		Source: template.HTML(highlight.HTML(strings.TrimRight(c.Source, "\n"), language, highlight.Class)),
	}
	if c.Source != "" && (sourceHidden(c) || !shown(c)) {
		v.Fold = p.phrases.folded(1 + strings.Count(strings.TrimRight(c.Source, "\n"), "\n"))
	}
	if c.ExecutionCount != nil {
		v.Prompt = fmt.Sprint(*c.ExecutionCount)
	}
	switch {
	case c.HasTag(nbformat.TagInjectedParameters):
		v.Label = p.phrases.injected
	case c.HasTag(nbformat.TagParameters):
		v.Label = p.phrases.parameters
	case c.HasTag(nbformat.TagSkipExecution):
		v.Label = p.phrases.skipped
	}
	p.startCell(c.ID)
	for _, o := range c.Outputs {
		if nbformat.IsWidget(o.Data) {
			continue // its text says how to get the widget, and a page has none
		}
		v.Outputs = append(v.Outputs, renderOutput(p, o, c.HasTag(nbformat.TagRaisesException)))
	}
	return v
}

// shown reports whether a page shows the source of a cell: parameters, kernels, and
// commands such as those of %debug, whose output answers them. Other code is folded,
// because a page is read for its results.
func shown(c *nbformat.Cell) bool {
	return c.HasTag(nbformat.TagParameters) || c.HasTag(nbformat.TagInjectedParameters) ||
		strings.HasPrefix(c.Source, "%%cuda") || strings.HasPrefix(c.Source, "%%ptx") || onlyCommands(c.Source)
}

// onlyCommands reports whether each line of a cell is a line magic.
func onlyCommands(source string) bool {
	for line := range strings.Lines(source) {
		if !strings.HasPrefix(line, "%") || strings.HasPrefix(line, "%%") {
			return false
		}
	}
	return source != ""
}

// sourceHidden reports whether the author has hidden the source of a cell.
func sourceHidden(c *nbformat.Cell) bool {
	jupyter, _ := c.Metadata["jupyter"].(map[string]any)
	hidden, _ := jupyter["source_hidden"].(bool)
	return hidden || c.HasTag(nbformat.TagHideInput)
}
