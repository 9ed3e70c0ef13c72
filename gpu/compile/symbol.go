package compile

import (
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"warpbook/kernel/leaf/lazyregexp"
)

// Symbols of C++ carry the types of the parameters: _Z6reducePfj. The Go variable,
// faults and tables call the kernel reduce, as its source does.

var notWord = lazyregexp.New(`\W+`)

// identifier is a Go identifier for a name of C++: reduce_256 for reduce<256>.
// Underscores of the name itself stay: foo_ and foo are two kernels.
func identifier(name string) string {
	if strings.HasPrefix(name, "_Z") { // a symbol that was not demangled
		name = name[1:]
	}
	name = notWord().ReplaceAllString(strings.TrimFunc(name, punctuation), "_")
	switch {
	case strings.Trim(name, "_") == "" || name[0] >= '0' && name[0] <= '9':
		return "kernel_" + name
	case token.IsKeyword(name) || name == "init" || name == "main":
		return name + "_"
	}
	return name
}

func punctuation(r rune) bool { return r < utf8.RuneSelf && notWord().MatchString(string(r)) }

// rename gives a symbol of PTX another name, with its parameters and the
// shared variables of its body.
func rename(ptx, symbol, name string) string {
	quoted := regexp.QuoteMeta(symbol)
	encoding := strconv.Itoa(len(symbol)) + symbol // of extern "C"
	if rest, ok := strings.CutPrefix(symbol, "_Z"); ok {
		encoding = rest
	}
	ptx = regexp.MustCompile(`\b_ZZ`+regexp.QuoteMeta(encoding)+`E\d+([A-Za-z_]\w*?)\b`).ReplaceAllString(ptx, name+"_$1")
	return regexp.MustCompile(`\b`+quoted+`(_param_\d+)?\b`).ReplaceAllString(ptx, name+"$1")
}
