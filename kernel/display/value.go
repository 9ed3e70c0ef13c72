package display

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the text of a plain value, so that no cell writes megabytes into a
// notebook.
const (
	maxText   = 64 << 10 // bytes of a string, or of a whole value
	maxList   = 40       // elements shown of a slice or map, whole
	headList  = 12       // when there are more: the first
	tailList  = 4        // and the last
	maxQuoted = 200      // bytes of a string inside a composite value
	maxHex    = 256      // bytes of a []byte
	maxDepth  = 6
	lineWidth = 80
)

// goText writes a value without methods of its own: numbers and strings as
// Print does, composite values much as in Go source, on one line if it fits.
func goText(v any) string {
	switch v := v.(type) {
	case nil:
		return "<nil>"
	case string:
		return cut(v, maxText)
	case []byte:
		return bytesText(v)
	}
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.String {
		return cut(r.String(), maxText)
	}
	if r.Kind() == reflect.Struct { // an addressable copy, for opaque
		c := reflect.New(r.Type()).Elem()
		c.Set(r)
		r = c
	}
	p := valuePrinter{left: maxText}
	return p.value(r, 0)
}

// bytesText is a hex dump of the head of b.
func bytesText(b []byte) string {
	shown := b[:min(len(b), maxHex)]
	s := fmt.Sprintf("[]byte, %d bytes\n%s", len(b), hex.Dump(shown))
	if len(b) > maxHex {
		return s + "…"
	}
	return strings.TrimSuffix(s, "\n")
}

// opaque returns v without the restriction on unexported fields, if v points to a
// struct with only unexported fields and a String method: a device, a buffer.
func opaque(v reflect.Value) reflect.Value {
	if v.CanInterface() || !v.CanAddr() {
		return v
	}
	at := v
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Pointer || v.IsNil() || !v.Type().Implements(reflect.TypeFor[fmt.Stringer]()) {
		return at
	}
	t := v.Type().Elem()
	if t.Kind() != reflect.Struct {
		return at
	}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return at
		}
	}
	return reflect.NewAt(at.Type(), at.Addr().UnsafePointer()).Elem()
}

// valuePrinter writes one value. It calls the String, Error and GoString methods of inner values
// only where package fmt would, and where opaque allows it. It may call methods and walk
// maps, because the goroutine of the cell runs it; package brief, which writes a value in
// a line while cells change it, may do neither.
type valuePrinter struct {
	left int       // bytes that may still be written
	path []uintptr // pointers that lead here, against cycles
}

func (p *valuePrinter) value(v reflect.Value, depth int) string {
	if !v.IsValid() {
		return "nil"
	}
	if p.left <= 0 || depth > maxDepth {
		return "…"
	}
	if v = opaque(v); depth > 0 && v.CanInterface() {
		if s, ok := methodText(v); ok {
			return p.spend(s)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return p.spend(nilText(v, depth))
		}
		return p.reference(v, depth)
	case reflect.Interface:
		return p.value(v.Elem(), depth+1)
	case reflect.Array:
		return p.list(v, depth)
	case reflect.Struct:
		return p.fields(v, depth)
	}
	return p.spend(scalarText(v, depth))
}

func (p *valuePrinter) spend(s string) string {
	p.left -= len(s)
	return s
}

// reference writes the target of a pointer, map or slice, once on a path.
func (p *valuePrinter) reference(v reflect.Value, depth int) string {
	at := v.Pointer()
	for _, seen := range p.path {
		if v.Kind() != reflect.Slice && seen == at {
			return p.spend("(cycle)")
		}
	}
	p.path = append(p.path, at)
	defer func() { p.path = p.path[:len(p.path)-1] }()
	switch v.Kind() {
	case reflect.Pointer:
		return "&" + p.value(v.Elem(), depth+1)
	case reflect.Map:
		return p.entries(v, depth)
	}
	return p.list(v, depth)
}

func (p *valuePrinter) list(v reflect.Value, depth int) string {
	n := v.Len()
	head, tail := n, 0
	if n > maxList {
		head, tail = headList, tailList
	}
	var items []string
	for i := range head {
		items = append(items, p.value(v.Index(i), depth+1))
	}
	if head < n {
		items = append(items, "…")
	}
	for i := n - tail; i < n; i++ {
		items = append(items, p.value(v.Index(i), depth+1))
	}
	s := layout(v.Type().String(), items)
	if head < n && v.Kind() == reflect.Slice {
		s += p.spend(fmt.Sprintf(" (%d elements)", n))
	}
	return s
}

