package server

import "context"

type inspectReply struct {
	Found    bool           `json:"found"`
	Data     map[string]any `json:"data"`
	Metadata map[string]any `json:"metadata"`
}

func inspect(c *call, q position) (*inspectReply, error) {
	done, err := c.server.cells.Inspect(context.Background(), q.Code, q.cursor())
	if err != nil {
		return nil, err
	}
	if done.Error != nil {
		return nil, done.Error
	}
	return &inspectReply{
		Found: len(done.Data) > 0, Data: orEmpty(done.Data), Metadata: orEmpty(done.Metadata),
	}, nil
}

// orEmpty makes an object of what JSON would write as null.
func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
