package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/split"
)

type executeRequest struct {
	Code            string            `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"` // absent: unless silent
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      *bool             `json:"allow_stdin"`   // absent: true
	StopOnError     *bool             `json:"stop_on_error"` // absent: true
}

type executeReply struct {
	Status          string         `json:"status,omitempty"` // set if aborted
	ExecutionCount  int            `json:"execution_count"`
	UserExpressions map[string]any `json:"user_expressions,omitzero"`
	Payload         []any          `json:"payload,omitzero"` // of page and nextInput
}

func (r *executeReply) conclusion() string { return r.Status }

// nextInput is a text that the client puts in place of the cell.
type nextInput struct {
	Source  string `json:"source"`
	Text    string `json:"text"`
	Replace bool   `json:"replace"`
}

type executeInput struct {
	Code           string `json:"code"`
	ExecutionCount int    `json:"execution_count"`
}

type executeResult struct {
	display
	ExecutionCount int `json:"execution_count"`
}

func unless(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

// phase is the progress of an execution.
type phase int

const (
	announced  phase = iota // it has a number; the cells program does not have it yet
	running                 // the cells program has it: its events are published
	evaluating              // the cell has ended well; its user expressions are evaluated in turn
	ended                   // it is answered
)

// execution is a cell that is being answered, as a state machine: announced -> running
// -> evaluating -> ended; it can end in every phase. It has one owner at a time: the
// goroutine that calls start, then the goroutine that delivers the cells program's
// answer, and between answers a goroutine that runs next.
type execution struct {
	*call
	q      executeRequest
	phase  phase
	number int // among the cells of all shells; 0: the cell is not counted
	reply  *executeReply
	finish func(any, error)
	names  []string // user expressions still to evaluate
}

// execute replies with the count, also when the content is invalid.
func execute(c *call, finish func(any, error)) {
	x := &execution{call: c, reply: &executeReply{ExecutionCount: c.shell.counted()}, finish: finish}
	if err := json.Unmarshal(c.request.Content, &x.q); err != nil {
		x.end(fmt.Errorf("server: execute_request: %w", err))
		return
	}
	if c.shell.failure.aborts(c) {
		x.reply.Status = "aborted"
		x.end(nil)
		return
	}
	x.announce()
	x.start()
}

// announce gives the cell its number.
func (x *execution) announce() {
	q, s := x.q, x.server
	if unless(q.StoreHistory, true) && !q.Silent {
		x.reply.ExecutionCount = int(x.shell.count.Add(1))
		x.number = cellproto.CellNumber(x.shell.place, x.reply.ExecutionCount)
	}
	x.reply.Payload = []any{}
	if !q.Silent {
		s.parents.set(x.shell.place, x.call.request.RawHeader)
		x.opening = []publication{{msgType: "execute_input", content: executeInput{q.Code, x.reply.ExecutionCount}}}
	}
}

// start runs the cell, or answers it if it is a question. It does not wait.
func (x *execution) start() {
	x.phase = running
	if name, ok := split.Question(x.q.Code); ok {
		x.begin()
		go func() {
			page, err := x.page(name)
			if err == nil {
				x.reply.Payload = append(x.reply.Payload, page)
			}
			x.stop(cellproto.Event{}, err)
		}()
		return
	}
	x.run(cellproto.Request{Code: x.q.Code, Cell: x.number, Silent: x.q.Silent, Place: x.place()}, func(done cellproto.Event, err error) {
		if err == nil && len(done.Data) > 0 && !x.q.Silent {
			x.publish("execute_result", executeResult{displayOf(done), x.reply.ExecutionCount})
		}
		if err == nil && done.Next != "" {
			x.reply.Payload = append(x.reply.Payload, nextInput{"set_next_input", done.Next, true})
		}
		x.stop(done, err)
	})
}

// place is the client's name of the cell, as JupyterLab gives it; "" if there is none. A
// silent cell has none: it replaces no output.
func (x *execution) place() string {
	var m struct {
		ID string `json:"cellId"`
	}
	if x.q.Silent || json.Unmarshal(x.request.Metadata, &m) != nil {
		return ""
	}
	return m.ID
}

// run sends code to the cells program. answered receives the end, with an error of the
// code as an error.
func (x *execution) run(r cellproto.Request, answered func(cellproto.Event, error)) {
	r.Shell = x.shell.place
	err := x.server.cells.Begin(r, func(e cellproto.Event) {
		x.output(e, x.q.Silent, unless(x.q.AllowStdin, true))
	}, func(done cellproto.Event) {
		x.server.input.end(x.call)
		if done.Error != nil {
			answered(done, done.Error)
			return
		}
		answered(done, nil)
	})
	if err != nil {
		answered(cellproto.Event{}, err)
	}
}

// stop ends the running phase.
func (x *execution) stop(done cellproto.Event, err error) {
	if x.number > 0 {
		text, _ := done.Data["text/plain"].(string)
		x.server.past.add(x.shell.place, x.reply.ExecutionCount, x.q.Code, text)
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.phase = evaluating
	x.reply.UserExpressions = map[string]any{}
	x.names = slices.Sorted(maps.Keys(x.q.UserExpressions))
	x.next()
}

// next evaluates the next user expression, or ends. An error of one expression is its
// own result.
func (x *execution) next() {
	if len(x.names) == 0 {
		x.end(nil)
		return
	}
	name := x.names[0]
	x.names = x.names[1:]
	go x.run(cellproto.Request{Code: x.q.UserExpressions[name], Silent: true}, func(done cellproto.Event, err error) { // an answer must not wait for a call of the client
		if err != nil {
			x.reply.UserExpressions[name] = outcome(nil, err)
		} else {
			x.reply.UserExpressions[name] = outcome(displayOf(done), nil)
		}
		x.next()
	})
}

// fail ends a cell whose code failed.
func (x *execution) fail(err error) {
	x.reply.Payload = nil
	err = styled(asError(err))
	if !x.q.Silent {
		x.publish("error", err)
	}
	if unless(x.q.StopOnError, true) {
		x.shell.failure = failureOf(x.call)
	}
	x.end(err)
}

// end answers the request, at most once.
func (x *execution) end(err error) {
	if x.phase == ended {
		x.server.debugf("server: execution %d: ended twice", x.number)
		return
	}
	x.phase = ended
	x.finish(x.reply, err)
}
