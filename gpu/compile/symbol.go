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

// demangle is the name in a symbol, with its scopes and simple template
// arguments: "ns::reduce<256>". It returns an unknown symbol unchanged.
func demangle(symbol string) string {
	rest, ok := strings.CutPrefix(symbol, "_Z")
	if !ok {
		return symbol
	}
	rest, nested := strings.CutPrefix(rest, "N")
	var parts []string
	for rest != "" && rest[0] >= '1' && rest[0] <= '9' {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || digits+n > len(rest) {
			return symbol
		}
		parts = append(parts, rest[digits:digits+n])
		if rest = rest[digits+n:]; !nested {
			break
		}
	}
	if len(parts) == 0 {
		return symbol
	}
	name := strings.Join(parts, "::")
	if !strings.HasPrefix(rest, "I") {
		return name
	}
	args, ok := templateArguments(rest[1:])
	if !ok {
		return symbol
	}
	return name + "<" + args + ">"
}

var templateArgument = lazyregexp.New(`^(?:L[a-z](n?\d+)E|([a-z]))`)

var builtinTypes = map[string]string{"f": "float", "d": "double", "i": "int", "j": "unsigned", "c": "char", "h": "unsigned char", "x": "long long", "b": "bool"}

// templateArguments reads numbers and built-in types up to the closing E.
func templateArguments(text string) (string, bool) {
	var args []string
	for !strings.HasPrefix(text, "E") {
		m := templateArgument().FindStringSubmatch(text)
		switch {
		case m == nil || m[1] == "" && builtinTypes[m[2]] == "":
			return "", false
		case m[1] != "":
			args = append(args, strings.Replace(m[1], "n", "-", 1))
		default:
			args = append(args, builtinTypes[m[2]])
		}
		text = text[len(m[0]):]
	}
	return strings.Join(args, ", "), true
}

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
