package server

// No comm targets are registered, so the kernel closes every comm that a client opens.

type commOpening struct {
	ID string `json:"comm_id"`
}

type commClose struct {
	ID   string         `json:"comm_id"`
	Data map[string]any `json:"data"`
}

func commOpen(c *call, q commOpening) (*none, error) {
	c.publish("comm_close", commClose{ID: q.ID, Data: map[string]any{}})
	return nil, nil
}

type commInfoReply struct {
	Comms map[string]any `json:"comms"`
}

func commInfo(*call, none) (*commInfoReply, error) {
	return &commInfoReply{Comms: map[string]any{}}, nil
}
