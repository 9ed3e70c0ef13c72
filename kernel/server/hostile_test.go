package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/jupyter"
)

// fields are the contents of requests, with every field of the specification.
var fields = map[string]map[string]any{
	"kernel_info_request": {},
	"connect_request":     {},
	"execute_request": {"code": "print a", "silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": false, "stop_on_error": false},
	"complete_request":    {"code": "fmt.P", "cursor_pos": 5},
	"inspect_request":     {"code": "fmt", "cursor_pos": 3, "detail_level": 0},
	"is_complete_request": {"code": "x"},
	"history_request": {"hist_access_type": "tail", "output": true, "raw": true, "session": 0, "start": 0, "stop": 1,
		"n": 1, "pattern": "*", "unique": true},
	"comm_info_request": {"target_name": "t"},
	"comm_open":         {"comm_id": "c", "target_name": "t", "data": map[string]any{}},
	"comm_msg":          {"comm_id": "c", "data": map[string]any{}},
	"comm_close":        {"comm_id": "c", "data": map[string]any{}},
	"interrupt_request": {},
	"debug_request":     {"seq": 1, "type": "request"},
	"usage_request":     {},
	// TestShutdown covers shutdown_request.
	"create_subshell_request": {},
	"delete_subshell_request": {"subshell_id": "x"},
	"list_subshell_request":   {},
}

