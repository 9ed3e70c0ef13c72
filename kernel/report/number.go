package report

import (
	"cmp"
	"fmt"
	"maps"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// numbering counts the tables and figures among the outputs. The numbers run through
// the notebook; the ids, which permalinks use, are of the cell, as the names of Files.
type numbering struct {
	tables, figures         int
	cell                    string
	cellTables, cellFigures int
}

func (p *prose) startCell(id string) {
	p.numbers.cell, p.numbers.cellTables, p.numbers.cellFigures = id, 0, 0
}

// numberFigure returns the id and the caption of the next figure.
func (p *prose) numberFigure() (id, caption string) {
	n := &p.numbers
	n.figures++
	n.cellFigures++
	return p.newID(fmt.Sprintf("figure-%s-%d", safeName(n.cell), n.cellFigures)), fmt.Sprintf(p.phrases.figure, n.figures)
}

// numberTables gives each table of an output a number above it, in its title if it has
// one. Parts that continue a wide table have its number. It returns the first table.
func (p *prose) numberTables(root *html.Node) (first part) {
	var tables []*html.Node
	for n := range root.Descendants() {
		if n.DataAtom == atom.Table {
			tables = append(tables, n)
		}
	}
	var before [][]string
	for _, table := range tables {
		rows := rowsOf(table)
		if len(rows) == 0 {
			continue
		}
		if before == nil || !continues(before, rows) {
			n := &p.numbers
			n.tables++
			n.cellTables++
			t := part{p.newID(fmt.Sprintf("table-%s-%d", safeName(n.cell), n.cellTables)), fmt.Sprintf(p.phrases.table, n.tables)}
			placeNumber(table, t.id, t.name)
			first = cmp.Or(first, t)
		}
		before = rows
	}
	return first
}

// part is a numbered table or figure.
type part struct{ id, name string }

// numberOnce numbers the tables of an output, or puts a link in place of an output that has
// been shown before.
func (p *prose) numberOnce(root *html.Node) {
	key := textOf(root) // with the title and notes, which may differ
	shown, again := p.shownOnce[key]
	if !again {
		if first := p.numberTables(root); first.id != "" {
			p.shownOnce[key] = first
		}
		return
	}
	for root.FirstChild != nil {
		root.RemoveChild(root.FirstChild)
	}
	root.AppendChild(numberLink("#"+shown.id, fmt.Sprintf(p.phrases.again, shown.name)))
}

// placeNumber writes the number into the title above a table, or above the table.
func placeNumber(table *html.Node, id, caption string) {
	link := numberLink("#"+id, caption).FirstChild
	link.Parent.RemoveChild(link)
	box := table.Parent // wrapTables made it
	title := box.PrevSibling
	for title != nil && title.Type == html.TextNode {
		title = title.PrevSibling
	}
	if title == nil || title.DataAtom != atom.P || title.FirstChild == nil || title.FirstChild.DataAtom != atom.Strong {
		title = &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p", Attr: []html.Attribute{{Key: "class", Val: "number"}}}
		box.Parent.InsertBefore(title, box)
	}
	title.Attr = append(title.Attr, html.Attribute{Key: "id", Val: id})
	title.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, title.FirstChild)
	title.InsertBefore(link, title.FirstChild)
}

// picture is pictureOf for an output that may not be able to show an SVG.
func (p *prose) picture(data map[string]any) (mime, uri string) {
	if svg, ok := data["image/svg+xml"].(string); ok && p.vectors != nil && !p.vectors(svg) {
		data = maps.Clone(data)
		delete(data, "image/svg+xml")
	}
	return pictureOf(data)
}
