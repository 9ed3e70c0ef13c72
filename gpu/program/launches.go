package program

import (
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

var (
	launchOpens  = lazyregexp.New(`<<[ \t]?<`)
	operator     = lazyregexp.New(`\boperator\s*$`) // that << is, before its arguments of a template
	launchCloses = lazyregexp.New(`>>[ \t]?>|;`)
)

// joined writes launches as clang reads them: nvcc also takes the << < and >> > that editors
// make of <<< and >>>. Lines and columns stay.
func joined(text string) string {
	code := blanked(text)
	out := []byte(text)
	for at := 0; ; {
		opens := launchOpens().FindStringIndex(code[at:])
		if opens == nil {
			return string(out)
		}
		before := code[:at+opens[0]]
		if operator().MatchString(before[max(0, len(before)-16):]) {
			at += opens[1]
			continue
		}
		join(out[at+opens[0]:at+opens[1]], "<<<")
		at += opens[1]
		closes := launchCloses().FindStringIndex(code[at:])
		if closes != nil && code[at+closes[0]] == '>' {
			join(out[at+closes[0]:at+closes[1]], ">>>")
			at += closes[1]
		}
	}
}

// join writes a mark over its parts, and keeps their width.
func join(over []byte, mark string) {
	for i := copy(over, mark); i < len(over); i++ {
		over[i] = ' '
	}
}

// blanked is a text with spaces in the place of comments and strings, byte for byte.
func blanked(text string) string {
	return hidden().ReplaceAllStringFunc(text, func(s string) string {
		spaces := []byte(strings.Repeat(" ", len(s)))
		for i := range spaces {
			if s[i] == '\n' {
				spaces[i] = '\n'
			}
		}
		return string(spaces)
	})
}
