package server

import (
	"encoding/json"

	"warpbook/kernel/jupyter"
	"warpbook/kernel/zmtp"
)

// status is the content of a status message.
type status struct {
	State string `json:"execution_state"` // starting, busy or idle
}

// publication is a message on iopub.
type publication struct {
	msgType  string
	content  any
	metadata json.RawMessage // nil: empty
}

// publish sends messages to every client. The parent may be nil.
func (s *Server) publish(parent json.RawMessage, list ...publication) {
	messages := make([][][]byte, len(list))
	for i, p := range list {
		messages[i] = s.published("kernel."+s.session+"."+p.msgType, parent, p)
	}
	s.iopub.Publish(messages...)
}

// welcome tells a client that it receives every message published from now on.
func (s *Server) welcome(to *zmtp.Peer, topic string) {
	to.Send(s.published(topic, nil, publication{msgType: "iopub_welcome", content: map[string]string{"subscription": topic}}))
}

func (s *Server) published(topic string, parent json.RawMessage, p publication) [][]byte {
	frames, err := s.key.Encode(jupyter.Message{
		Identities: [][]byte{[]byte(topic)}, Header: jupyter.NewHeader(s.session, p.msgType),
		Parent: parent, Metadata: p.metadata, Content: marshal(p.content),
	})
	if err != nil {
		panic(err) // an error of this package: a header is always encodable
	}
	return frames
}
