package jupyter

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
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
	case c.Transport == "tcp" && c.IP != "localhost" && c.IP != allAddresses && net.ParseIP(c.IP) == nil:
		return fmt.Errorf("ip %q, expected an IP address or *", c.IP)
	case c.IP == "":
		return fmt.Errorf("no ip, expected the prefix of the sockets' paths")
	}
	used := map[int]string{}
	for _, p := range c.ports() {
		number := *p.number
		if number < 0 || number > 65535 {
			return fmt.Errorf("%s %d, expected 1 to 65535, or 0 for any", p.name, number)
		}
		if other := used[number]; other != "" && number != 0 {
			return fmt.Errorf("%s %d is also the %s", p.name, number, other)
		}
		used[number] = p.name
	}
	_, err := NewKey(c.Scheme, c.Secret)
	return err
}

// port is a port of a connection, with its name in the file.
type port struct {
	name   string
	number *int
}

func (c *Connection) ports() []port {
	return []port{
		{"shell_port", &c.Shell}, {"iopub_port", &c.IOPub}, {"stdin_port", &c.Stdin},
		{"control_port", &c.Control}, {"hb_port", &c.Heartbeat},
	}
}

// ChoosePorts replaces each port 0 by one that no process listens on, and returns the
// content of the connection file with them: ipykernel writes it, so that clients find
// the ports. The content is nil if no port is 0.
func (c *Connection) ChoosePorts(file []byte) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(file, &fields); err != nil {
		return nil, fmt.Errorf("jupyter: connection file: %w", err)
	}
	chosen := false
	for _, p := range c.ports() {
		if *p.number != 0 {
			continue
		}
		l, number, err := c.free()
		if err != nil {
			return nil, fmt.Errorf("jupyter: %s 0: %w", p.name, err)
		}
		defer l.Close() // after all have been chosen
		*p.number, fields[p.name], chosen = number, number, true
	}
	if !chosen {
		return nil, nil
	}
	return json.MarshalIndent(fields, "", "  ")
}

// mostSockets is how many paths of sockets are tried.
const mostSockets = 1000

// free listens on a port that is free, and returns its number.
func (c *Connection) free() (net.Listener, int, error) {
	if c.Transport == "tcp" {
		l, err := net.Listen(c.Address(0))
		if err != nil {
			return nil, 0, err
		}
		return l, l.Addr().(*net.TCPAddr).Port, nil
	}
	var err error
	for number := 1; number <= mostSockets; number++ {
		if slices.ContainsFunc(c.ports(), func(p port) bool { return *p.number == number }) {
			continue
		}
		var l net.Listener
		if l, err = net.Listen(c.Address(number)); err == nil {
			return l, number, nil
		}
	}
	return nil, 0, err
}

// allAddresses is the IP of a kernel that listens on every address of the machine.
const allAddresses = "*"

// Address is the network and the address of one of the ports, as net.Listen
// takes them.
func (c Connection) Address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + strconv.Itoa(port)
	}
	host := c.IP
	if host == allAddresses {
		host = ""
	}
	return "tcp", net.JoinHostPort(host, strconv.Itoa(port))
}
