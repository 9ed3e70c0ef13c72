package server

import (
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/lazyregexp"
)

// The colours of a terminal, which front ends show in those of their theme.
const (
	boldRed = "\x1b[1;31m"
	green   = "\x1b[32m"
	plain   = "\x1b[0m"
)

// compileError is the name of the error of a cell that does not compile. Its traceback
// begins with the place.
const compileError = "compile error"

// places matches the places that begin lines of a traceback.
var places = lazyregexp.New(`(?m)^((?:subshell \d+, )?cell \d+(?:, line \d+|:\d+:\d+))`)

// carets matches the last line of a text, if it is a caret below a source line.
var carets = lazyregexp.New(`(\n\s+)(\^+)$`)

// styled gives the traceback of a cell's error the colours that other kernels use: the
// name is bold and red, places are green.
func styled(e *cellproto.Error) *cellproto.Error {
	s := &cellproto.Error{Name: e.Name, Value: e.Value}
	for i, text := range e.Traceback {
		head := ""
		if rest, named := strings.CutPrefix(text, e.Name+":"); i == 0 && (named || e.Name == compileError) {
			head = boldRed + e.Name + plain + ":"
			if text = rest; !named {
				head, text = head+" ", e.Traceback[0]
			}
		}
		text = carets().ReplaceAllString(text, "${1}"+boldRed+"${2}"+plain)
		s.Traceback = append(s.Traceback, head+places().ReplaceAllString(text, green+"${1}"+plain))
	}
	return s
}
