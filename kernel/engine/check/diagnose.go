package check

import (
	"fmt"
	"go/types"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/leaf/lazyregexp"
)

// cellNames matches the parts of a message that the engine added: the package of earlier
// cells, its second names of variables, and the call that shows the last expression.
var cellNames = lazyregexp.New(`\bmain\.|\b` + oldPrefix + `|\b` + keptPrefix + `|\b` + typePrefix + `\d+_| in argument to ` + rewrite.RuntimeName + `\.\w+`)

// cellPlace is a place in a message, in the form that directive writes.
var cellPlace = lazyregexp.New(`\bcell\d+:\d+:\d+`)

// diagnose converts the errors of the type checker to diagnostics.
func (e *Checker) diagnose(errs []types.Error) (diags []failure.Diagnostic) {
	for _, te := range errs {
		p := e.Ctx.FileSet.Position(te.Pos)
		d := failure.Diagnostic{Cell: failure.CellOf(p.Filename), Line: p.Line, Col: p.Column, Pos: te.Pos}
		msg := cellPlace().ReplaceAllStringFunc(cellNames().ReplaceAllString(e.Named(te.Msg), ""), func(place string) string {
			file, rest, _ := strings.Cut(place, ":")
			return cellproto.CellName(failure.CellOf(file)) + ":" + rest
		})
		if other, ok := strings.CutPrefix(msg, "\t"); ok && len(diags) > 0 { // the second half of a pair
			diags[len(diags)-1].Msg += fmt.Sprintf("; %s at %s:%d:%d", other, cellproto.CellName(d.Cell), d.Line, d.Col)
			continue
		}
		d.Msg = msg + e.remedy(msg, d)
		diags = append(diags, d)
	}
	return diags
}

// remedy returns the remedy for an error of the type checker, "" if the message needs
// none.
func (e *Checker) remedy(msg string, d failure.Diagnostic) string {
	line, _ := e.Line(d.Cell, d.Line)
	return e.Advice.Remedy(msg, line, e.Lines(d.Cell))
}
