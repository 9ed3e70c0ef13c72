package widget

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

// slider is a panel of one control with values from 0 to 9.
func slider(b *Board) (p *Panel, id, box string) {
	p = &Panel{}
	_, box = b.Open(p, "", []*Model{{Name: "IntSlider", State: map[string]any{"value": 1}, Attribute: "value", Check: func(raw json.RawMessage) (any, bool) {
		var n int
		ok := json.Unmarshal(raw, &n) == nil && n >= 0 && n < 10
		return n, ok
	}, Value: func(v any) any { return v }}})
	return p, p.ids[0], box
}

func said(b *Board, kind, id, target, data string) string {
	answers, changed := b.Receive(cellproto.Comm{Type: kind, ID: id, Target: target, Data: json.RawMessage(data)})
	text := fmt.Sprint(changed)
	for _, a := range answers {
		text += " " + a.Type + " " + a.ID + " " + string(a.Data)
	}
	return text
}

// TestTwoClients: a value is echoed, so that the other client follows; a client that comes
// later asks for all widgets.
func TestTwoClients(t *testing.T) {
	b := NewBoard()
	p, id, box := slider(b)
	if got, want := said(b, "comm_msg", id, "", `{"method":"update","state":{"value":7}}`), "true comm_msg "+id+` {"buffer_paths":[],"method":"echo_update","state":{"value":7}}`; got != want {
		t.Errorf("a change is answered by %s, want %s", got, want)
	}
	b.Next()
	b.Ended(p)
	said(b, "comm_open", "q", "jupyter.widget.control", `{}`)
	got := said(b, "comm_msg", "q", "", `{"method":"request_states"}`)
	for _, want := range []string{`false comm_msg q {"buffer_paths":[],"method":"update_states"`, id, box, `"value":7`, `"model_name":"IntSliderModel"`, `"children":["IPY_MODEL_` + id} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if got := said(b, "comm_msg", id, "", `{"method":"request_state"}`); !strings.Contains(got, `"method":"update"`) || !strings.Contains(got, `"_view_name":"IntSliderView"`) {
		t.Errorf("the state of one is %s", got)
	}
}

// TestOddMessages: a value out of range is answered with the value that holds, and what is
// not understood changes nothing.
func TestOddMessages(t *testing.T) {
	b := NewBoard()
	p, id, box := slider(b)
	holds := "false comm_msg " + id + ` {"buffer_paths":[],"method":"update","state":{"value":1}}`
	for _, value := range []string{"10", "-1", `"a"`, "1.5", "[]", "{}", "1e99"} {
		if got := said(b, "comm_msg", id, "", `{"method":"update","state":{"value":`+value+`}}`); got != holds {
			t.Errorf("%s is answered by %s", value, got)
		}
	}
	for _, data := range []string{"", "null", "5", `{"method":"update"}`, `{"method":"update","state":{"max":3}}`, `{"method":"custom","content":{"event":"click"}}`, `{"method":"dance"}`, `{"state":7}`} {
		for _, to := range []string{id, box} {
			if got := said(b, "comm_msg", to, "", data); got != "false" {
				t.Errorf("%s is answered by %s", data, got)
			}
		}
	}
	if v := p.Values(); fmt.Sprint(v) != "[1]" {
		t.Errorf("the values are %v", v)
	}
	for _, got := range []string{said(b, "comm_open", "x", "jupyter.widget", "{}"), said(b, "comm_msg", "x", "", "{}")} {
		if got != "false comm_close x {}" {
			t.Errorf("an unknown comm is answered by %s", got)
		}
	}
	if got := said(b, "comm_close", "x", "", "{}"); got != "false" {
		t.Errorf("the end of an unknown comm is answered by %s", got)
	}
	if got := said(b, "comm_close", id, "", "{}"); got != "false comm_close "+box+" {}" {
		t.Errorf("the end of a control is answered by %s", got)
	}
	if got := b.Opened(); got != nil {
		t.Errorf("%v is open", got)
	}
}

// TestChangeDuringACall: a panel that changes while its function runs is due again, after
// the end of the call.
func TestChangeDuringACall(t *testing.T) {
	b := NewBoard()
	p, id, _ := slider(b)
	change := func(n int) { said(b, "comm_msg", id, "", fmt.Sprintf(`{"method":"update","state":{"value":%d}}`, n)) }
	change(2)
	if b.Next() != p || b.Next() != nil {
		t.Fatal("the panel is not due once")
	}
	change(3)
	if b.Next() != nil {
		t.Error("the panel is due during its call")
	}
	if !b.Ended(p) || b.Next() != p || fmt.Sprint(p.Values()) != "[3]" {
		t.Error("the panel is not due after its call")
	}
}
