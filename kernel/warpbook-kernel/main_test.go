package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc/fakecells"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/jupyter/jupytertest"
)

// TestMain runs this binary as the kernel or as its cells program, by the name under
// which it is started.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "warpbook-kernel":
		main()
		os.Exit(0)
	case "cells":
		fakecells.Main()
	}
	os.Exit(m.Run())
}

// place is a folder with a kernel that drives a fake cells program.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t, t.TempDir()}
	for _, name := range []string{"warpbook-kernel", "cells"} {
		if err := os.Symlink(self, p.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// kernel prepares a kernel in the place. Without its setting the race detector makes
// each process sleep for 1 s at its end.
func (p *place) kernel(args ...string) *exec.Cmd {
	c := exec.Command(p.path("warpbook-kernel"), args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), cellbuild.Env+"="+p.path("cells"), "XDG_DATA_HOME="+p.path("data"), "GORACE=atexit_sleep_ms=0")
	return c
}

// refused checks that a kernel fails with one line that contains want.
func (p *place) refused(want string, status int, args ...string) {
	p.t.Helper()
	var stderr strings.Builder
	c := p.kernel(args...)
	c.Stderr = &stderr
	if c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != status || strings.Count(stderr.String(), "\n") != 1 ||
		!strings.HasPrefix(stderr.String(), "warpbook-kernel: ") || !strings.Contains(stderr.String(), want) {
		p.t.Errorf("%v, stderr %q, expected status %d and one line with %q", c.ProcessState, &stderr, status, want)
	}
}

// maxWait is how long a test waits for an expected event.
const maxWait = 2 * time.Minute

// connectionFile writes a file with free ports, modified by the test, and returns its
// name.
func (p *place) connectionFile(change func(map[string]any)) (string, jupyter.Connection) {
	p.t.Helper()
	c := jupytertest.Connection(p.t)
	fields := map[string]any{"transport": c.Transport, "ip": c.IP, "key": c.Secret, "signature_scheme": c.Scheme,
		"shell_port": c.Shell, "iopub_port": c.IOPub, "stdin_port": c.Stdin, "control_port": c.Control, "hb_port": c.Heartbeat}
	change(fields)
	data, err := json.Marshal(fields)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("kernel.json", string(data))
	connection, _ := jupyter.ParseConnection(data)
	return p.path("kernel.json"), connection
}

func unchanged(map[string]any) {}

func TestRefusesBadConnectionFiles(t *testing.T) {
	p := newPlace(t)
	p.refused("0 arguments, expected Jupyter's connection file", statusUsage)
	p.refused("2 arguments, expected Jupyter's connection file", statusUsage, "serve", "none.json")
	p.refused("open none.json: no such file or directory, expected Jupyter's connection file", statusFailed, "none.json")
	for _, test := range []struct {
		change func(map[string]any)
		want   string
	}{
		{func(f map[string]any) { f["hb_port"] = -1 }, "kernel.json: jupyter: connection file: hb_port -1, expected 1 to 65535"},
		{func(f map[string]any) { f["hb_port"] = "x" }, "kernel.json: jupyter: connection file: json: "},
		{func(f map[string]any) { f["ip"] = "192.0.2.1" }, "192.0.2.1"},
	} {
		file, _ := p.connectionFile(test.change)
		p.refused(test.want, statusFailed, file)
	}
	p.write("kernel.json", "not JSON")
	p.refused("kernel.json: jupyter: connection file: invalid character", statusFailed, "kernel.json")
}

func TestRefusesAUsedPort(t *testing.T) {
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", connection.IP, connection.Shell))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.refused("address already in use: restart the kernel, for which Jupyter chooses other ports", statusFailed, file)
}

// TestListensOnAnyPort: clients find the ports in the connection file.
func TestListensOnAnyPort(t *testing.T) {
	p := newPlace(t)
	file, _ := p.connectionFile(func(f map[string]any) {
		f["ip"] = "*"
		for _, name := range []string{"shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"} {
			f[name] = 0
		}
	})
	c := p.kernel(file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	var connection jupyter.Connection
	for deadline := time.Now().Add(maxWait); connection.Control == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the connection file has no ports")
		}
		connection, _ = jupyter.ParseConnection([]byte(p.read("kernel.json")))
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the connection file has the mode %v, %v", info.Mode(), err)
	}
	connection.IP = "127.0.0.1"
	control := ask(t, connection, connection.Control)
	control.send("connect_request", `{}`)
	control.receive(fmt.Sprintf(`"control_port":%d`, connection.Control))
	control.send("shutdown_request", `{}`)
	if err := c.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// asker is a client that waits for replies on one channel.
type asker struct {
	t      *testing.T
	key    *jupyter.Key
	socket zmq4.Socket
}

func ask(t *testing.T, connection jupyter.Connection, port int) *asker {
	t.Helper()
	key, err := jupyter.NewKey(connection.Scheme, connection.Secret)
	if err != nil {
		t.Fatal(err)
	}
	socket := zmq4.NewDealer(context.Background(), zmq4.WithDialerRetry(20*time.Millisecond), zmq4.WithDialerMaxRetries(-1))
	t.Cleanup(func() { socket.Close() })
	if err := socket.Dial(fmt.Sprintf("tcp://%s:%d", connection.IP, port)); err != nil {
		t.Fatal(err)
	}
	return &asker{t, key, socket}
}

// subscribe returns a client of iopub that receives every later message.
func subscribe(t *testing.T, connection jupyter.Connection) *asker {
	t.Helper()
	key, err := jupyter.NewKey(connection.Scheme, connection.Secret)
	if err != nil {
		t.Fatal(err)
	}
	socket := zmq4.NewSub(context.Background(), zmq4.WithDialerRetry(20*time.Millisecond), zmq4.WithDialerMaxRetries(-1))
	t.Cleanup(func() { socket.Close() })
	if err := socket.Dial(fmt.Sprintf("tcp://%s:%d", connection.IP, connection.IOPub)); err != nil {
		t.Fatal(err)
	}
	socket.SetOption(zmq4.OptionSubscribe, "")
	a := &asker{t, key, socket}
	a.receive(`"subscription"`)
	return a
}

// streams returns the text of the streams until the kernel is idle.
func (a *asker) streams() (text string) {
	a.t.Helper()
	for {
		msg, err := a.socket.Recv()
		if err != nil {
			a.t.Fatal(err)
		}
		m, err := a.key.Decode(msg.Frames[1:])
		if err != nil {
			a.t.Fatal(err)
		}
		var content struct {
			Text  string `json:"text"`
			State string `json:"execution_state"`
		}
		if err := json.Unmarshal(m.Content, &content); err != nil {
			a.t.Fatal(err)
		}
		if text += content.Text; content.State == "idle" {
			return text
		}
	}
}

func (a *asker) send(msgType, content string) {
	a.t.Helper()
	frames, err := a.key.Encode(jupyter.Message{Header: jupyter.NewHeader("s", msgType), Content: []byte(content)})
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

func TestInterruptedTerminated(t *testing.T) {
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	c := p.kernel(file)
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

// Few small messages coincide with a collection. Too many collections come in every try;
// the system disturbs some.
func TestCollectsRarely(t *testing.T) {
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	c := p.kernel(file)
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
	const most, tries = 4, 5
	least := most + 1
	for try := 0; try < tries && least > most; try++ {
		before := collections()
		for range 1000 {
			control.send("kernel_info_request", `{}`)
			control.receive(`"status":"ok"`)
		}
		least = min(least, collections()-before)
	}
	if least > most {
		t.Errorf("%d or more collections in each of %d tries, expected at most %d", least, tries, most)
	}
}

// Two kernels in succession share a history, which only this user can read.
func TestRemembersCells(t *testing.T) {
	p := newPlace(t)
	for session := 1; session <= 2; session++ {
		file, connection := p.connectionFile(unchanged)
		c := p.kernel(file)
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

// TestLinksLittle: packages that fill tables when a program starts cost every open
// notebook 6 MB. They belong in the command warpbook.
func TestLinksLittle(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "warpbook/kernel/server\n") {
		t.Fatalf("go list printed %q, expected this program's packages", out)
	}
	allowed := []string{"warpbook/kernel/", "github.com/go-zeromq/zmq4", "github.com/google/uuid", "golang.org/x/sync/", "golang.org/x/sys/", "golang.org/x/text/"}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		first, _, _ := strings.Cut(name, "/")
		fromElsewhere := first == "warpbook" || strings.Contains(first, ".")
		if fromElsewhere && !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("warpbook-kernel links %s", name)
		}
		for _, heavy := range []string{"warpbook/kernel/report", "warpbook/kernel/compare", "warpbook/kernel/display", "html/template", "net/http", "database/sql"} {
			if name == heavy {
				t.Errorf("warpbook-kernel links %s", name)
			}
		}
	}
}

// TestEndsWithItsParentDuringABuild: the first build takes minutes. A script in
// place of the go command makes it last.
func TestEndsWithItsParentDuringABuild(t *testing.T) {
	p := newPlace(t)
	file, _ := p.connectionFile(unchanged)
	if err := os.Mkdir(p.path("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("bin/go", "#!/bin/sh\necho $$ > "+p.path("builds.new")+"; mv "+p.path("builds.new")+" "+p.path("builds")+"\nexec sleep 1000\n")
	parent := p.orphanage(file)
	parent.Env = append(parent.Env, parentEnv+"=1073741824", cellbuild.Env+"=", "PATH="+p.path("bin")+":"+os.Getenv("PATH"))
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(maxWait); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(p.path("builds")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the kernel does not build")
		}
	}
	parent.Process.Kill()
	parent.Wait()
	p.awaitEnd("pid", "the kernel outlived its parent")
	p.awaitEnd("builds", "the build outlived the kernel")
}
