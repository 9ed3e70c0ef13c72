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
	msgType string
	content any
}

// publish sends messages to every client. The parent may be nil.
func (s *Server) publish(parent json.RawMessage, list ...publication) {
	messages := make([][][]byte, len(list))
	for i, p := range list {
		messages[i] = s.published("kernel."+s.session+"."+p.msgType, parent, p.msgType, p.content)
	}
	s.iopub.Publish(messages...)
}

// welcome tells a client that it receives every message published from now on.
func (s *Server) welcome(to *zmtp.Peer, topic string) {
	to.Send(s.published(topic, nil, "iopub_welcome", map[string]string{"subscription": topic}))
}

func (s *Server) published(topic string, parent json.RawMessage, msgType string, content any) [][]byte {
	frames, err := s.key.Encode(jupyter.Message{
		Identities: [][]byte{[]byte(topic)}, Header: jupyter.NewHeader(s.session, msgType),
		Parent: parent, Content: marshal(content),
	})
	if err != nil {
		panic(err) // an error of this package: a header is always encodable
	}
	return frames
}
