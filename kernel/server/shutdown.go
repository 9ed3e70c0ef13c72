package server

type shutdownContent struct {
	Restart bool `json:"restart"`
}

// shutdown ends the kernel once this request is done with. The client that
// wants a restart starts a new one.
func shutdown(c *call, q shutdownContent) (*shutdownContent, error) {
	c.server.stop()
	return &q, nil
}
