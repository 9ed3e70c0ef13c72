package inspect

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// Evaluate computes an expression of C++ in the frame for the lane: names, elements,
// fields, pointers, operators, casts to basic types, and functions of numbers such as
// isnan. Whole numbers have 64 bits. Nothing is assigned or called.
func (v *View) Evaluate(text string) (x Value, err error) {
	e := &expression{view: v, text: text}
	e.scan.Init(strings.NewReader(text))
	e.scan.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanChars
	e.scan.Error = func(*scanner.Scanner, string) {}
	e.next()
	defer func() {
		if failed := recover(); failed != nil {
			wrong, is := failed.(mistake)
			if !is {
				panic(failed)
			}
			x, err = Value{}, fmt.Errorf("%s: %s", strings.TrimSpace(text), string(wrong))
		}
	}()
	x = e.choice()
	if e.token != scanner.EOF {
		e.fail("%q after the expression", e.word)
	}
	return x, nil
}

// True reports whether an expression holds for the lane.
func (v *View) True(text string) (bool, error) {
	x, err := v.Evaluate(text)
	if err != nil {
		return false, err
	}
	data, err := v.bytes(x)
	if err != nil {
		return false, fmt.Errorf("%s: %w", text, err)
	}
	n, err := toNumber(strip(x.Type), data)
	if err != nil {
		return false, fmt.Errorf("%s: it is %s, expected a number", text, x.TypeName())
	}
	return n.truth(), nil
}

// mistake ends an evaluation.
type mistake string

// mostNested bounds the depth of an expression.
const mostNested = 200

type expression struct {
	view  *View
	text  string
	scan  scanner.Scanner
	token rune
	word  string
	depth int
}

func (e *expression) fail(format string, args ...any) { panic(mistake(fmt.Sprintf(format, args...))) }

// next reads a token; two characters that make one operator are a word.
func (e *expression) next() {
	e.token = e.scan.Scan()
	e.word = e.scan.TokenText()
	for _, op := range []string{"&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "->"} {
		if e.word == op[:1] && e.scan.Peek() == rune(op[1]) {
			e.scan.Next()
			e.word = op
		}
	}
	if e.token == scanner.Int || e.token == scanner.Float { // 1.0f, 3u
		for p := e.scan.Peek(); p < 0x80 && strings.ContainsRune("fFuUlL", p) && p > 0; p = e.scan.Peek() {
			e.word += string(e.scan.Next())
		}
	}
}

func (e *expression) accept(word string) bool {
	if e.word != word || e.token == scanner.EOF {
		return false
	}
	e.next()
	return true
}

func (e *expression) expect(word string) {
	if !e.accept(word) {
		if e.token == scanner.EOF {
			e.fail("it ends, expected %s", word)
		}
		e.fail("%q, expected %s", e.word, word)
	}
}

// choice is a ? b : c.
func (e *expression) choice() Value {
	if e.depth++; e.depth > mostNested {
		e.fail("nested more than %d deep", mostNested)
	}
	defer func() { e.depth-- }()
	x := e.binary(0)
	if !e.accept("?") {
		return x
	}
	a := e.choice()
	e.expect(":")
	b := e.choice()
	if e.number(x).truth() {
		return a
	}
	return b
}

var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (e *expression) binary(level int) Value {
	if level == len(levels) {
		return e.unary()
	}
	x := e.binary(level + 1)
	for {
		op := ""
		for _, o := range levels[level] {
			if e.word == o && e.token != scanner.EOF {
				op = o
			}
		}
		if op == "" {
			return x
		}
		e.next()
		x = e.operate(op, x, func() Value { return e.binary(level + 1) })
	}
}

// operate applies an operator; the right side of && and || may name what is not there if
// the left side decides.
func (e *expression) operate(op string, x Value, right func() Value) Value {
	if op == "&&" || op == "||" {
		left := e.number(x).truth()
		if left == (op == "||") {
			e.skip(right)
			return boolean(left)
		}
		return boolean(e.number(right()).truth())
	}
	y := right()
	if p, at, ok := e.address(x); ok && (op == "+" || op == "-") {
		n := e.number(y).whole() * p.Size()
		if op == "-" {
			n = -n
		}
		return pointer(p, at+uint64(n))
	}
	n, err := combine(op, e.number(x), e.number(y))
	if err != nil {
		e.fail("%v", err)
	}
	return n.value()
}

// skip reads an operand that does not count.
func (e *expression) skip(operand func() Value) {
	start := *e
	defer func() {
		if failed := recover(); failed != nil {
			if _, is := failed.(mistake); !is {
				panic(failed)
			}
			e.depth = start.depth
			for depth := 0; e.token != scanner.EOF; e.next() { // to its end
				switch e.word {
				case "(", "[":
					depth++
				case ")", "]":
					depth--
				}
				if depth < 0 || depth == 0 && (e.word == "&&" || e.word == "||" || e.word == "?" || e.word == ":") {
					return
				}
			}
		}
	}()
	operand()
}

// address is what a pointer or an array points to.
func (e *expression) address(x Value) (to dwarf.Type, at uint64, ok bool) {
	switch t := strip(x.Type).(type) {
	case *dwarf.PtrType:
		data := e.bytes(x)
		if t.Type == nil || t.Type.Size() <= 0 {
			e.fail("a pointer to void points to no value: cast it, as in (float*)p")
		}
		return t.Type, binary.LittleEndian.Uint64(data), true
	case *dwarf.ArrayType:
		if x.Memory {
			return t.Type, x.Address, true
		}
	}
	return nil, 0, false
}

func pointer(to dwarf.Type, at uint64) Value {
	return Value{Type: pointerTo(to), Data: binary.LittleEndian.AppendUint64(nil, at)}
}

