package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"warpbook/kernel/frame"
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

// execution is a cell that is being answered.
type execution struct {
	*call
	q      executeRequest
	number int // among the cells of all shells; 0: it is not counted
	reply  *executeReply
	finish func(any, error)
}

// execute answers with the count also where the content makes no sense.
func execute(c *call, finish func(any, error)) {
	x := &execution{call: c, reply: &executeReply{ExecutionCount: c.shell.counted()}, finish: finish}
	if err := json.Unmarshal(c.request.Content, &x.q); err != nil {
		finish(x.reply, fmt.Errorf("server: execute_request: %w", err))
		return
	}
	if c.shell.failure.aborts(c) {
		x.reply.Status = "aborted"
		finish(x.reply, nil)
		return
	}
	x.count()
	x.run()
}

// count gives the cell its number.
func (x *execution) count() {
	q, s := x.q, x.server
	if unless(q.StoreHistory, true) && !q.Silent {
		x.reply.ExecutionCount = int(x.shell.count.Add(1))
		x.number = frame.CellNumber(x.shell.place, x.reply.ExecutionCount)
		s.parents.add(x.number, x.call.request.RawHeader)
	}
	x.reply.Payload = []any{}
	if !q.Silent {
		x.opening = []publication{{"execute_input", executeInput{q.Code, x.reply.ExecutionCount}}}
	}
}

// run has the code run, or the question answered that it is, and waits for neither.
func (x *execution) run() {
	if name, ok := question(x.q.Code); ok {
		x.begin()
		go func() {
			page, err := x.page(name)
			if err == nil {
				x.reply.Payload = append(x.reply.Payload, page)
			}
			x.ended(frame.Event{}, err)
		}()
		return
	}
	x.evaluate(x.number, x.q.Code, func(done frame.Event, err error) {
		if err == nil && len(done.Data) > 0 && !x.q.Silent {
			x.publish("execute_result", executeResult{displayOf(done), x.reply.ExecutionCount})
		}
		if err == nil && done.Next != "" {
			x.reply.Payload = append(x.reply.Payload, nextInput{"set_next_input", done.Next, true})
		}
		x.ended(done, err)
	})
}

// evaluate runs code in the cells program, as the cell of that number; 0 is for
// code that has none. An error of the code is an error to then, too.
func (x *execution) evaluate(number int, code string, then func(frame.Event, error)) {
	err := x.server.cells.Begin(code, number, func(e frame.Event) {
		x.output(e, x.q.Silent, unless(x.q.AllowStdin, true))
	}, func(done frame.Event) {
		x.server.input.end(x.call)
		if done.Error != nil {
			then(done, done.Error)
			return
		}
		then(done, nil)
	})
	if err != nil {
		then(frame.Event{}, err)
	}
}

// ended is told how the code ended. The user expressions, which wait for one
// another, hold up nobody.
func (x *execution) ended(done frame.Event, err error) {
	if x.number > 0 {
		text, _ := done.Data["text/plain"].(string)
		x.server.past.add(x.shell.place, x.reply.ExecutionCount, x.q.Code, text)
	}
	switch {
	case err != nil:
		x.failed(err)
	case len(x.q.UserExpressions) > 0:
		go func() {
			x.reply.UserExpressions = x.expressions()
			x.finish(x.reply, nil)
		}()
	default:
		x.reply.UserExpressions = map[string]any{}
		x.finish(x.reply, nil)
	}
}

func (x *execution) failed(err error) {
	x.reply.Payload = nil
	if !x.q.Silent {
		x.publish("error", asError(err))
	}
	if unless(x.q.StopOnError, true) {
		x.shell.failure.at = time.Now()
	}
	x.finish(x.reply, err)
}

// expressions evaluates the user expressions, each on its own.
func (x *execution) expressions() map[string]any {
	results := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(x.q.UserExpressions)) {
		evaluated := make(chan json.RawMessage, 1)
		x.evaluate(0, x.q.UserExpressions[name], func(done frame.Event, err error) {
			if err != nil {
				evaluated <- outcome(nil, err)
			} else {
				evaluated <- outcome(displayOf(done), nil)
			}
		})
		results[name] = <-evaluated
	}
	return results
}
