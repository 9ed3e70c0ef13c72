package report

import (
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report/paper"
)

// Table is a table among the outputs of a notebook.
type Table struct {
	Name string     // its cell's id and its number in the cell
	Rows [][]string // the first are the columns
}

// tablesOf are the tables of a cell. Parts that continue a wide table below, with the
// same row labels, are one table again.
func tablesOf(c *nbformat.Cell) (tables []Table) {
	for _, o := range c.Outputs {
		text, ok := o.Data["text/html"].(string)
		if !ok {
			continue
		}
		doc, err := html.Parse(strings.NewReader(text))
		if err != nil {
			continue
		}
		var parts [][][]string
		for n := range doc.Descendants() {
			if n.DataAtom == atom.Table {
				if rows := rowsOf(n); len(rows) > 0 {
					parts = append(parts, rows)
				}
			}
		}
		for i, rows := range parts {
			if i > 0 && continues(parts[i-1], rows) {
				last := tables[len(tables)-1].Rows
				for r := range rows {
					last[r] = append(last[r], rows[r][1:]...)
				}
				continue
			}
			tables = append(tables, Table{Name: fmt.Sprintf("%s-%d", c.ID, len(tables)+1), Rows: rows})
		}
	}
	return tables
}

// continues reports whether a table has the row labels of the one before it.
func continues(before, rows [][]string) bool {
	return slices.EqualFunc(before, rows, func(a, b []string) bool { return len(a) > 0 && len(b) > 1 && a[0] == b[0] })
}

// rowsOf are the texts of a table's cells.
func rowsOf(table *html.Node) (rows [][]string) {
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			rows = append(rows, nil)
		case atom.Td, atom.Th:
			if len(rows) > 0 {
				rows[len(rows)-1] = append(rows[len(rows)-1], textOf(n))
			}
		}
	}
	return slices.DeleteFunc(rows, func(r []string) bool { return len(r) == 0 })
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		} else if d.DataAtom == atom.Br {
			b.WriteString(" ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// numberCell is a number as tables show it, perhaps in groups of three digits, and its unit:
// "12.3", "1 000 000 us", "97.6 %", "1.53x FASTER".
var numberCell = lazyregexp.New(`^(-?\d{1,3}(?:[ \x{a0}\x{202f}]\d{3})+|-?\d+)(\.\d+)?(e[-+]?\d+)?[ \x{a0}]?([^\d\s.,:()/-][^\d]*)?$`)

// numberOf divides the text of a cell into its number, without groups of digits, and its
// unit; is reports whether it has a number.
func numberOf(text string) (number, unit string, is bool) {
	m := numberCell().FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	digits := strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, m[1])
	return digits + m[2] + m[3], strings.TrimSpace(m[4]), true
}

// hasUnits reports whether a column of texts has a number with a unit, and beside such
// numbers only numbers, words without digits and empty cells: it becomes two columns.
func hasUnits(column []string) bool {
	some := false
	for _, text := range column {
		_, unit, is := numberOf(text)
		if !is && strings.ContainsAny(text, "0123456789") {
			return false
		}
		some = some || unit != ""
	}
	return some
}

// CSV writes the table as RFC 4180 has it. Numbers have no groups of digits, and units have
// columns of their own, whose names end with "unit".
func (t Table) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	divided := make([]bool, 0)
	for i := range slices.Max(append([]int{0}, lengths(t.Rows)...)) {
		var column []string
		for _, row := range t.Rows[min(1, len(t.Rows)):] {
			if i < len(row) {
				column = append(column, row[i])
			}
		}
		divided = append(divided, hasUnits(column))
	}
	for n, row := range t.Rows {
		var fields []string
		for i, text := range row {
			number, unit, is := numberOf(text)
			switch {
			case !divided[i] && is && unit == "":
				fields = append(fields, number)
			case !divided[i]:
				fields = append(fields, text)
			case n == 0:
				fields = append(fields, text, strings.TrimSpace(text+" unit"))
			case is:
				fields = append(fields, number, unit)
			default: // a word, such as SAME
				fields = append(fields, "", strings.TrimPrefix(text, "-"))
			}
		}
		c.Write(fields)
	}
	c.Flush()
	return c.Error()
}

func lengths(rows [][]string) (all []int) {
	for _, row := range rows {
		all = append(all, len(row))
	}
	return all
}

