package failure

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"

	"warpbook/kernel/cellproto"
)

// Diagnostic is one error of the parser or the type checker.
type Diagnostic struct {
	Cell, Line, Col int // from 1; columns count bytes
	Pos             token.Pos
	Msg             string
}

func (d Diagnostic) String() string {
	if d.Line == 0 {
		return d.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", cellproto.CellName(d.Cell), d.Line, d.Col, d.Msg)
}

// Directive makes the text after it report its place in the cell.
func Directive(cell, line, col int) string {
	return fmt.Sprintf("/*line cell%d:%d:%d*/", cell, line, col)
}

// CellOf is the cell's number in a file name made by Directive, or 0.
func CellOf(file string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(file, "cell"))
	return n
}