func (p *valuePrinter) entries(v reflect.Value, depth int) string {
	type entry struct{ key, value reflect.Value }
	var entries []entry
	for r := v.MapRange(); r.Next(); { // a key that is NaN is not found by MapIndex
		entries = append(entries, entry{r.Key(), r.Value()})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return compareKeys(a.key, b.key) })
	n := len(entries)
	if n > maxList {
		entries = entries[:headList]
	}
	var items []string
	for _, e := range entries {
		items = append(items, p.value(e.key, depth+1)+": "+p.value(e.value, depth+1))
	}
	if len(entries) < n {
		items = append(items, "…")
	}
	s := layout(v.Type().String(), items)
	if len(entries) < n {
		s += p.spend(fmt.Sprintf(" (%d entries)", n))
	}
	return s
}

func (p *valuePrinter) fields(v reflect.Value, depth int) string {
	t := v.Type()
	var items []string
	for i := range t.NumField() {
		items = append(items, t.Field(i).Name+": "+p.value(v.Field(i), depth+1))
	}
	return layout(t.String(), items)
}

// layout writes items in braces after a type: on one line if they fit, else
// as many on a line as fit, else one on a line.
func layout(typ string, items []string) string {
	one := typ + "{" + strings.Join(items, ", ") + "}"
	if utf8.RuneCountInString(one) <= lineWidth && !strings.Contains(one, "\n") {
		return one
	}
	short := true
	for _, item := range items {
		short = short && len(item) <= lineWidth/4 && !strings.Contains(item, ": ")
	}
	var b strings.Builder
	column := lineWidth
	b.WriteString(typ + "{")
	for _, item := range items {
		width := utf8.RuneCountInString(item) + 2
		if !short || column+width > lineWidth {
			b.WriteString("\n    ")
			column = 4
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ReplaceAll(item, "\n", "\n    ") + ",")
		column += width
	}
	return b.String() + "\n}"
}

// methodText is the text of an inner value with a String, Error or GoString method.
func methodText(v reflect.Value) (s string, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			s, ok = panicText(v.Interface(), r), true
		}
	}()
	switch m := v.Interface().(type) {
	case fmt.Formatter:
		return cut(fmt.Sprint(m), maxQuoted), true
	case error:
		return cut(m.Error(), maxQuoted), true
	case fmt.Stringer:
		return cut(m.String(), maxQuoted), true
	case fmt.GoStringer:
		return cut(m.GoString(), maxQuoted), true
	}
	return "", false
}

func nilText(v reflect.Value, depth int) string {
	if depth > 0 {
		return "nil"
	}
	return fmt.Sprintf("(%s)(nil)", v.Type())
}

func scalarText(v reflect.Value, depth int) string {
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		if len(s) > maxQuoted {
			return fmt.Sprintf("%q… (%d bytes)", strings.ToValidUTF8(s[:maxQuoted], ""), len(s))
		}
		return strconv.Quote(s)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if depth > 0 && v.IsNil() {
			return "nil"
		}
		return v.Type().String()
	}
	return fmt.Sprint(v) // fmt prints the value that v holds
}

// compareKeys orders keys of a map as package fmt does, but keys of several types by the
// text of their types, so that a cell that runs again shows the same.
func compareKeys(a, b reflect.Value) int {
	switch {
	case a.Kind() == reflect.Interface && (a.IsNil() || b.IsNil()):
		return compareBools(b.IsNil(), a.IsNil())
	case a.Kind() == reflect.Interface:
		a, b = a.Elem(), b.Elem()
		if a.Type() != b.Type() {
			return cmp.Compare(a.Type().String(), b.Type().String())
		}
		return compareKeys(a, b)
	case a.Kind() == reflect.Struct:
		return compareParts(a.NumField(), func(i int) int { return compareKeys(a.Field(i), b.Field(i)) })
	case a.Kind() == reflect.Array:
		return compareParts(a.Len(), func(i int) int { return compareKeys(a.Index(i), b.Index(i)) })
	case a.Kind() == reflect.Bool:
		return compareBools(a.Bool(), b.Bool())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareParts is the comparison of the first of n parts that differ.
func compareParts(n int, compare func(i int) int) int {
	for i := range n {
		if c := compare(i); c != 0 {
			return c
		}
	}
	return 0
}
