package jupyter

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

func connection(change func(map[string]any)) []byte {
	fields := map[string]any{
		"transport": "tcp", "ip": "127.0.0.1", "key": "secret", "signature_scheme": "hmac-sha256",
		"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5,
		"kernel_name": "warpbook",
	}
	change(fields)
	data, _ := json.Marshal(fields)
	return data
}

func TestParseConnection(t *testing.T) {
	c, err := ParseConnection(connection(func(map[string]any) {}))
	if err != nil {
		t.Fatal(err)
	}
	if network, address := c.Address(c.Control); network != "tcp" || address != "127.0.0.1:4" {
		t.Errorf("control: %s %s", network, address)
	}
	c, err = ParseConnection(connection(func(f map[string]any) { f["transport"], f["ip"] = "ipc", "/run/k" }))
	if err != nil {
		t.Fatal(err)
	}
	if network, address := c.Address(c.Shell); network != "unix" || address != "/run/k-1" {
		t.Errorf("shell: %s %s", network, address)
	}
}

// TestChoosePorts: ports that are 0 or absent, as ipykernel accepts them, become free ones,
// and the file with them keeps its other fields.
func TestChoosePorts(t *testing.T) {
	folder := t.TempDir()
	for name, ip := range map[string]string{"tcp": "*", "ipc": filepath.Join(folder, "k")} {
		data := connection(func(f map[string]any) {
			f["transport"], f["ip"], f["shell_port"], f["hb_port"] = name, ip, 0, 0
			delete(f, "iopub_port")
		})
		c, err := ParseConnection(data)
		if err != nil {
			t.Fatal(err)
		}
		file, err := c.ChoosePorts(data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseConnection(file); err != nil || got != c || !strings.Contains(string(file), `"kernel_name": "warpbook"`) {
			t.Errorf("the file is %s, %v, expected %+v", file, err, c)
		}
		if c.Shell == 0 || c.IOPub == 0 || c.Heartbeat == 0 || c.Shell == c.IOPub || c.IOPub == c.Heartbeat || c.Stdin != 3 || c.Control != 4 {
			t.Errorf("%s: chose %+v", name, c)
		}
		for _, p := range []int{c.Shell, c.IOPub, c.Heartbeat} {
			l, err := net.Listen(c.Address(p))
			if err != nil {
				t.Errorf("%s: %d is not free: %v", name, p, err)
				continue
			}
			defer l.Close()
		}
		if again, err := c.ChoosePorts(file); again != nil || err != nil {
			t.Errorf("no port is 0: %s, %v", again, err)
		}
	}
}

func TestParseConnectionRejects(t *testing.T) {
	tests := []struct {
		name   string
		change func(map[string]any)
		want   string
	}{
		{"no transport", func(f map[string]any) { delete(f, "transport") }, `transport "", expected tcp or ipc`},
		{"udp", func(f map[string]any) { f["transport"] = "udp" }, `transport "udp"`},
		{"no ip", func(f map[string]any) { delete(f, "ip") }, `ip "", expected an IP address`},
		{"host name", func(f map[string]any) { f["ip"] = "example.org" }, `ip "example.org"`},
		{"ipc without path", func(f map[string]any) { f["transport"], f["ip"] = "ipc", "" }, "no ip"},
		{"negative port", func(f map[string]any) { f["stdin_port"] = -1 }, "stdin_port -1, expected 1 to 65535, or 0 for any"},
		{"large port", func(f map[string]any) { f["hb_port"] = 65536 }, "hb_port 65536"},
		{"port twice", func(f map[string]any) { f["hb_port"] = 1 }, "hb_port 1 is also the shell_port"},
		{"port text", func(f map[string]any) { f["hb_port"] = "5" }, "hb_port"},
		{"scheme", func(f map[string]any) { f["signature_scheme"] = "md5" }, `signature scheme "md5": unknown`},
	}
	for _, test := range tests {
		_, err := ParseConnection(connection(test.change))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q in one line", test.name, err, test.want)
		}
	}
}

func FuzzParseConnection(f *testing.F) {
	f.Add(connection(func(map[string]any) {}))
	f.Add([]byte(`{"transport":"ipc"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConnection(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseConnection(again); err != nil || back != c {
			t.Errorf("%v: read %+v, then %+v", err, c, back)
		}
	})
}
