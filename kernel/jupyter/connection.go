package jupyter

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
)

// Connection is the content of a connection file: where a kernel listens, and
// the key of its messages.
type Connection struct {
	Transport string `json:"transport"` // "tcp" or "ipc"
	IP        string `json:"ip"`        // tcp: an address of this machine; ipc: the prefix of the sockets' paths
	Shell     int    `json:"shell_port"`
	IOPub     int    `json:"iopub_port"`
	Stdin     int    `json:"stdin_port"`
	Control   int    `json:"control_port"`
	Heartbeat int    `json:"hb_port"`
	Secret    string `json:"key"`
	Scheme    string `json:"signature_scheme"`
}

// ParseConnection reads a connection file and checks every field.
func ParseConnection(data []byte) (Connection, error) {
	var c Connection
	if err := json.Unmarshal(data, &c); err != nil {
		return Connection{}, fmt.Errorf("jupyter: connection file: %w", err)
	}
	if err := c.check(); err != nil {
		return Connection{}, fmt.Errorf("jupyter: connection file: %w", err)
	}
	return c, nil
}

func (c Connection) check() error {
	switch {
	case c.Transport != "tcp" && c.Transport != "ipc":
		return fmt.Errorf("transport %q, expected tcp or ipc", c.Transport)
	case c.Transport == "tcp" && c.IP != "localhost" && net.ParseIP(c.IP) == nil:
		return fmt.Errorf("ip %q, expected an IP address", c.IP)
	case c.IP == "":
		return fmt.Errorf("no ip, expected the prefix of the sockets' paths")
	}
	used := map[int]string{}
	for _, p := range []struct {
		name   string
		number int
	}{
		{"shell_port", c.Shell}, {"iopub_port", c.IOPub}, {"stdin_port", c.Stdin},
		{"control_port", c.Control}, {"hb_port", c.Heartbeat},
	} {
		if p.number < 1 || p.number > 65535 {
			return fmt.Errorf("%s %d, expected 1 to 65535", p.name, p.number)
		}
		if other := used[p.number]; other != "" {
			return fmt.Errorf("%s %d is also the %s", p.name, p.number, other)
		}
		used[p.number] = p.name
	}
	_, err := NewKey(c.Scheme, c.Secret)
	return err
}

// Address is the network and the address of one of the ports, as net.Listen
// takes them.
func (c Connection) Address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + strconv.Itoa(port)
	}
	return "tcp", net.JoinHostPort(c.IP, strconv.Itoa(port))
}
