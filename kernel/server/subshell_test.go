package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/zmtp"
)

// newSubshell creates a subshell and returns its id.
func (c *client) newSubshell() string {
	c.t.Helper()
	id := c.send("control", "create_subshell_request", `{}`)
	m := c.next("control")
	var made struct {
		Status string
		ID     string `json:"subshell_id"`
	}
	if err := json.Unmarshal(m.Content, &made); err != nil || parentOf(m) != id || made.Status != "ok" || made.ID == "" {
		c.t.Fatalf("create_subshell: %s", line(m))
	}
	c.published(id)
	return made.ID
}

// sendTo sends a request to a subshell.
func (c *client) sendTo(subshell, msgType, content string) string {
	header := jupyter.NewHeader(c.session, msgType)
	header.Subshell = subshell
	c.transmit("shell", c.encode(jupyter.Message{Header: header, Content: json.RawMessage(content)}))
	return header.ID
}

// block makes a shell run a cell that ends at an interrupt.
func (k *kernel) block(c *client, subshell string) (id string) {
	k.t.Helper()
	id = c.sendTo(subshell, "execute_request", cell("block"))
	<-k.cells.running
	c.reply("iopub", id) // busy
	c.reply("iopub", id) // execute_input
	return id
}

// waiting returns the number of queued requests.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.calls)
}

// replies collects the next n replies on shell by their requests.
func (c *client) replies(n int) map[string]string {
	c.t.Helper()
	got := map[string]string{}
	for range n {
		m := c.next("shell")
		got[parentOf(m)] = line(m)
	}
	return got
}

func gone(request, id string) string {
	return fmt.Sprintf(`%s_reply `, request) + wrong(fmt.Sprintf(`server: subshell "%s": unknown, list_subshell_request lists the subshells`, id))
}

