package namespace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
)

// maxDiagnostics is the number of errors that a traceback shows.
const maxDiagnostics = 20

// CompileFailure reports every error of a cell with its source line and a caret.
func (e *Namespace) CompileFailure(diags []failure.Diagnostic) *cellproto.Error {
	slices.SortStableFunc(diags, func(a, b failure.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	diags = slices.CompactFunc(diags, func(a, b failure.Diagnostic) bool {
		return a.Cell == b.Cell && a.Line == b.Line && (a.Col == b.Col || a.Msg == b.Msg)
	})
	for i := range diags {
		diags[i] = e.clamp(diags[i])
	}
	f := &cellproto.Error{Name: failure.CompileError, Value: diags[0].String()}
	if n := len(diags) - 1; n > 0 {
		f.Value += fmt.Sprintf(" (and %d more)", n)
	}
	for i, d := range diags {
		if i == maxDiagnostics {
			f.Traceback = append(f.Traceback, fmt.Sprintf("... and %d more", len(diags)-i))
			break
		}
		f.Traceback = append(f.Traceback, d.String()+e.Quote(d))
	}
	return f
}

// clamp moves a place after the end of a cell, where the parser expected more, to the
// end.
func (e *Namespace) clamp(d failure.Diagnostic) failure.Diagnostic {
	lines := e.Lines(d.Cell)
	if n := len(lines); n > 0 && d.Line > n {
		d.Line, d.Col = n, len(lines[n-1])+1
	}
	return d
}

// Quote is the source line of a place with a caret below it.
func (e *Namespace) Quote(d failure.Diagnostic) string {
	line, ok := e.Line(d.Cell, d.Line)
	if !ok || d.Col < 1 {
		return ""
	}
	col := min(d.Col-1, len(line))
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:col])
	return "\n    " + line + "\n    " + pad + "^"
}

// Lines is the source of a cell, if it is still kept.
func (e *Namespace) Lines(cell int) []string { return e.Sources[cell] }

func (e *Namespace) Line(cell, n int) (string, bool) {
	lines := e.Lines(cell)
	if n < 1 || n > len(lines) {
		return "", false
	}
	return lines[n-1], true
}
