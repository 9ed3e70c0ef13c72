package cellproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	events := []Event{
		{Type: Ready},
		{ID: 7, Type: Stream, Name: "stdout", Text: "你 <&> \x00 😀"},
		{ID: 1 << 63, Type: Display, Data: map[string]any{"x": json.Number("18446744073709551615")}, Display: "d", Update: true, Fence: true},
		{ID: 2, Type: Display, Data: map[string]any{"text/plain": "small", "text/html": strings.Repeat("<b>", largeBytes), "image/png": strings.Repeat("x", largeBytes)}},
		{ID: 3, Type: Display, Data: map[string]any{"a": strings.Repeat("y", largeBytes), "b": strings.Repeat("z", largeBytes-1)}},
		{ID: 9, Type: Done, Error: &Error{Name: "panic", Value: "v", Traceback: []string{"a", "b"}}},
	}
	var pipe bytes.Buffer
	bundle := events[3].Data
	for _, e := range events {
		if err := Write(&pipe, e); err != nil {
			t.Fatal(err)
		}
	}
	if len(bundle) != 3 {
		t.Errorf("Write changed a bundle to %d entries", len(bundle))
	}
	for _, want := range events {
		var got Event
		if err := Read(&pipe, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, expected %+v", got, want)
		}
	}
	if err := Read(&pipe, &Event{}); err != io.EOF {
		t.Errorf("%v at the end, expected io.EOF", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for data, want := range map[string]string{
		"\x00\x00":          io.ErrUnexpectedEOF.Error(),
		"\x00\x00\x00\x05{": io.ErrUnexpectedEOF.Error(),
		"\x00\x00\x00\x05":  io.ErrUnexpectedEOF.Error(),
		"\x00\x00\x00\x00":  "cellproto: decode",
		"\x00\x00\x00\x21{\"large\":[{\"key\":\"a\",\"size\":-1}]}": "-1 bytes, at most",
		"\x00\x00\x00\x20{\"large\":[{\"key\":\"a\",\"size\":9}]}":  io.ErrUnexpectedEOF.Error(),
		"\x00\x00\x00\x04{}{}":       "after top-level value",
		"\x00\x00\x00\x02[]":         "cellproto: decode",
		"\x10\x00\x00\x01":           "268435457 bytes, at most 268435456",
		"\xff\xff\xff\xff{\"id\":1}": "4294967295 bytes, at most",
	} {
		err := Read(strings.NewReader(data), &Event{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", data, err, want)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	var pipe bytes.Buffer
	err := Write(&pipe, Event{Data: map[string]any{"f": func() {}}})
	var kind *json.UnsupportedTypeError
	if !errors.As(err, &kind) || pipe.Len() > 0 {
		t.Errorf("%v with %d bytes written, expected an unsupported type and none", err, pipe.Len())
	}
}

func TestIncomplete(t *testing.T) {
	for _, test := range []struct {
		data string
		want int
	}{
		{"", 0}, {"a", 0}, {"é", 0}, {"\xc3", 1}, {"a\xe4", 1}, {"a\xe4\xbd", 2}, {"你", 0},
		{"\xf0\x9f\x98", 3}, {"😀", 0}, {"\xff", 0}, {"\xbd", 0}, {"\xbd\xbd\xbd\xbd", 0}, {"\xe4a", 0},
	} {
		if got := Incomplete([]byte(test.data)); got != test.want {
			t.Errorf("Incomplete(%q) = %d, expected %d", test.data, got, test.want)
		}
	}
}
