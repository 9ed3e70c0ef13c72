package compile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/leaf/lazyregexp"
)

// complaint matches a message of NVRTC: a place, the error, the line, a caret.
var complaint = lazyregexp.New(`(?m)^([^\s(][^(\n]*)\((\d+)\): (catastrophic error|error|warning)(?: #(\d+)-\w)?: (.*)\n(?:  (.*)\n  ([ \t]*)\^)?`)

// complaints are the errors of a log, or its warnings if it has no error, each
// with a remedy.
func (s *source) complaints(name string, reply compiler.Reply) (list []Diagnostic) {
	s.unknown = unknownNames(reply.Log)
	var found []finding
	for _, m := range complaint().FindAllStringSubmatch(reply.Log, -1) {
		file, kind, message := m[1], m[3], m[5]
		if file == nameMap || (kind == "warning") == (reply.Error != "") {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		f := finding{Diagnostic: Diagnostic{Line: line, Col: len(m[7]) + 1}}
		missing := cannotOpen().FindStringSubmatch(message)
		switch {
		case file != name && kind == "warning": // of a header that is not the cell's
			continue
		case file != name:
			f.Diagnostic = s.inHeader(file, line, message, reply.Release)
		case missing != nil:
			f.Diagnostic = s.missingHeader(line, missing[1], reply.Release)
		default:
			if m[6] == "" { // NVRTC shows the place from 12.1 on
				f.Col = s.column(line, message)
			}
			f.Text, f.cause = s.explain(line, message)
		}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	for _, f := range s.causes(found) {
		list = append(list, f.Diagnostic)
	}
	return list
}

// finding is a complaint of the compiler.
type finding struct {
	Diagnostic
	cause string // an unknown name whose remedy is known: it removes other complaints; "" for others
}

// nameMap is the file in which NVRTC places errors of name expressions.
const nameMap = "__nv_name_map"

var badOption = lazyregexp.New(`(?m)^nvrtc: error: (invalid value for --(gpu-architecture|std).*)$`)

// optionError returns an error in an option, nil if the options are valid.
func optionError(log string) error {
	if m := badOption().FindStringSubmatch(log); m != nil {
		return &OptionError{strings.Replace(m[2], "gpu-architecture", "arch", 1), "the compiler has no such value"}
	}
	for _, m := range complaint().FindAllStringSubmatch(log, -1) {
		if m[1] == nameMap {
			return &OptionError{"instantiate", m[5]}
		}
	}
	return nil
}

// causes removes consequences of unknown names: other complaints about their lines, and
// about the functions whose heads have such a name.
func (s *source) causes(found []finding) []finding {
	remove := func(first, last int) {
		found = slices.DeleteFunc(found, func(f finding) bool { return f.cause == "" && first <= f.Line && f.Line <= last })
	}
	for _, f := range slices.Clone(found) {
		if f.cause == "" {
			continue
		}
		remove(f.Line, f.Line)
		for _, of := range s.functions {
			first, body, last := s.lines(of)
			if first <= f.Line && f.Line <= body || slices.Contains(word().FindAllString(s.code[of.start:of.from], -1), f.cause) {
				remove(first, last)
			}
		}
	}
	return found
}

var inQuotes = lazyregexp.New(`"(\w+)"`)

// column is the column of the last word that a message quotes, else of the beginning
// of the line.
func (s *source) column(line int, message string) int {
	text := s.textLine(line)
	quoted := inQuotes().FindAllStringSubmatch(message, -1)
	for _, m := range slices.Backward(quoted) { // the member after its namespace
		if at := regexp.MustCompile(`\b` + m[1] + `\b`).FindStringIndex(text); at != nil {
			return at[0] + 1
		}
	}
	return len(text) - len(strings.TrimLeft(text, " \t")) + 1
}