func (e *expression) unary() Value {
	if e.depth++; e.depth > mostNested {
		e.fail("nested more than %d deep", mostNested)
	}
	defer func() { e.depth-- }()
	switch {
	case e.accept("-"):
		return e.number(e.unary()).negated().value()
	case e.accept("+"):
		return e.unary()
	case e.accept("!"):
		return boolean(!e.number(e.unary()).truth())
	case e.accept("~"):
		return number{i: ^e.number(e.unary()).whole()}.value()
	case e.accept("&"):
		x := e.unary()
		if !x.Memory {
			e.fail("& of a value that has no place in memory")
		}
		return pointer(x.Type, x.Address)
	case e.accept("*"):
		x := e.unary()
		to, at, ok := e.address(x)
		if !ok {
			e.fail("* of %s, expected a pointer", x.TypeName())
		}
		return Value{Type: to, Address: at, Memory: true}
	}
	return e.postfix(e.primary())
}

func (e *expression) postfix(x Value) Value {
	for {
		switch {
		case e.accept("["):
			i := e.number(e.choice()).whole()
			e.expect("]")
			x = e.index(x, i)
		case e.accept("."):
			x = e.member(x)
		case e.accept("->"):
			to, at, ok := e.address(x)
			if !ok {
				e.fail("-> of %s, expected a pointer", x.TypeName())
			}
			x = e.member(Value{Type: to, Address: at, Memory: true})
		default:
			return x
		}
	}
}

func (e *expression) index(x Value, i int64) Value {
	switch t := strip(x.Type).(type) {
	case *dwarf.ArrayType:
		if i < 0 || t.Count > 0 && i >= t.Count {
			e.fail("index %d: the array has %d elements", i, t.Count)
		}
		return element(x, t.Type, i)
	case *dwarf.PtrType:
		to, at, _ := e.address(x)
		return Value{Type: to, Address: at + uint64(i*to.Size()), Memory: true}
	}
	e.fail("[%d] of %s, expected an array or a pointer", i, x.TypeName())
	return x
}

func (e *expression) member(x Value) Value {
	name := e.word
	e.next()
	t, ok := strip(x.Type).(*dwarf.StructType)
	if !ok {
		e.fail(".%s of %s, expected a struct", name, x.TypeName())
	}
	for _, f := range t.Field {
		if f.Name == name {
			return field(x, f)
		}
	}
	e.fail("%s has no field %s", x.TypeName(), name)
	return x
}

func (e *expression) primary() Value {
	word, token := e.word, e.token
	switch token {
	case scanner.EOF:
		e.fail("it ends, expected a value")
	case scanner.Int, scanner.Float:
		e.next()
		return e.literal(word, token == scanner.Float)
	case scanner.Char:
		e.next()
		c, _, _, err := strconv.UnquoteChar(strings.Trim(word, "'"), '\'')
		if err != nil {
			e.fail("%s: no character", word)
		}
		return integer(int64(c))
	case scanner.Ident:
		e.next()
		return e.name(word)
	}
	if !e.accept("(") {
		e.fail("%q, expected a value", word)
	}
	if t, ok := casts[e.word]; ok && e.token == scanner.Ident {
		e.next()
		stars := 0
		for ; e.accept("*"); stars++ {
			t = pointerTo(t)
		}
		e.expect(")")
		return e.cast(t, e.unary(), stars > 0)
	}
	x := e.choice()
	e.expect(")")
	return x
}

func (e *expression) cast(t dwarf.Type, x Value, toPointer bool) Value {
	if toPointer {
		return Value{Type: t, Data: binary.LittleEndian.AppendUint64(nil, uint64(e.number(x).whole()))}
	}
	return e.number(x).as(t)
}

func (e *expression) literal(word string, float bool) Value {
	digits := strings.ToLower(word)
	if !strings.HasPrefix(digits, "0x") {
		digits = strings.TrimRight(digits, "f")
	}
	digits = strings.TrimRight(digits, "ul")
	if !float {
		if n, err := strconv.ParseUint(digits, 0, 64); err == nil {
			return number{i: int64(n)}.value()
		}
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		e.fail("%s: no number", word)
	}
	return number{float: true, f: f, single: strings.HasSuffix(strings.ToLower(word), "f")}.value()
}

func (e *expression) name(name string) Value {
	switch name {
	case "true", "false":
		return boolean(name == "true")
	case "nullptr", "NULL":
		return integer(0)
	}
	if f, ok := functions[name]; ok && e.accept("(") {
		var args []number
		for !e.accept(")") {
			if len(args) > 0 {
				e.expect(",")
			}
			args = append(args, e.number(e.choice()))
		}
		if len(args) != f.args {
			e.fail("%s takes %d arguments, not %d", name, f.args, len(args))
		}
		return f.of(args).value()
	}
	x, ok := e.view.lookup(name)
	if !ok {
		if e.word == "(" {
			e.fail("%s is not called here: expected a function of numbers such as isnan", name)
		}
		e.fail("no variable %s is in scope, expected one of %s", name, strings.Join(e.view.Names(), ", "))
	}
	return x
}

func (e *expression) bytes(x Value) []byte {
	data, err := e.view.bytes(x)
	if err != nil {
		e.fail("%v", err)
	}
	return data
}

// number is the value as a number; a pointer is its address.
func (e *expression) number(x Value) number {
	if !isScalar(x.Type) {
		if _, at, ok := e.address(x); ok {
			return number{i: int64(at)}
		}
		e.fail("%s is no number", x.TypeName())
	}
	n, err := toNumber(strip(x.Type), e.bytes(x))
	if err != nil {
		e.fail("%v", err)
	}
	return n
}