// wrongValues have another type than the field, or an extreme size.
var wrongValues = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e308`, `99999999999999999999`, `-9223372036854775808`, `""`, `"\ud800"`, `"😀\u0000"`,
	`[]`, `[null]`, `{}`, `{"":{"":[]}}`,
	strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000), `"` + strings.Repeat("x", 1<<16) + `"`,
}

// Whatever a field holds, the request is answered once, between busy and idle, and an
// execute_reply has its count.
func TestWrongTypesForEveryField(t *testing.T) {
	for msgType, content := range fields {
		t.Run(msgType, func(t *testing.T) {
			t.Parallel()
			c := start(t).connect()
			for _, name := range slices.Sorted(maps.Keys(content)) {
				for _, value := range wrongValues {
					c.survives(msgType, with(content, name, value))
				}
			}
			for _, value := range []string{`{"` + strings.Repeat("k", 1<<16) + `":1}`, `{"code":1,"code":"print a"}`} {
				c.survives(msgType, value)
			}
		})
	}
}

// with returns a content with one field replaced.
func with(content map[string]any, name, value string) string {
	changed := maps.Clone(content)
	changed[name] = json.RawMessage(value)
	data, err := json.Marshal(changed)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// survives sends a request and checks that it gets exactly one answer.
func (c *client) survives(msgType, content string) {
	c.t.Helper()
	channel := "shell"
	if handlers[msgType].channel == controlOnly {
		channel = "control"
	}
	id := c.send(channel, msgType, content)
	if name, ok := strings.CutSuffix(msgType, "_request"); ok {
		m := c.next(channel)
		var reply struct {
			Status string
			Count  *int   `json:"execution_count"`
			Name   string `json:"ename"`
		}
		err := json.Unmarshal(m.Content, &reply)
		if err != nil || m.Header.Type != name+"_reply" || parentOf(m) != id || reply.Status == "" ||
			(reply.Status == "error") != (reply.Name != "") || name == "execute" && reply.Count == nil {
			c.t.Errorf("%s %.200s: %.200s", msgType, content, line(m))
		}
	}
	published := c.published(id)
	if published[0] != busy || len(published) < 2 {
		c.t.Errorf("%s %.200s: published %.200s", msgType, content, published)
	}
}

// A header, a parent header or metadata of wrong types is dropped or answered,
// and the next request is served.
func TestWrongTypesInHeaders(t *testing.T) {
	c := start(t).connect()
	header := map[string]any{"msg_id": "m", "session": "s", "username": "u", "date": "2026-11-21T00:00:00Z",
		"msg_type": "comm_info_request", "version": "5.3", "subshell_id": nil}
	for name := range header {
		for i, value := range wrongValues {
			raw := with(header, name, value)
			if name != "msg_id" {
				raw = strings.Replace(raw, `"m"`, fmt.Sprintf(`"%s%d"`, name, i), 1) // otherwise it would be a replay
			}
			for _, part := range []jupyter.Message{
				{RawHeader: []byte(raw), Content: []byte(`{}`)},
				{Header: jupyter.NewHeader("s", "comm_info_request"), Parent: []byte(raw), Content: []byte(`{}`)},
				{Header: jupyter.NewHeader("s", "comm_info_request"), Metadata: []byte(raw), Content: []byte(`{}`)},
				{Header: jupyter.NewHeader("s", "comm_info_request"), Metadata: []byte(value), Content: []byte(`{}`)},
			} {
				c.transmit("shell", c.encode(part))
			}
		}
	}
	id := c.send("shell", "comm_info_request", `{}`)
	for m := c.next("shell"); parentOf(m) != id; m = c.next("shell") {
		if !strings.HasSuffix(m.Header.Type, "_reply") {
			t.Errorf("answered %s", line(m))
		}
	}
}

// A client is served while others connect and stay silent, disconnect half way, send
// invalid data, ask without reading or send 20 MB of code; afterwards none of their
// resources is left. The machine may be busy, so the bound is on the median, in the best
// of several tries; the test logs the longest wait, and ends if one lasts for patience.
func TestAnswersAmongHostileClients(t *testing.T) {
	before := runtime.NumGoroutine()
	k := start(t)
	c := k.connect()
	quit := make(chan struct{})
	var attackers []chan struct{}
	for _, attack := range []func(*kernel){silence, halfHandshake, nonsense, hugeFrame, deaf, (*kernel).hugeCode} {
		done := make(chan struct{})
		attackers = append(attackers, done)
		go func() {
			defer close(done)
			for {
				select {
				case <-quit:
					return
				default:
					attack(k)
				}
			}
		}()
	}
	const promised, tries = time.Second, 5 // 0.4 ms; 4 with the race detector, 110 on a busy machine
	least := time.Hour
	for try := 0; try < tries && least > promised; try++ {
		var waits []time.Duration
		for i := range 100 {
			channel := []string{"shell", "control"}[i%2]
			asked := time.Now()
			id := c.send(channel, "kernel_info_request", `{}`)
			for parentOf(c.next(channel)) != id { // replies to hugeCode must not reach c
				t.Error("a reply to somebody else")
			}
			waits = append(waits, time.Since(asked))
			time.Sleep(5 * time.Millisecond)
		}
		slices.Sort(waits)
		median, longest := waits[len(waits)/2], waits[len(waits)-1]
		t.Logf("served within %v, half of the requests within %v", longest, median)
		least = min(least, median)
	}
	close(quit)
	for _, done := range attackers {
		<-done
	}
	if least > promised {
		t.Errorf("half of the requests took %v or longer", least)
	}
	for _, s := range c.sockets {
		s.Close()
	}
	k.stop("the test ends")
	<-k.stopped()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before+1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func (k *kernel) dial(port int) net.Conn {
	conn, err := net.Dial("tcp", net.JoinHostPort(k.connection.IP, strconv.Itoa(port)))
	if err != nil {
		k.t.Error(err)
		runtime.Goexit()
	}
	return conn
}

func silence(k *kernel) {
	for _, port := range []int{k.connection.Shell, k.connection.IOPub, k.connection.Control, k.connection.Stdin, k.connection.Heartbeat} {
		defer k.dial(port).Close()
	}
	time.Sleep(20 * time.Millisecond)
}

func halfHandshake(k *kernel) {
	conn := k.dial(k.connection.Shell)
	defer conn.Close()
	conn.Write([]byte("\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL"))
	conn.(*net.TCPConn).CloseWrite()
	time.Sleep(5 * time.Millisecond)
}

func nonsense(k *kernel) {
	conn := k.dial(k.connection.Control)
	defer conn.Close()
	conn.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", 1000)))
}

// hello returns the handshake of a peer of that type.
func hello(typ string) []byte {
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	ready := "\x05READY\x0bSocket-Type\x00\x00\x00" + string(rune(len(typ))) + typ
	return append(append(greeting, 4, byte(len(ready))), ready...)
}

// hugeFrame announces 2^62 bytes.
func hugeFrame(k *kernel) {
	conn := k.dial(k.connection.Shell)
	defer conn.Close()
	conn.Write(append(hello("DEALER"), 2, 0x40, 0, 0, 0, 0, 0, 0, 0, 'x'))
	time.Sleep(5 * time.Millisecond)
}

// deaf subscribes to everything and reads nothing.
func deaf(k *kernel) {
	conn := k.dial(k.connection.IOPub)
	defer conn.Close()
	conn.Write(append(hello("SUB"), 0, 1, 1))
	time.Sleep(50 * time.Millisecond)
}

// hugeCode sends its next request without reading the reply.
func (k *kernel) hugeCode() {
	conn := k.dial(k.connection.Shell)
	defer conn.Close()
	conn.Write(hello("DEALER"))
	frames, err := k.key.Encode(jupyter.Message{
		Header:  jupyter.NewHeader("huge", "is_complete_request"),
		Content: []byte(`{"code":"` + strings.Repeat("x", 20<<20) + `"}`),
	})
	if err != nil {
		panic(err)
	}
	for i, frame := range frames {
		head := []byte{2, 0, 0, 0, 0, byte(len(frame) >> 24), byte(len(frame) >> 16), byte(len(frame) >> 8), byte(len(frame))}
		if i < len(frames)-1 {
			head[0] |= 1
		}
		conn.Write(append(head, frame...))
	}
	time.Sleep(200 * time.Millisecond)
}

// FuzzRequest makes a kernel answer any content of any request, on either channel.
func FuzzRequest(f *testing.F) {
	k := start(f)
	k.connect()
	for msgType, content := range fields {
		data, err := json.Marshal(content)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(msgType, data, true)
	}
	f.Fuzz(func(t *testing.T, msgType string, content []byte, onShell bool) {
		for _, waits := range []string{"ask", "secret", "block", "shutdown"} { // commands of fakeCells, and the shutdown
			if strings.Contains(msgType+string(content), waits) {
				return
			}
		}
		c := &call{server: k.Server, channel: k.control, request: jupyter.Message{
			Header: jupyter.Header{ID: "m", Type: msgType}, RawHeader: []byte(`{"msg_id":"m"}`), Content: content}}
		if onShell {
			c.channel, c.shell = k.shell, k.shells.find("")
		}
		answered, fields := make(chan json.RawMessage, 1), map[string]json.RawMessage{}
		c.answer(func(reply any, err error) { answered <- outcome(reply, err) })
		reply := <-answered
		if err := json.Unmarshal(reply, &fields); err != nil || len(fields["status"]) == 0 {
			t.Errorf("%s %q is answered %s: %v", msgType, content, reply, err)
		}
	})
}
