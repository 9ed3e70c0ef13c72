package server

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// turn is a request with the reply and the whole of iopub that it causes.
type turn struct {
	channel, request, content string
	reply                     string // "" for a message without a reply
	published                 []string
}

func run(code string, reply string, published ...string) turn {
	return turn{"shell", "execute_request", cell(code), reply, published}
}

func inputOf(code string, count int) string {
	return fmt.Sprintf(`execute_input {"code":%q,"execution_count":%d}`, code, count)
}

var conversations = map[string][]turn{
	"kernel_info": {
		{"shell", "kernel_info_request", `{}`, info, nil},
		{"control", "kernel_info_request", `{}`, info, nil},
	},
	"execute": {
		run("print a\ncomplain b\nvalue 3", ok(1),
			inputOf("print a\ncomplain b\nvalue 3", 1),
			`stream {"name":"stdout","text":"a"}`, `stream {"name":"stderr","text":"b"}`,
			`execute_result {"data":{"text/plain":"3"},"metadata":{},"execution_count":1}`),
		run("show x\nupdate y\nclear", ok(2),
			inputOf("show x\nupdate y\nclear", 2),
			`display_data {"data":{"text/plain":"x"},"metadata":{},"transient":{"display_id":"d"}}`,
			`update_display_data {"data":{"text/plain":"y"},"metadata":{},"transient":{"display_id":"d"}}`,
			`clear_output {"wait":true}`),
		run("", ok(3), inputOf("", 3)),
	},
	"execute fails": {
		run("print a\nfail no", failed("panic", "no", `["a","b"]`, 1),
			inputOf("print a\nfail no", 1), `stream {"name":"stdout","text":"a"}`,
			`error {"ename":"panic","evalue":"no","traceback":["a","b"]}`),
		run("print b", ok(2), inputOf("print b", 2), `stream {"name":"stdout","text":"b"}`),
	},
	"silent": {
		{"shell", "execute_request", `{"code":"print a\nshow x\nvalue 3","silent":true}`,
			ok(0), nil},
		{"shell", "execute_request", `{"code":"fail no","silent":true,"store_history":true}`,
			failed("panic", "no", `["a","b"]`, 0), nil},
		run("value 1", ok(1), inputOf("value 1", 1),
			`execute_result {"data":{"text/plain":"1"},"metadata":{},"execution_count":1}`),
	},
	"store_history": {
		run("print a", ok(1), inputOf("print a", 1), `stream {"name":"stdout","text":"a"}`),
		{"shell", "execute_request", `{"code":"print b","store_history":false}`, ok(1),
			[]string{inputOf("print b", 1), `stream {"name":"stdout","text":"b"}`}},
		{"shell", "history_request", `{"hist_access_type":"tail","output":false,"raw":true,"n":9}`,
			`history_reply {"history":[[1,1,"print a"]],"status":"ok"}`, nil},
	},
	"user_expressions": {
		{"shell", "execute_request", `{"code":"","user_expressions":{"a":"value 1","b":"fail no"}}`,
			`execute_reply {"execution_count":1,"payload":[],"status":"ok","user_expressions":{` +
				`"a":{"data":{"text/plain":"1"},"metadata":{},"status":"ok"},` +
				`"b":{"status":"error","ename":"panic","evalue":"no","traceback":["a","b"]}}}`,
			[]string{inputOf("", 1)}},
		{"shell", "execute_request", `{"code":"fail no","user_expressions":{"a":"value 1"}}`,
			failed("panic", "no", `["a","b"]`, 2),
			[]string{inputOf("fail no", 2), `error {"ename":"panic","evalue":"no","traceback":["a","b"]}`}},
	},
	"offered cell": {
		run("offer x := 1", `execute_reply {"execution_count":1,"payload":[{"source":"set_next_input","text":"x := 1","replace":true}],"status":"ok","user_expressions":{}}`,
			inputOf("offer x := 1", 1)),
	},
	"question": {
		run("print a // really?", ok(1), inputOf("print a // really?", 1), `stream {"name":"stdout","text":"a // really?"}`),
		run("fmt.Println?", `execute_reply {"execution_count":2,"payload":[{"source":"page","data":{"text/plain":"about fmt.Println"},"start":0}],"status":"ok","user_expressions":{}}`,
			inputOf("fmt.Println?", 2)),
		run("nothing??", `execute_reply {"execution_count":3,"payload":[{"source":"page","data":{"text/plain":"no documentation of nothing"},"start":0}],"status":"ok","user_expressions":{}}`,
			inputOf("nothing??", 3)),
	},
	"complete": {
		{"shell", "complete_request", `{"code":"fmt.P","cursor_pos":5}`, completed(4, 5), nil},
		{"shell", "complete_request", `{"code":"😀😀x","cursor_pos":3}`, completed(2, 3), nil},
		{"shell", "complete_request", `{"code":"😀😀x"}`, completed(2, 3), nil},
		{"shell", "complete_request", `{"code":"x","cursor_pos":99}`, completed(0, 1), nil},
		{"shell", "complete_request", `{"code":"x","cursor_pos":-9}`, completed(-1, 0), nil},
		{"shell", "complete_request", `{"code":"broken"}`,
			`complete_reply {"ename":"error","evalue":"cellproc: closed","status":"error","traceback":["cellproc: closed"]}`, nil},
	},
	"inspect": {
		{"shell", "inspect_request", `{"code":"😀 fmt","cursor_pos":3,"detail_level":0}`,
			`inspect_reply {"data":{"text/plain":"about 😀 f"},"found":true,"metadata":{},"status":"ok"}`, nil},
		{"shell", "inspect_request", `{"code":"fmt","detail_level":1}`,
			`inspect_reply {"data":{"text/plain":"about fmt, its source"},"found":true,"metadata":{},"status":"ok"}`, nil},
		{"shell", "inspect_request", `{"code":"nothing"}`,
			`inspect_reply {"data":{},"found":false,"metadata":{},"status":"ok"}`, nil},
	},
	"is_complete": {
		{"shell", "is_complete_request", `{"code":"x := 1"}`, `is_complete_reply {"status":"complete"}`, nil},
		{"shell", "is_complete_request", `{"code":"for {\nif x {"}`, `is_complete_reply {"indent":"\t\t","status":"incomplete"}`, nil},
	},
	"comms": {
		{"shell", "comm_info_request", `{"target_name":"kept"}`, `comm_info_reply {"comms":{},"status":"ok"}`, nil},
		{"shell", "comm_open", `{"comm_id":"c","target_name":"x","data":{}}`, "", []string{`comm_close {"comm_id":"c","data":{}}`}},
		{"shell", "comm_msg", `{"comm_id":"c","data":{}}`, "", []string{`comm_close {"comm_id":"c","data":{}}`}},
		{"shell", "comm_close", `{"comm_id":"c","data":{}}`, "", nil},
		{"shell", "comm_open", `{"comm_id":"k","target_name":"kept","data":{}}`, "", nil},
		{"shell", "comm_msg", `{"comm_id":"k","data":{"a":1}}`, "", []string{`comm_msg {"comm_id":"k","data":{"a":1}}`}},
		{"shell", "comm_msg", `{"comm_id":"k","data":"go"}`, "", []string{`comm_msg {"comm_id":"k","data":"go"}`,
			`update_display_data {"data":{"text/plain":"\"go\""},"metadata":{},"transient":{"display_id":"d"}}`}},
		{"shell", "comm_info_request", `{}`, `comm_info_reply {"comms":{"k":{"target_name":"kept"}},"status":"ok"}`, nil},
		{"shell", "comm_info_request", `{"target_name":"x"}`, `comm_info_reply {"comms":{},"status":"ok"}`, nil},
		{"shell", "comm_msg", `{"comm_id":5}`, "", nil},
		{"shell", "comm_msg", `{"comm_id":"k"}`, "", []string{`comm_msg {"comm_id":"k","data":{}}`}},
	},
	"debug": { // the cells program has the debugger
		{"control", "debug_request", `{"type":"request","seq":1,"command":"debugInfo"}`, `debug_reply {"request":"debugInfo","status":"ok"}`, nil},
		{"shell", "debug_request", `{"type":"request","seq":2,"command":"stop"}`, `debug_reply {"request":"stop","status":"ok"}`, nil},
		{"control", "debug_request", `{"command":"nonsense"}`, `debug_reply ` + wrong(`server: debug_request: the cells program answered "nonsense", expected a response of the protocol`), nil},
		{"control", "debug_request", `{"command":""}`, `debug_reply ` + wrong(`server: debug_request: the cells program answered "", expected a response of the protocol`), nil},
	},
	"unknown": {
		{"shell", "brew_request", `{}`, `brew_reply ` + wrong("server: brew_request: unknown"), nil},
		{"control", "brew_request", `{"x":[1]}`, `brew_reply ` + wrong("server: brew_request: unknown"), nil},
		{"shell", "brew", `{}`, "", nil},
		{"control", "execute_request", cell("print a"),
			strings.Replace(`execute_reply `+wrong("server: execute_request: came on control, expected on shell"), `,"status"`, `,"execution_count":0,"status"`, 1), nil},
	},
	"subshells": {
		{"control", "list_subshell_request", `{}`, `list_subshell_reply {"status":"ok","subshell_id":[]}`, nil},
		{"control", "delete_subshell_request", `{"subshell_id":"x"}`,
			`delete_subshell_reply ` + wrong(`server: subshell "x": unknown, list_subshell_request lists the subshells`), nil},
		{"control", "delete_subshell_request", `{}`,
			`delete_subshell_reply ` + wrong(`server: subshell "": unknown, list_subshell_request lists the subshells`), nil},
		{"shell", "create_subshell_request", `{}`,
			`create_subshell_reply ` + wrong("server: create_subshell_request: came on shell, expected on control"), nil},
	},
	"wrong types": {
		{"shell", "execute_request", `{"code":5}`,
			strings.Replace(`execute_reply `+wrong("server: execute_request: json: cannot unmarshal number into Go struct field executeRequest.code of type string"),
				`,"status"`, `,"execution_count":0,"status"`, 1), nil},
		{"shell", "execute_request", `{"code":"print a","extra":[1,{}]}`, ok(1),
			[]string{inputOf("print a", 1), `stream {"name":"stdout","text":"a"}`}},
	},
	"interrupt": {
		{"control", "interrupt_request", `{}`, `interrupt_reply {"status":"ok"}`, nil},
	},
}

