package server

import "warpbook/kernel/cellproto"

type inspectReply struct {
	Found    bool           `json:"found"`
	Data     map[string]any `json:"data"`
	Metadata map[string]any `json:"metadata"`
}

type inspectRequest struct {
	position
	Detail int `json:"detail_level"` // 1 asks for the source
}

func inspect(c *call, q inspectRequest) (*inspectReply, error) {
	done, err := c.query(cellproto.Request{Type: cellproto.Inspect, Code: q.Code, Cursor: q.cursor(), Detail: q.Detail})
	if err != nil {
		return nil, err
	}
	return &inspectReply{
		Found: len(done.Data) > 0, Data: orEmpty(done.Data), Metadata: orEmpty(done.Metadata),
	}, nil
}

// orEmpty replaces a nil map, which JSON writes as null, by an empty one.
func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
