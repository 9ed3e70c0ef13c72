package server

type shutdownContent struct {
	Restart bool `json:"restart"`
}

// shutdown ends the kernel after this request has been answered. For a restart, the
// client starts a new kernel.
func shutdown(c *call, q shutdownContent) (*shutdownContent, error) {
	reason := "a client has asked for the shutdown"
	if q.Restart {
		reason = "a client has asked for a restart"
	}
	c.server.stop(reason)
	return &q, nil
}