var info = `kernel_info_reply {"banner":"warpbook 0.1.0: Go notebooks for GPU operator experiments, ` + runtime.Version() + `",` +
	`"debugger":true,"help_links":[{"text":"Go language","url":"https://go.dev/ref/spec"},` +
	`{"text":"Go standard library","url":"https://pkg.go.dev/std"},` +
	`{"text":"gonum plot","url":"https://pkg.go.dev/gonum.org/v1/plot"},` +
	`{"text":"PTX","url":"https://docs.nvidia.com/cuda/parallel-thread-execution/"}],` +
	`"implementation":"warpbook","implementation_version":"0.1.0",` +
	`"language_info":{"name":"go","version":"` + runtime.Version() + `","mimetype":"text/x-go","file_extension":".go","pygments_lexer":"go","codemirror_mode":"go"},` +
	`"protocol_version":"5.5","status":"ok","supported_features":["kernel subshells","debugger"]}`

func ok(count int) string {
	return fmt.Sprintf(`execute_reply {"execution_count":%d,"payload":[],"status":"ok","user_expressions":{}}`, count)
}

func failed(name, value, traceback string, count int) string {
	return fmt.Sprintf(`execute_reply {"ename":%q,"evalue":%q,"execution_count":%d,"status":"error","traceback":%s}`, name, value, count, traceback)
}

func wrong(value string) string {
	return fmt.Sprintf(`{"ename":"error","evalue":%q,"status":"error","traceback":[%q]}`, value, value)
}

func completed(start, end int) string {
	return fmt.Sprintf(`complete_reply {"cursor_end":%d,"cursor_start":%d,"matches":["Println"],`+
		`"metadata":{"_jupyter_types_experimental":[{"text":"Println","type":"func(a ...any)","signature":"func(a ...any)","start":%d,"end":%d}]},"status":"ok"}`,
		end, start, start, end)
}

func TestConversations(t *testing.T) {
	for name, turns := range conversations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t).connect()
			for _, turn := range turns {
				id := c.send(turn.channel, turn.request, turn.content)
				if turn.reply != "" {
					if got := c.reply(turn.channel, id); got != turn.reply {
						t.Errorf("reply to %s %s:\n\t%s\nwant\n\t%s", turn.request, turn.content, got, turn.reply)
					}
				}
				want := append(append([]string{busy}, turn.published...), idle)
				equal(t, "iopub after "+turn.request+" "+turn.content, c.published(id), want)
			}
		})
	}
}
