// Package jupyter reads and writes the messages between a Jupyter kernel and its
// clients: multipart messages, their HMAC signatures, and the connection file. Its main
// types are Message, Key and Connection; the server and its tests use them. It works on
// bytes alone: it opens no socket and no file, knows no message type, and must not
// import zmtp or the server.
package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Version is the version of the messaging protocol that messages declare.
const Version = "5.5"

// Header identifies a message.
type Header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"` // ISO 8601, by the sender's clock
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
	Subshell string `json:"subshell_id,omitempty"`
}

// NewHeader makes the header of a message that is sent now.
func NewHeader(session, msgType string) Header {
	return Header{
		ID:       uuid.NewString(),
		Session:  session,
		Username: "kernel",
		Date:     time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"),
		Type:     msgType,
		Version:  Version,
	}
}

// Time returns the header's date, or the zero time if the date is invalid.
func (h Header) Time() time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, h.Date); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Message is one message, with its JSON parts as they travel.
type Message struct {
	Identities [][]byte // routing prefix; on iopub the topic
	Header     Header
	RawHeader  json.RawMessage // as received: a child's parent header repeats it exactly
	Parent     json.RawMessage // nil: no parent
	Metadata   json.RawMessage // nil: empty
	Content    json.RawMessage
	Buffers    [][]byte
}

// errMalformed is wrapped by every error about a message of the wrong form.
var errMalformed = errors.New("malformed message")

// errSignature is wrapped by every error about a message that was not signed with
// the key, or is a replay.
var errSignature = errors.New("bad signature")

var delimiter = []byte("<IDS|MSG>")

// parts is the number of frames after the delimiter and the signature: header,
// parent header, metadata, content.
const parts = 4

// Decode reads a message whose signature the key accepts.
func (k *Key) Decode(frames [][]byte) (Message, error) {
	at := 0
	for at < len(frames) && !bytes.Equal(frames[at], delimiter) {
		at++
	}
	if len(frames) < at+2+parts {
		return Message{}, fmt.Errorf("jupyter: decode: %w: %d frames, %d after the delimiter expected",
			errMalformed, len(frames), 1+parts)
	}
	body := frames[at+2 : at+2+parts]
	if err := k.verify(frames[at+1], body); err != nil {
		return Message{}, err
	}
	m := Message{
		Identities: frames[:at],
		RawHeader:  body[0], Parent: body[1], Metadata: body[2], Content: body[3],
		Buffers: frames[at+2+parts:],
	}
	for i, name := range []string{"header", "parent header", "metadata", "content"} {
		if !isObject(body[i]) {
			return Message{}, fmt.Errorf("jupyter: decode %s: %w: not a JSON object", name, errMalformed)
		}
	}
	if err := json.Unmarshal(m.RawHeader, &m.Header); err != nil {
		return Message{}, fmt.Errorf("jupyter: decode header: %w: %v", errMalformed, err)
	}
	if m.Header.ID == "" || m.Header.Type == "" {
		return Message{}, fmt.Errorf("jupyter: decode header: %w: no msg_id or no msg_type", errMalformed)
	}
	return m, nil
}

func isObject(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) && json.Valid(data)
}

// Encode signs a message and returns its frames.
func (k *Key) Encode(m Message) ([][]byte, error) {
	header := m.RawHeader
	if header == nil {
		var err error
		if header, err = json.Marshal(m.Header); err != nil {
			return nil, fmt.Errorf("jupyter: encode header: %w", err)
		}
	}
	frames := make([][]byte, 0, len(m.Identities)+2+parts+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, delimiter, nil, header, orEmpty(m.Parent), orEmpty(m.Metadata), orEmpty(m.Content))
	body := frames[len(frames)-parts:]
	frames[len(frames)-parts-1] = k.sign(body)
	return append(frames, m.Buffers...), nil
}

func orEmpty(raw json.RawMessage) []byte {
	if raw == nil {
		return []byte("{}")
	}
	return raw
}
