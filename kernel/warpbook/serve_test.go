package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"warpbook/kernel/wire"
)

// maxWait is how long a test waits for what must happen.
const maxWait = 20 * time.Second

// connectionFile writes a file with free ports, changed, and returns its name.
func (p *place) connectionFile(change func(map[string]any)) (string, wire.Connection) {
	p.t.Helper()
	fields := map[string]any{"transport": "tcp", "ip": "127.0.0.1", "key": "secret", "signature_scheme": "hmac-sha256"}
	for _, name := range []string{"shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.t.Fatal(err)
		}
		defer l.Close()
		fields[name] = l.Addr().(*net.TCPAddr).Port
	}
	change(fields)
	data, err := json.Marshal(fields)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("kernel.json", string(data))
	connection, _ := wire.ParseConnection(data)
	return p.path("kernel.json"), connection
}

func unchanged(map[string]any) {}

func TestServeRefusesBadConnectionFiles(t *testing.T) {
	p := newPlace(t)
	p.warpbook("serve", "none.json").refused(t, 1, "serve: open none.json: no such file")
	for _, test := range []struct {
		change func(map[string]any)
		want   string
	}{
		{func(f map[string]any) { delete(f, "hb_port") }, "kernel.json: wire: connection file: hb_port 0, expected 1 to 65535"},
		{func(f map[string]any) { f["hb_port"] = "x" }, "kernel.json: wire: connection file: json: "},
		{func(f map[string]any) { f["ip"] = "192.0.2.1" }, "192.0.2.1"},
	} {
		file, _ := p.connectionFile(test.change)
		p.warpbook("serve", file).refused(t, 1, test.want)
	}
	p.write("kernel.json", "not JSON")
	p.warpbook("serve", "kernel.json").refused(t, 1, "serve kernel.json: wire: connection file: invalid character")
}

func TestServeRefusesAUsedPort(t *testing.T) {
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", connection.Shell))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.warpbook("serve", file).refused(t, 1, "address already in use")
}

// asker is a client that waits for replies on one channel.
type asker struct {
	t      *testing.T
	key    *wire.Key
	socket zmq4.Socket
}

func ask(t *testing.T, connection wire.Connection, port int) *asker {
	t.Helper()
	key, err := wire.NewKey(connection.Scheme, connection.Secret)
	if err != nil {
		t.Fatal(err)
	}
	socket := zmq4.NewDealer(context.Background(), zmq4.WithDialerRetry(20*time.Millisecond), zmq4.WithDialerMaxRetries(200))
	t.Cleanup(func() { socket.Close() })
	if err := socket.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", port)); err != nil {
		t.Fatal(err)
	}
	return &asker{t, key, socket}
}

func (a *asker) send(msgType, content string) {
	a.t.Helper()
	frames, err := a.key.Encode(wire.Message{Header: wire.NewHeader("s", msgType), Content: []byte(content)})
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.socket.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *asker) receive(want string) {
	a.t.Helper()
	msg, err := a.socket.Recv()
	if err != nil {
		a.t.Fatal(err)
	}
	if m, err := a.key.Decode(msg.Frames); err != nil || !strings.Contains(string(m.Content), want) {
		a.t.Errorf("got %s, %v, want %s", m.Content, err, want)
	}
}

func TestServeInterruptedTerminated(t *testing.T) {
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	c := p.command("serve", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	shell, control := ask(t, connection, connection.Shell), ask(t, connection, connection.Control)
	shell.send("execute_request", `{"code":"hang"}`)
	control.send("kernel_info_request", `{}`)
	control.receive(`"status":"ok"`)
	c.Process.Signal(syscall.SIGINT)
	shell.receive(`"ename":"interrupted"`)
	c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// A kernel that waits has collected its heap three times, and then few small
// messages fall on a collection.
func TestServeCollectsRarely(t *testing.T) {
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	c := p.command("serve", file)
	c.Env = append(c.Environ(), "GODEBUG=gctrace=1")
	log, err := os.Create(p.path("log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	control := ask(t, connection, connection.Control)
	collections := func() int { return strings.Count(p.read("log"), " MB goal, ") }
	for deadline := time.Now().Add(maxWait); collections() < 3; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d collections, expected 3", collections())
		}
	}
	before := collections()
	for range 1000 {
		control.send("kernel_info_request", `{}`)
		control.receive(`"status":"ok"`)
	}
	if n := collections() - before; n > 4 {
		t.Errorf("%d collections, expected at most 4", n)
	}
}

// Two kernels one after the other share a history, which is for nobody else.
func TestServeRemembersCells(t *testing.T) {
	p := newPlace(t)
	for session := 1; session <= 2; session++ {
		file, connection := p.connectionFile(unchanged)
		c := p.command("serve", file)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		shell := ask(t, connection, connection.Shell)
		shell.send("execute_request", `{"code":"// cell"}`)
		shell.receive(`"status":"ok"`)
		shell.send("history_request", `{"hist_access_type":"tail","n":1}`)
		shell.receive(fmt.Sprintf(`[[%d,1,"// cell"]]`, session))
		shell.send("shutdown_request", `{}`)
		if err := c.Wait(); err != nil {
			t.Errorf("ended with %v", err)
		}
	}
	if info, err := os.Stat(p.path("data/warpbook/history.jsonl")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v, expected a file of mode 0600", info, err)
	}
}

// The kernel ends when Jupyter does, whoever stands between; a number that means
// no process, or is that of init, ends nothing.
func TestServeEndsWithTheNamedParent(t *testing.T) {
	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		pid  int
		ends bool
	}{{sleep.Process.Pid, true}, {1, false}, {1 << 30, false}} {
		p := newPlace(t)
		file, connection := p.connectionFile(unchanged)
		c := p.command("serve", file)
		c.Env = append(c.Environ(), fmt.Sprintf("%s=%d", parentEnv, test.pid))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Process.Kill()
		control := ask(t, connection, connection.Control)
		control.send("kernel_info_request", `{}`)
		control.receive(`"status":"ok"`)
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		if test.ends {
			sleep.Process.Kill()
			sleep.Wait()
			if err := <-ended; err != nil {
				t.Errorf("ended with %v", err)
			}
			continue
		}
		select {
		case err := <-ended:
			t.Errorf("%d: ended with %v", test.pid, err)
		case <-time.After(1200 * time.Millisecond): // it looks each second
		}
	}
}

func TestServeEndsWithItsParent(t *testing.T) {
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	parent := p.command()
	parent.Path, parent.Args = "/bin/sh", []string{"sh", "-c", p.path("warpbook") + " serve " + file + " & echo $! > pid; wait"}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	control := ask(t, connection, connection.Control)
	control.send("kernel_info_request", `{}`)
	control.receive(`"status":"ok"`)
	parent.Process.Kill()
	parent.Wait()
	pid, err := strconv.Atoi(strings.TrimSpace(p.read("pid")))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(maxWait); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(state), ") Z ") {
			return // ended, and nobody has asked how
		}
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the kernel outlived its parent")
		}
	}
}
