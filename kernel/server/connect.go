package server

type connectReply struct {
	Shell     int `json:"shell_port"`
	IOPub     int `json:"iopub_port"`
	Stdin     int `json:"stdin_port"`
	Heartbeat int `json:"hb_port"`
	Control   int `json:"control_port"`
}

func connect(c *call, _ none) (*connectReply, error) {
	at := c.server.connection
	return &connectReply{at.Shell, at.IOPub, at.Stdin, at.Heartbeat, at.Control}, nil
}