// Markdown writes the table as GitHub's Markdown has it.
func (t Table) Markdown(w io.Writer) error {
	var b strings.Builder
	for i, row := range t.Rows {
		for _, text := range row {
			b.WriteString("| " + strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(text) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// picture is a plot among the outputs of a notebook, with its bytes by extension.
type picture struct {
	name, alt string
	formats   map[string][]byte
}

func picturesOf(c *nbformat.Cell, in *phrases) (pictures []picture) {
	for _, o := range c.Outputs {
		p := picture{name: fmt.Sprintf("%s-%d", c.ID, len(pictures)+1), formats: map[string][]byte{}}
		if text, ok := o.Data["image/svg+xml"].(string); ok {
			p.formats[".svg"] = []byte(text)
		}
		if text, ok := o.Data["image/png"].(string); ok {
			if data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err == nil {
				p.formats[".png"] = data
			}
		}
		if len(p.formats) > 0 {
			plain, _ := o.Data["text/plain"].(string)
			first, _, _ := strings.Cut(strings.TrimSpace(plain), "\n")
			p.alt = altText(first, in)
			pictures = append(pictures, p)
		}
	}
	return pictures
}

// Files are the notebook's tables as CSV and Markdown, and its plots as the notebook
// has them, SVG and PNG, and as PDF where the SVG can be drawn as vectors. A name is the
// cell's id and a number.
func Files(nb *nbformat.Notebook) (files []atomicfile.File) {
	in := phrasesIn(nb.Language())
	for _, c := range nb.Cells {
		if c.Type != nbformat.Code {
			continue
		}
		for _, t := range tablesOf(c) {
			files = append(files, atomicfile.File{Name: safeName(t.Name) + ".csv", Fill: t.CSV}, atomicfile.File{Name: safeName(t.Name) + ".md", Fill: t.Markdown})
		}
		for _, p := range picturesOf(c, in) {
			if svg := string(p.formats[".svg"]); svg != "" && paper.Drawable(svg) {
				files = append(files, atomicfile.File{Name: safeName(p.name) + ".pdf", Fill: func(w io.Writer) error { return paper.WriteFigure(w, svg) }})
			}
			for _, extension := range []string{".svg", ".png"} {
				if data := p.formats[extension]; data != nil {
					files = append(files, atomicfile.File{Name: safeName(p.name) + extension, Fill: func(w io.Writer) error { _, err := w.Write(data); return err }})
				}
			}
		}
	}
	return files
}

// safeName is a name for a file, whatever the id of a cell is.
func safeName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	return name[:min(len(name), 100)]
}

// Markdown writes the notebook as Markdown: prose, code in fences, tables, and plots
// that lie in the folder, a path relative to the file. Texts of outputs are in fences;
// nothing in them is markup.
func Markdown(w io.Writer, nb *nbformat.Notebook, folder string) error {
	var b strings.Builder
	in := phrasesIn(nb.Language())
	for _, c := range nb.Cells {
		switch {
		case c.Type == nbformat.Markdown:
			b.WriteString(strings.TrimSpace(c.Source) + "\n\n")
		case c.Type == nbformat.Code && c.Source != "":
			fence(&b, language(nb), c.Source)
			writeOutputs(&b, c, folder, in)
		}
	}
	b.WriteString("<!-- warpbook report -->\n") // by which the command knows its file
	_, err := io.WriteString(w, b.String())
	return err
}

func writeOutputs(b *strings.Builder, c *nbformat.Cell, folder string, in *phrases) {
	tables, pictures := tablesOf(c), picturesOf(c, in)
	for _, t := range tables {
		t.Markdown(b) // into memory: no error
		b.WriteString("\n")
	}
	for _, p := range pictures {
		extension := ".svg"
		if p.formats[extension] == nil {
			extension = ".png"
		}
		fmt.Fprintf(b, "![%s](%s)\n\n", strings.NewReplacer("[", "(", "]", ")").Replace(p.alt), path.Join(folder, safeName(p.name)+extension))
	}
	for _, o := range c.Outputs {
		if nbformat.IsWidget(o.Data) {
			continue
		}
		plain, _ := o.Data["text/plain"].(string)
		_, rich := o.Data["text/html"].(string)
		_, mime := pictureOf(o.Data)
		switch {
		case o.Type == nbformat.Stream:
			fence(b, "", o.Text)
		case o.Type == nbformat.Error:
			fence(b, "", o.ErrorName+": "+o.ErrorValue)
		case !(rich && len(tables) > 0) && mime == "" && plain != "":
			fence(b, "", plain)
		}
	}
}

// fence writes a text in a fence that is longer than any in the text. Control
// characters are left out.
func fence(b *strings.Builder, language, text string) {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r != 0x7f {
			return r
		}
		return -1
	}, text)
	fmt.Fprintf(b, "%s%s\n%s\n%s\n\n", marks, language, strings.TrimRight(text, "\n"), marks)
}
