//go:build !windows

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"

	"warpbook/gpu"
	"warpbook/gpu/explain"
	"warpbook/gpu/program"
	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
)

// cudaRun is a run of a program with what is shown of it afterwards.
type cudaRun struct {
	program *program.Program
	set     program.Settings
	report  string // file of the page, "" for none

	kernels  program.Kernels
	out, err transcript
}

// transcript keeps the beginning of an output for the page.
type transcript struct {
	mu   sync.Mutex
	kept bytes.Buffer // guarded by mu
	lost int          // guarded by mu
}

// mostTranscript bounds what a page shows of an output.
const mostTranscript = 64 << 10

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(p), mostTranscript-t.kept.Len())
	t.kept.Write(p[:n])
	t.lost += len(p) - n
	return len(p), nil
}

func (t *transcript) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost > 0 {
		return fmt.Sprintf("%s\n(%d further bytes)\n", t.kept.String(), t.lost)
	}
	return t.kept.String()
}

// run runs the program, prints the counts and writes the page.
func (c *cudaRun) run(ctx context.Context, counts bool) error {
	io1 := program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: true}
	if counts || c.report != "" {
		c.set.Kernels, c.set.Profiles = &c.kernels, c.report != ""
	}
	if c.report != "" {
		io1.Out, io1.Err = io.MultiWriter(os.Stdout, &c.out), io.MultiWriter(os.Stderr, &c.err)
	}
	failed := c.program.Run(ctx, c.set, io1)
	if exit := (*program.ExitError)(nil); failed != nil && !errors.As(failed, &exit) {
		return failed
	}
	if counts {
		fmt.Fprintln(os.Stderr, textOf(c.kernels))
	}
	if c.report != "" {
		if err := c.write(failed); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "report:", c.report)
	}
	return failed
}

// write writes the page: the sources, the output, the counts, and the costs of the first
// launch of each kernel by line.
func (c *cudaRun) write(failed error) error {
	nb := &nbformat.Notebook{Name: filepath.Base(c.program.Sources[0].Name), Minor: 5}
	count := 1
	var last *nbformat.Cell
	for i, s := range c.program.Sources {
		last = &nbformat.Cell{Type: "code", ID: fmt.Sprintf("source%d", i), Source: "%%cuda " + filepath.Base(s.Name) + "\n" + s.Text, ExecutionCount: &count}
		nb.Cells = append(nb.Cells, last)
	}
	stream := func(name, text string) {
		if text != "" {
			last.Outputs = append(last.Outputs, &nbformat.Output{Type: nbformat.Stream, Name: name, Text: text})
		}
	}
	show := func(t table) {
		last.Outputs = append(last.Outputs, &nbformat.Output{Type: nbformat.Display, Data: map[string]any{"text/plain": textOf(t), "text/html": htmlOf(t)}})
	}
	stream("stdout", c.out.text())
	stream("stderr", c.err.text())
	if failed != nil {
		stream("stderr", failed.Error()+"\n")
	}
	if len(c.kernels) > 0 {
		show(c.kernels)
	}
	var sources []explain.Source
	for _, s := range c.program.Sources {
		sources = append(sources, explain.Source{Name: filepath.Base(s.Name), Text: s.Text}) // as the PTX names it
	}
	for _, k := range c.kernels {
		show(explain.Profiles([]gpu.Profile{k.Profile}, sources...))
	}
	return report.Write(c.report, nb, report.Origin{Ran: true, Executed: len(nb.Cells), Cells: len(nb.Cells)})
}

// table is what the page shows as a table. Package display, which cells have for it, links
// gonum's plots, and this command does not.
type table interface {
	Title() string
	Table() (columns []string, rows [][]string)
	Notes() []string
}

func textOf(t table) string {
	var b strings.Builder
	b.WriteString(t.Title() + "\n\n")
	columns, rows := t.Table()
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{columns}, rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush() // a strings.Builder does not fail
	for _, note := range t.Notes() {
		b.WriteString("\n" + note + "\n")
	}
	return b.String()
}

func htmlOf(t table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<p><strong>%s</strong></p>\n<table>\n", html.EscapeString(t.Title()))
	columns, rows := t.Table()
	for i, row := range append([][]string{columns}, rows...) {
		element := "td"
		if i == 0 {
			element = "th"
		}
		b.WriteString("<tr>")
		for _, cell := range row {
			fmt.Fprintf(&b, "<%s>%s</%s>", element, html.EscapeString(cell), element)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
	for _, note := range t.Notes() {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(note))
	}
	return b.String()
}
