package ptx

import (
	"strconv"
	"strings"
)

// Demangle is the name in a symbol, with its scopes and simple template
// arguments: "ns::reduce<256>". It returns an unknown symbol unchanged.
func Demangle(symbol string) string {
	rest, ok := strings.CutPrefix(symbol, "_Z")
	if !ok {
		return symbol
	}
	rest, nested := strings.CutPrefix(rest, "N")
	rest = strings.TrimPrefix(rest, "L") // of one source: static, or a constant
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

var builtinTypes = map[byte]string{'f': "float", 'd': "double", 'i': "int", 'j': "unsigned", 'c': "char", 'h': "unsigned char", 'x': "long long", 'b': "bool"}

// templateArguments reads numbers and built-in types up to the closing E.
func templateArguments(text string) (string, bool) {
	var args []string
	for !strings.HasPrefix(text, "E") {
		if text == "" {
			return "", false
		}
		arg, n := builtinTypes[text[0]], 1
		if text[0] == 'L' { // Li256E, Lin3E
			if n = strings.IndexByte(text, 'E') + 1; n < 4 {
				return "", false
			}
			arg = strings.Replace(text[2:n-1], "n", "-", 1)
			if _, err := strconv.Atoi(arg); err != nil {
				return "", false
			}
		}
		if arg == "" {
			return "", false
		}
		args, text = append(args, arg), text[n:]
	}
	return strings.Join(args, ", "), true
}
