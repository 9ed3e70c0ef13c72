package nbformat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writeJSON writes a value as Python's json module does for Jupyter: keys sorted, one
// space of indentation a level, "[]" and "{}" when empty, and only the escapes that
// JSON requires. encoding/json also escapes U+2028.
func writeJSON(buf *bytes.Buffer, value any, depth int) error {
	switch value := value.(type) {
	case nil:
		buf.WriteString("null")
	case string:
		writeString(buf, value)
	case []any:
		return writeItems(buf, "[]", len(value), depth, func(i int) error {
			return writeJSON(buf, value[i], depth+1)
		})
	case map[string]any:
		keys := slices.Sorted(maps.Keys(value))
		return writeItems(buf, "{}", len(keys), depth, func(i int) error {
			writeString(buf, keys[i])
			buf.WriteString(": ")
			return writeJSON(buf, value[keys[i]], depth+1)
		})
	default:
		return writeOther(buf, value, depth)
	}
	return nil
}

func writeItems(buf *bytes.Buffer, brackets string, n, depth int, item func(i int) error) error {
	if n == 0 {
		buf.WriteString(brackets)
		return nil
	}
	buf.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			buf.WriteByte(',')
		}
		newLine(buf, depth+1)
		if err := item(i); err != nil {
			return err
		}
	}
	newLine(buf, depth)
	buf.WriteByte(brackets[1])
	return nil
}

func newLine(buf *bytes.Buffer, depth int) {
	buf.WriteByte('\n')
	for range depth {
		buf.WriteByte(' ')
	}
}

// writeOther writes booleans, numbers and any other Go value (a bundle may hold
// one) through encoding/json.
func writeOther(buf *bytes.Buffer, value any, depth int) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if data[0] != '{' && data[0] != '[' && data[0] != '"' {
		buf.Write(data)
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return err
	}
	return writeJSON(buf, tree, depth)
}

// writeString writes bytes that are not UTF-8 as U+FFFD: a cell may print any.
func writeString(buf *bytes.Buffer, s string) {
	buf.WriteByte('"')
	for _, r := range s {
		if i := strings.IndexRune("\"\\\n\r\t\b\f", r); i >= 0 {
			buf.WriteByte('\\')
			buf.WriteByte(`"\nrtbf`[i])
		} else if r < ' ' {
			fmt.Fprintf(buf, `\u%04x`, r)
		} else {
			buf.WriteRune(r)
		}
	}
	buf.WriteByte('"')
}
