package nbformat

import (
	"encoding/json"
	"fmt"
	"strings"
)

// object takes the known members out of a JSON object; the others stay in rest. err
// keeps the first error and later errors are dropped, so that a caller takes all
// members and checks err once.
type object struct {
	place string // its place, for errors: "cell 3, output 1"
	rest  map[string]any
	err   error
}

func newObject(place string, value any) *object {
	members, ok := value.(map[string]any)
	o := &object{place: place, rest: members}
	if !ok {
		o.fail("is %s, expected an object", kind(value))
	}
	return o
}

func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%s: %s", o.place, fmt.Sprintf(format, args...))
	}
}

// take removes and returns a member.
func (o *object) take(key string) (value any, ok bool) {
	value, ok = o.rest[key]
	delete(o.rest, key)
	return value, ok
}

// unknown returns the members that were not taken, nil if there are none.
func (o *object) unknown() map[string]any {
	if len(o.rest) == 0 {
		return nil
	}
	return o.rest
}

// text takes a required string.
func (o *object) text(key string) string {
	value, ok := o.take(key)
	if !ok {
		o.fail("has no %s", key)
	}
	text, isText := value.(string)
	if ok && !isText {
		o.fail("%s is %s, expected a string", key, kind(value))
	}
	return text
}

// lines takes a required string or list of strings.
func (o *object) lines(key string) string {
	value, ok := o.take(key)
	if !ok {
		o.fail("has no %s", key)
		return ""
	}
	text, ok := join(value)
	if !ok {
		o.fail("%s is %s, expected a string or a list of strings", key, kind(value))
	}
	return text
}

// object takes an object; a missing one is empty.
func (o *object) object(key string) map[string]any {
	value, ok := o.take(key)
	if !ok {
		return map[string]any{}
	}
	members, ok := value.(map[string]any)
	if !ok {
		o.fail("%s is %s, expected an object", key, kind(value))
	}
	return members
}

// list takes a list; a missing one is empty.
func (o *object) list(key string) []any {
	value, ok := o.take(key)
	if !ok {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		o.fail("%s is %s, expected a list", key, kind(value))
	}
	return list
}

// count takes a whole number from 0, or null; a missing one is null.
func (o *object) count(key string) *int {
	value, _ := o.take(key)
	if value == nil {
		return nil
	}
	number, ok := value.(json.Number)
	n, err := number.Int64()
	if !ok || err != nil || n < 0 || n != int64(int(n)) {
		o.fail("%s is %s, expected null or a whole number from 0", key, kind(value))
		return nil
	}
	count := int(n)
	return &count
}

// bundle takes a required MIME bundle, and joins its lines.
func (o *object) bundle(key string) map[string]any {
	if _, ok := o.rest[key]; !ok {
		o.fail("has no %s", key)
	}
	data := o.object(key)
	joinBundle(o, data)
	return data
}

// joinBundle joins the lines of every text in a MIME bundle.
func joinBundle(o *object, data map[string]any) {
	for mime, value := range data {
		if isJSON(mime) {
			continue
		}
		text, ok := join(value)
		if !ok {
			o.fail("%s is %s, expected a string or a list of strings", mime, kind(value))
		}
		data[mime] = text
	}
}

// join makes one string of a string or a list of strings.
func join(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case []any:
		var text strings.Builder
		for _, line := range value {
			s, ok := line.(string)
			if !ok {
				return "", false
			}
			text.WriteString(s)
		}
		return text.String(), true
	}
	return "", false
}

// kind names a JSON value in an error.
func kind(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "the number " + value.String()
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", value)
}
