package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func newKey(t testing.TB, scheme, secret string) *Key {
	t.Helper()
	key, err := NewKey(scheme, secret)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func request() Message {
	header := NewHeader("client", "execute_request")
	raw, _ := json.Marshal(header)
	return Message{
		Identities: [][]byte{[]byte("one"), []byte("two")},
		Header:     header, RawHeader: raw,
		Parent: []byte(`{"msg_id":"p"}`), Metadata: []byte(`{"a":1}`), Content: []byte(`{"code":"1"}`),
		Buffers: [][]byte{{0, 255}, {}},
	}
}

func TestEncodeDecode(t *testing.T) {
	for scheme := range schemes {
		for _, secret := range []string{"secret", ""} {
			m := request()
			frames, err := newKey(t, scheme, secret).Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := newKey(t, scheme, secret).Decode(frames)
			if err != nil {
				t.Fatalf("%s %q: %v", scheme, secret, err)
			}
			if !reflect.DeepEqual(got, m) {
				t.Errorf("%s %q:\n got %+v\nwant %+v", scheme, secret, got, m)
			}
		}
	}
}

// The expected digits were computed with Python's hmac module.
func TestKnownSignatures(t *testing.T) {
	known := map[string]string{
		"hmac-md5":      "b5a8655f13e38878df3fd1e3155d55f5",
		"hmac-sha1":     "7b2a0473e83999ace1cb1bced73de8714c02bef6",
		"hmac-sha224":   "923d498e8bb94d6d7591cbef29f64f1a6e90306963f8c937b35c566c",
		"hmac-sha256":   "a6bb86577d139049ac1d077e2af5fa129d6e5364f7600de2a667afe5579239ce",
		"hmac-sha384":   "a5c8cf24e6a79e5a99b2294f85cc4fb36b236203e89b52aaf3217d7236e88fa7375dcebf99271cd7533b9fe79a6a5c97",
		"hmac-sha512":   "35366099b7756811389af2a0f8ed4834ab60713d41a6148efc8e53f4c3d88d30586773d1a7297868a522d63ca45cf6c59da9b9a78501d8a9d192e20e257b01ca",
		"hmac-sha3_224": "57303647722d17514c4d62e4dca6be1b0bfbe4b49fee0c09212623b1",
		"hmac-sha3_256": "ce6d0a8bde69c30d1977002acef5fde28fdec38664a8303a368e9dec9973b06f",
		"hmac-sha3_384": "15c418707aa576822977fc1251c6b3f8eb101b83eb3b34e2ffccfd7db6bc8f4d8346261350c2547997d0c29b7da324ca",
		"hmac-sha3_512": "30a49f69f28b75462fa99da916df4491e33aec206e6ec4e308743b519ceeea7850687dbc8f3eaf60efdf2dc11f9f1afe990237a477e342b0bbbcc7da324a9f69",
	}
	if len(schemes) != len(known) {
		t.Errorf("%d schemes, want %d", len(schemes), len(known))
	}
	for scheme, want := range known {
		got := string(newKey(t, scheme, "a-key").sign([][]byte{[]byte(`{"x":1}`), []byte("{}"), []byte("{}"), []byte(`{"y":2}`)}))
		if got != want {
			t.Errorf("%s: got %s, want %s", scheme, got, want)
		}
	}
}

func TestEmptyPartsAreObjects(t *testing.T) {
	frames, err := newKey(t, "", "").Encode(Message{Header: NewHeader("s", "status")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"<IDS|MSG>", "", "", "{}", "{}", "{}"} {
		if i != 2 && string(frames[i]) != want {
			t.Errorf("frame %d: %q, want %q", i, frames[i], want)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	key := newKey(t, "hmac-sha256", "secret")
	sign := func(body ...string) [][]byte {
		raw := make([][]byte, len(body))
		for i, b := range body {
			raw[i] = []byte(b)
		}
		return append([][]byte{delimiter, key.sign(raw)}, raw...)
	}
	good := `{"msg_id":"1","msg_type":"t"}`
	forged := sign(good, "{}", "{}", "{}")
	forged[1] = []byte(strings.Repeat("0", 64))
	unsigned := sign(good, "{}", "{}", "{}")
	unsigned[1] = nil
	tests := map[string]struct {
		frames [][]byte
		want   error
	}{
		"nothing":             {nil, errMalformed},
		"no delimiter":        {sign(good, "{}", "{}", "{}")[1:], errMalformed},
		"too few frames":      {sign(good, "{}", "{}"), errMalformed},
		"forged":              {forged, errSignature},
		"unsigned":            {unsigned, errSignature},
		"header no JSON":      {sign("{", "{}", "{}", "{}"), errMalformed},
		"header a list":       {sign("[]", "{}", "{}", "{}"), errMalformed},
		"header of bad types": {sign(`{"msg_id":1,"msg_type":"t"}`, "{}", "{}", "{}"), errMalformed},
		"no msg_id":           {sign(`{"msg_type":"t"}`, "{}", "{}", "{}"), errMalformed},
		"no msg_type":         {sign(`{"msg_id":"1"}`, "{}", "{}", "{}"), errMalformed},
		"parent null":         {sign(good, "null", "{}", "{}"), errMalformed},
		"metadata a string":   {sign(good, "{}", `"x"`, "{}"), errMalformed},
		"content empty":       {sign(good, "{}", "{}", ""), errMalformed},
		"content deep":        {sign(good, "{}", "{}", `{"a":`+strings.Repeat("[", 1e6)), errMalformed},
	}
	for name, test := range tests {
		if _, err := key.Decode(test.frames); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
	if _, err := key.Decode(sign(good, "{}", "{}", "{}")); err != nil {
		t.Errorf("good: %v", err)
	}
}

func TestReplayIsRejected(t *testing.T) {
	key := newKey(t, "hmac-sha256", "secret")
	frames, _ := key.Encode(request())
	if _, err := key.Decode(frames); err != nil {
		t.Fatal(err)
	}
	if _, err := key.Decode(frames); !errors.Is(err, errSignature) {
		t.Errorf("second time: %v, want %v", err, errSignature)
	}
}

func TestRememberedSignaturesAreBounded(t *testing.T) {
	key := newKey(t, "hmac-sha256", "secret")
	for i := range remembered + 10 {
		if key.replayed(fmt.Appendf(nil, "%032x%032x", i, 0)) {
			t.Fatalf("signature %d known already", i)
		}
	}
	if len(key.seen) > remembered || len(key.oldest) > remembered {
		t.Errorf("%d and %d remembered, at most %d", len(key.seen), len(key.oldest), remembered)
	}
	if key.replayed(bytes.Repeat([]byte("0"), 64)) {
		t.Error("the oldest is still known")
	}
}

func TestHeaderTime(t *testing.T) {
	want := time.Date(2026, 11, 21, 1, 2, 3, 456000000, time.UTC)
	for _, date := range []string{"2026-11-21T01:02:03.456000Z", "2026-11-21T02:02:03.456+01:00", "2026-11-21T01:02:03.456000"} {
		if got := (Header{Date: date}).Time(); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", date, got, want)
		}
	}
	if got := (Header{Date: "yesterday"}).Time(); !got.IsZero() {
		t.Errorf("yesterday: %v, want the zero time", got)
	}
	h := NewHeader("s", "t")
	if d := time.Since(h.Time()); d < 0 || d > time.Minute {
		t.Errorf("%s is %v ago", h.Date, d)
	}
}

func FuzzDecode(f *testing.F) {
	key := newKey(f, "", "")
	frames, _ := key.Encode(request())
	f.Add(joinFrames(frames))
	f.Add([]byte("<IDS|MSG>\n\n{}\n{}\n{}\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := key.Decode(splitFrames(data))
		if err != nil {
			return
		}
		again, err := key.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := key.Decode(again)
		if err != nil || !reflect.DeepEqual(m, back) {
			t.Errorf("%v: decoded %+v, then %+v", err, m, back)
		}
	})
}

func joinFrames(frames [][]byte) (data []byte) {
	for i, f := range frames {
		if i > 0 {
			data = append(data, '\n')
		}
		data = append(data, f...)
	}
	return data
}

func splitFrames(data []byte) (frames [][]byte) {
	for s := range strings.SplitSeq(string(data), "\n") {
		frames = append(frames, []byte(s))
	}
	return frames
}
