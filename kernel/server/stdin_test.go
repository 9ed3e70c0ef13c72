package server

import (
	"testing"
	"time"

	"warpbook/kernel/jupyter"
)

func TestInputRequestGoesToTheCellsClient(t *testing.T) {
	k := start(t)
	asked, other := k.connect(), k.connect()
	id := asked.send("shell", "execute_request", cell("ask name:\nsecret word:"))
	for _, want := range []string{`{"prompt":"name:","password":false}`, `{"prompt":"word:","password":true}`} {
		question := asked.next("stdin")
		if got := line(question); got != "input_request "+want || parentOf(question) != id {
			t.Errorf("got %s, want %s", got, want)
		}
		// None of these may answer: not from the client that was asked, not to
		// this question, not an answer, not signed.
		other.send("stdin", "input_reply", `{"value":"other"}`)
		asked.transmit("stdin", asked.encode(jupyter.Message{
			Header: jupyter.NewHeader("s", "input_reply"), Parent: []byte(`{"msg_id":"older"}`), Content: []byte(`{"value":"old"}`),
		}))
		asked.send("stdin", "input_request", `{"value":"question"}`)
		asked.transmit("stdin", [][]byte{[]byte("<IDS|MSG>"), nil, []byte("{}"), []byte("{}"), []byte("{}"), []byte(`{"value":"forged"}`)})
		asked.transmit("stdin", asked.encode(jupyter.Message{
			Header: jupyter.NewHeader("s", "input_reply"), Parent: question.RawHeader, Content: []byte(`{"value":"right"}`),
		}))
	}
	if got := asked.reply("shell", id); got != ok(1) {
		t.Errorf("got %s", got)
	}
	right := `stream {"name":"stdout","text":"right"}`
	equal(t, "iopub", asked.published(id), []string{busy, inputOf("ask name:\nsecret word:", 1), right, right, idle})
	if len(other.inbox["stdin"]) > 0 {
		t.Errorf("the other client was asked %s", line(other.next("stdin")))
	}
}

func TestInputReplyMayHaveNoParent(t *testing.T) {
	c := start(t).connect()
	id := c.send("shell", "execute_request", cell("ask name:"))
	c.next("stdin")
	c.send("stdin", "input_reply", `{"value":"me"}`)
	c.reply("shell", id)
	equal(t, "iopub", c.published(id), []string{busy, inputOf("ask name:", 1), `stream {"name":"stdout","text":"me"}`, idle})
}

func TestInputNotAllowed(t *testing.T) {
	c := start(t).connect()
	id := c.send("shell", "execute_request", `{"code":"ask name:","allow_stdin":false}`)
	c.reply("shell", id)
	equal(t, "iopub", c.published(id), []string{busy, inputOf("ask name:", 1),
		`stream {"name":"stdout","text":"the client that runs this cell does not allow input"}`, idle})
}

func TestInputEndsWithItsCell(t *testing.T) {
	k := start(t)
	c := k.connect()
	id := c.send("shell", "execute_request", cell("ask name:"))
	old := c.next("stdin")
	k.cells.Interrupt()
	c.reply("shell", id)
	c.published(id)
	if _, ok := k.input.takes(c.session, jupyter.Message{Parent: []byte("{}")}); ok {
		t.Error("an answer is taken after the cell that asked has ended")
	}
	c.transmit("stdin", c.encode(jupyter.Message{
		Header: jupyter.NewHeader("s", "input_reply"), Parent: old.RawHeader, Content: []byte(`{"value":"too late"}`),
	}))
	id = c.send("shell", "execute_request", cell("ask again:"))
	c.next("stdin")
	c.send("stdin", "input_reply", `{"value":"new"}`)
	c.reply("shell", id)
	equal(t, "iopub", c.published(id), []string{busy, inputOf("ask again:", 2), `stream {"name":"stdout","text":"new"}`, idle})
}

func TestInputWithoutStdin(t *testing.T) {
	k := start(t)
	c := k.connect()
	c.sockets["stdin"].Close()
	for k.stdin.Send(c.session, [][]byte{{}}) { // until the server knows the client
		time.Sleep(time.Millisecond)
	}
	_, published := c.execute("ask name:")
	equal(t, "iopub", published, []string{busy, inputOf("ask name:", 1),
		`stream {"name":"stdout","text":"the client that runs this cell is not connected to stdin"}`, idle})
}
