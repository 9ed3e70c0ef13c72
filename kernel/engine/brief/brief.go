package brief

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSummary is the maximal length of a value's text in letters.
const maxSummary = 60

// Value prints a value in one line. It calls no methods of cells and walks no maps,
// pointers or long slices, because other goroutines may be changing them. Package
// display does both: it prints a value in full on the goroutine of its cell.
func Value(v reflect.Value) string {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	if s := ours(v); s != "" { // the text may end with the reason why the value is gone
		return Cut(s, 4*maxSummary)
	}
	return Cut(Brief(v, 3), maxSummary)
}

// Cut shortens a text to n letters.
func Cut(s string, letters int) string {
	if utf8.RuneCountInString(s) > letters {
		s = string([]rune(s)[:letters-1]) + "…"
	}
	return s
}

// Brief prints a value with composite values to a depth.
func Brief(v reflect.Value, depth int) string {
	if text := ours(v); text != "" {
		return text
	}
	switch v.Kind() {
	case reflect.Invalid:
		return ""
	case reflect.String:
		s := v.String()
		return strconv.Quote(s[:min(len(s), 4*maxSummary)])
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Complex64, reflect.Complex128:
		return fmt.Sprint(v.Complex())
	}
	return composite(v, depth)
}

// ours is the one-line text of a device, an operator or one of their values, whose
// methods are safe for concurrent use. It is "" for any other value.
func ours(v reflect.Value) string {
	if !v.IsValid() || !v.CanInterface() || v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path := t.PkgPath(); !strings.HasPrefix(path, "warpbook/gpu") && !strings.HasPrefix(path, "warpbook/ops") {
		return ""
	}
	text := ""
	switch x := v.Interface().(type) {
	case fmt.Stringer:
		text = x.String()
	case interface{ Title() string }:
		text = x.Title()
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}

func composite(v reflect.Value, depth int) string {
	switch v.Kind() {
	case reflect.Array:
		return elements(v, depth)
	case reflect.Struct:
		return structFields(v, depth)
	}
	switch { // other kinds can be nil
	case v.IsNil():
		return "nil"
	case v.Kind() == reflect.Slice:
		return elements(v, depth)
	case v.Kind() == reflect.Map:
		return fmt.Sprintf("%d entries", v.Len())
	case v.Kind() == reflect.Chan:
		return fmt.Sprintf("%d of %d", v.Len(), v.Cap())
	case v.Kind() == reflect.Interface:
		return Brief(v.Elem(), depth)
	case v.Kind() == reflect.Pointer && depth > 0:
		return "&" + Brief(v.Elem(), depth-1)
	}
	return fmt.Sprintf("%#x", v.Pointer())
}

// maxElements is the number of elements of a slice that are printed.
const maxElements = 8

func elements(v reflect.Value, depth int) string {
	var parts []string
	for i := range min(v.Len(), maxElements) {
		if depth == 0 {
			break
		}
		parts = append(parts, Brief(v.Index(i), depth-1))
	}
	if v.Len() > len(parts) {
		return fmt.Sprintf("[%s … %d]", strings.Join(parts, " "), v.Len())
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func structFields(v reflect.Value, depth int) string {
	if depth == 0 {
		return "{…}"
	}
	var parts []string
	for i := range min(v.NumField(), maxElements) {
		parts = append(parts, v.Type().Field(i).Name+": "+Brief(v.Field(i), depth-1))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
