package server

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A control that moves while its function runs leads to one more call, with the latest
// value; each message ends with idle, and a cell that was sent behind runs behind.
func TestFastControlQueuesNoCalls(t *testing.T) {
	k := start(t)
	holds := make(chan struct{})
	k.cells.holds = holds
	c := k.connect()
	c.published(c.send("shell", "comm_open", `{"comm_id":"k","target_name":"kept","data":{}}`))
	ids := []string{c.send("shell", "comm_msg", `{"comm_id":"k","data":"go 0"}`)}
	<-k.cells.running
	for i := range 8 {
		ids = append(ids, c.send("shell", "comm_msg", fmt.Sprintf(`{"comm_id":"k","data":"go %d"}`, i+1)))
	}
	behind := c.send("shell", "execute_request", cell("print behind"))
	for deadline := time.Now().Add(patience); k.shells.find("").queue.waiting() < 9 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	close(holds)
	var shown, ended []string
	for !slices.Contains(ended, behind) {
		m := c.next("iopub")
		switch m.Header.Type {
		case "update_display_data", "stream":
			shown = append(shown, line(m))
		case "status":
			if line(m) == idle {
				ended = append(ended, parentOf(m))
			}
		}
	}
	update := `update_display_data {"data":{"text/plain":"\"go %d\""},"metadata":{},"transient":{"display_id":"d"}}`
	equal(t, "shown", shown, []string{fmt.Sprintf(update, 0), fmt.Sprintf(update, 8), `stream {"name":"stdout","text":"behind"}`})
	slices.Sort(ids)
	slices.Sort(ended[:len(ended)-1])
	equal(t, "ended", ended, append(ids, behind))
}