// While the parent shell is busy, a subshell answers every request of a shell.
func TestSubshellAnswersDuringACell(t *testing.T) {
	k := start(t)
	c := k.connect()
	busyCell := k.block(c, "")
	sub := c.newSubshell()
	for _, x := range []turn{
		{"", "execute_request", cell("print a"), ok(1), []string{inputOf("print a", 1), `stream {"name":"stdout","text":"a"}`}},
		{"", "complete_request", `{"code":"fmt.P","cursor_pos":5}`, completed(4, 5), nil},
		{"", "inspect_request", `{"code":"x"}`, `inspect_reply {"data":{"text/plain":"about x"},"found":true,"metadata":{},"status":"ok"}`, nil},
		{"", "is_complete_request", `{"code":"x"}`, `is_complete_reply {"status":"complete"}`, nil},
		{"", "comm_info_request", `{}`, `comm_info_reply {"comms":{},"status":"ok"}`, nil},
		{"", "kernel_info_request", `{}`, info, nil},
	} {
		id := c.sendTo(sub, x.request, x.content)
		if got := c.reply("shell", id); got != x.reply {
			t.Errorf("%s: %s, want %s", x.request, got, x.reply)
		}
		equal(t, x.request, c.published(id), append(append([]string{busy}, x.published...), idle))
	}
	id := c.send("control", "list_subshell_request", `{}`)
	if got, want := c.reply("control", id), `list_subshell_reply {"status":"ok","subshell_id":["`+sub+`"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c.published(id)
	k.cells.Interrupt()
	if got, want := c.reply("shell", busyCell), failed("interrupted", "while blocked", `["line 1"]`, 1); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Each shell counts its cells and has its own lines in the history, and late output
// finds its cell.
func TestSubshellsCountTheirCells(t *testing.T) {
	k := start(t)
	c := k.connect()
	one, two := c.newSubshell(), c.newSubshell()
	requests := map[string]string{}
	for _, x := range []struct {
		shell, code string
		count       int
	}{{"", "value a", 1}, {one, "value b", 1}, {two, "value c", 1}, {one, "value d", 2}, {"", "value e", 2}} {
		requests[x.code] = c.sendTo(x.shell, "execute_request", cell(x.code))
		if got := c.reply("shell", requests[x.code]); got != ok(x.count) {
			t.Errorf("%s: %s, want %s", x.code, got, ok(x.count))
		}
		c.published(requests[x.code])
	}
	for shell, want := range map[string]string{"": `[1,1,"value a"],[1,2,"value e"]`, one: `[1,1,"value b"],[1,2,"value d"]`, two: `[1,1,"value c"]`} {
		id := c.sendTo(shell, "history_request", `{"hist_access_type":"range","session":0}`)
		if got, want := c.reply("shell", id), `history_reply {"history":[`+want+`],"status":"ok"}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		c.published(id)
	}
	id := c.sendTo(two, "history_request", `{"hist_access_type":"tail","n":2}`)
	if got, want := c.reply("shell", id), `history_reply {"history":[[1,2,"value d"],[1,2,"value e"]],"status":"ok"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c.published(id)
	for number, code := range map[int]string{1: "value e", cellproto.CellNumber(1, 2): "value d", cellproto.CellNumber(2, 1): "value c"} {
		k.Late(number, cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: "late"})
		if m := c.next("iopub"); parentOf(m) != requests[code] {
			t.Errorf("late output of %s has another parent: %s", code, line(m))
		}
	}
}

func TestUnknownSubshell(t *testing.T) {
	c := start(t).connect()
	for _, request := range []string{"complete", "kernel_info", "comm_info", "history"} {
		id := c.sendTo("nobody", request+"_request", `{}`)
		if got := c.reply("shell", id); got != gone(request, "nobody") {
			t.Errorf("%s", got)
		}
		equal(t, request, c.published(id), []string{busy, idle})
	}
	id := c.sendTo("nobody", "execute_request", cell("print a"))
	if got := c.reply("shell", id); !strings.Contains(got, `"execution_count":0`) || !strings.Contains(got, `"status":"error"`) {
		t.Errorf("%s", got)
	}
	equal(t, "execute", c.published(id), []string{busy, idle})
}

// A cell of a deleted subshell runs to its end; the cells queued after it are answered.
func TestDeletedSubshell(t *testing.T) {
	k := start(t)
	c := k.connect()
	sub := c.newSubshell()
	running := k.block(c, sub)
	behind := c.sendTo(sub, "comm_info_request", `{}`)
	for k.shells.find(sub).queue.waiting() == 0 {
	}
	id := c.send("control", "delete_subshell_request", `{"subshell_id":"`+sub+`"}`)
	if got := c.reply("control", id); got != `delete_subshell_reply {"status":"ok"}` {
		t.Errorf("%s", got)
	}
	if got := c.reply("shell", behind); got != gone("comm_info", sub) {
		t.Errorf("behind: %s", got)
	}
	after := c.sendTo(sub, "comm_info_request", `{}`)
	if got := c.reply("shell", after); got != gone("comm_info", sub) {
		t.Errorf("after: %s", got)
	}
	k.cells.Interrupt()
	c.reply("shell", running)
}

// An interrupt is for the whole kernel: cells of all shells end, and the cells queued
// after them are aborted. A failure affects only its own shell.
func TestEachShellAbortsItsQueue(t *testing.T) {
	k := start(t)
	c := k.connect()
	sub := c.newSubshell()
	one, two := k.block(c, ""), k.block(c, sub)
	var behind []string
	for _, shell := range []string{"", sub} {
		behind = append(behind, c.sendTo(shell, "execute_request", cell("print never")))
		for k.shells.find(shell).queue.waiting() == 0 {
		}
	}
	c.send("control", "interrupt_request", `{}`)
	got := c.replies(4)
	for _, id := range []string{one, two} {
		if !strings.Contains(got[id], `"ename":"interrupted"`) {
			t.Errorf("running: %s", got[id])
		}
	}
	for _, id := range behind {
		if !strings.Contains(got[id], `"status":"aborted"`) {
			t.Errorf("behind: %s", got[id])
		}
	}
	c.sendTo(sub, "execute_request", cell("fail no"))
	c.sendTo("", "execute_request", cell("print a"))
	kept := c.send("shell", "execute_request", cell("print b"))
	if got := c.replies(3)[kept]; !strings.Contains(got, `"status":"ok"`) {
		t.Errorf("a failure in a subshell stops the parent shell: %s", got)
	}
}

// Cells of two shells ask at the same time, and each gets its own answer, also from a
// client that names the shell instead of the question.
func TestInputOfTwoShells(t *testing.T) {
	k := start(t)
	c := k.connect()
	sub := c.newSubshell()
	cells := map[string]string{}
	for _, shell := range []string{"", sub} {
		cells[shell] = c.sendTo(shell, "execute_request", cell("ask name"))
		if m := c.next("stdin"); parentOf(m) != cells[shell] {
			t.Errorf("%s has the parent %s", line(m), parentOf(m))
		}
	}
	answer := func(shell, text string) {
		header := jupyter.NewHeader(c.session, "input_reply")
		header.Subshell = shell
		c.transmit("stdin", c.encode(jupyter.Message{Header: header, Content: json.RawMessage(`{"value":"` + text + `"}`)}))
	}
	answer(sub, "child")
	answer("", "parent")
	c.replies(2)
	seen := map[string]string{}
	for len(seen) < 2 {
		if m := c.next("iopub"); m.Header.Type == "stream" {
			seen[parentOf(m)] = line(m)
		}
	}
	for shell, text := range map[string]string{"": "parent", sub: "child"} {
		if want := `stream {"name":"stdout","text":"` + text + `"}`; seen[cells[shell]] != want {
			t.Errorf("shell %q got %s, want %s", shell, seen[cells[shell]], want)
		}
	}
}

// promptCells answers every cell at once.
type promptCells struct{ *fakeCells }

func (promptCells) Begin(_ cellproto.Request, sink, answer func(cellproto.Event)) error {
	sink(cellproto.Event{Type: cellproto.Begun})
	answer(cellproto.Event{Type: cellproto.Done})
	return nil
}

// TestReceivingGoroutineServesTheCell: the receiving goroutine serves a cell itself if
// the cell's shell is idle, because waking another goroutine takes longer; otherwise
// the cell waits in the queue.
func TestReceivingGoroutineServesTheCell(t *testing.T) {
	k := start(t)
	k.connect()
	k.Server.cells = promptCells{k.cells}
	shell := k.shells.find("")
	take := func() {
		c := &call{server: k.Server, channel: k.shell, from: &zmtp.Peer{}, shell: shell, request: jupyter.Message{
			Header: jupyter.Header{ID: "m", Type: "execute_request"}, RawHeader: []byte("{}"), Content: []byte(cell(""))}}
		if c.arrived = time.Now(); !shell.take(c) {
			t.Fatal("the shell is closed")
		}
	}
	for i := range 20 {
		if take(); shell.counted() != i+1 {
			t.Fatalf("cell %d is counted %d before it is received", i+1, shell.counted())
		}
	}
	if !shell.queue.turn() {
		t.Fatal("the shell is not free")
	}
	take()
	time.Sleep(10 * time.Millisecond)
	if shell.counted() != 20 {
		t.Error("a cell did not wait for its turn")
	}
	shell.queue.done()
	for deadline := time.Now().Add(patience); shell.counted() != 21; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a cell did not get its turn")
		}
	}
}
