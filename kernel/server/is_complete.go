package server

import (
	"strings"

	"warpbook/kernel/engine/split"
)

type isCompleteRequest struct {
	Code string `json:"code"`
}

type isCompleteReply struct {
	Status string `json:"status"` // complete, incomplete, invalid, unknown
	Indent string `json:"indent,omitempty"`
}

func (r *isCompleteReply) conclusion() string { return r.Status }

// isComplete answers a console's question whether the user has finished a cell.
func isComplete(_ *call, q isCompleteRequest) (*isCompleteReply, error) {
	status, depth := split.Typed(q.Code)
	return &isCompleteReply{Status: status, Indent: strings.Repeat("\t", depth)}, nil
}
