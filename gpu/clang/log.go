package clang

import (
	"fmt"
	"regexp"
	"strings"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/leaf/lazyregexp"
)

// message matches the first line of a message of clang in the form of MSVC.
var message = lazyregexp.New(`^(.+?)\((\d+)(?:,(\d+))?\): (fatal error|error|warning|note): (.*)$`)

// nvrtcForm returns clang's messages in the form of NVRTC, in which package compile reads
// them: the place, the message, the line, a caret. Notes are left out.
func nvrtcForm(log string, request compiler.Request) string {
	var b strings.Builder
	lines := strings.Split(strings.ReplaceAll(request.Text, "\r\n", "\n"), "\n")
	for _, line := range strings.Split(log, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if text := wrongOption(line); text != "" {
			b.WriteString(text)
			continue
		}
		m := message().FindStringSubmatch(line)
		if m == nil || m[4] == "note" {
			continue
		}
		kind := m[4]
		if kind == "fatal error" {
			kind = "catastrophic error"
		}
		fmt.Fprintf(&b, "%s(%s): %s: %s\n", m[1], m[2], kind, reword(m[5]))
		var row, col int
		fmt.Sscan(m[2], &row) // digits
		fmt.Sscan(m[3], &col) // digits or nothing
		if m[1] == request.Name && row >= 1 && row <= len(lines) && col >= 1 {
			fmt.Fprintf(&b, "  %s\n  %s^\n", lines[row-1], strings.Repeat(" ", col-1))
		}
		b.WriteString("\n")
	}
	return b.String()
}

var (
	wrongStd  = lazyregexp.New(`error: invalid value '(.*)' in '-std=`)
	wrongArch = lazyregexp.New(`error: unsupported CUDA gpu architecture: (\S+)`)
)

// wrongOption is NVRTC's message for an option that the compiler refuses, "" if a line is none.
func wrongOption(line string) string {
	if m := wrongStd().FindStringSubmatch(line); m != nil {
		return "nvrtc: error: invalid value for --std " + m[1] + "\n"
	}
	if m := wrongArch().FindStringSubmatch(line); m != nil {
		return "nvrtc: error: invalid value for --gpu-architecture " + m[1] + "\n"
	}
	return ""
}

// A rewording gives a message of clang NVRTC's words, by which package compile finds the
// remedy.
type rewording struct {
	pattern func() *regexp.Regexp
	words   string
}

var rewordings = []rewording{
	{lazyregexp.New(`^use of undeclared identifier '([\w:]+)'.*`), `identifier "$1" is undefined`},
	{lazyregexp.New(`^unknown type name '([\w:]+)'.*`), `identifier "$1" is undefined`},
	{lazyregexp.New(`^no template named '([\w:]+)'.*`), `identifier "$1" is undefined`},
	{lazyregexp.New(`^no (?:member|type|template) named '(\w+)' in namespace '([\w:]+)'.*`), `namespace "$2" has no member "$1"`},
	{lazyregexp.New(`^'([^']+)' file not found.*`), `cannot open source file "$1"`},
	{lazyregexp.New(`^unused variable '(\w+)'.*`), `variable "$1" was declared but never referenced`},
	{lazyregexp.New(`^expected unqualified-id$`), `expected a declaration`},
	{lazyregexp.New(`^(?:a|C\+\+ requires a) type specifier (?:is required )?for all declarations$`), `this declaration has no storage class or type specifier`},
	{lazyregexp.New(`^expected ';' .*`), `expected a ";"`},
	{lazyregexp.New(`^expected '(.)'$`), `expected a "$1"`},
}

// flagOf is the flag in brackets that ends a warning.
var flagOf = lazyregexp.New(` \[-W[^\]]*\]$`)

func reword(text string) string {
	text = flagOf().ReplaceAllString(text, "")
	for _, r := range rewordings {
		if r.pattern().MatchString(text) {
			return r.pattern().ReplaceAllString(text, r.words)
		}
	}
	return text
}
