package server

import (
	"context"
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

// execute answers with the count also where the content makes no sense.
func execute(c *call) (any, error) {
	var q executeRequest
	if err := json.Unmarshal(c.request.Content, &q); err != nil {
		return &executeReply{ExecutionCount: c.server.counted()}, fmt.Errorf("server: execute_request: %w", err)
	}
	return c.execute(q)
}

// execute runs a cell and, when that went well, the user expressions.
func (c *call) execute(q executeRequest) (*executeReply, error) {
	s := c.server
	if c.shell.failure.aborts(c) {
		return &executeReply{Status: "aborted", ExecutionCount: s.counted()}, nil
	}
	number, count := 0, s.counted()
	if unless(q.StoreHistory, true) && !q.Silent {
		count = int(s.count.Add(1))
		number = count
		s.parents.add(number, c.request.RawHeader)
	}
	reply := &executeReply{ExecutionCount: count, Payload: []any{}}
	if !q.Silent {
		c.opening = []publication{{"execute_input", executeInput{q.Code, count}}}
	}
	result, err := c.run(number, q, reply)
	if number > 0 {
		text, _ := result.Data["text/plain"].(string)
		s.past.add(number, q.Code, text)
		c.remembered = true
	}
	if err == nil {
		reply.UserExpressions = c.expressions(q)
		return reply, nil
	}
	reply.Payload = nil
	if !q.Silent {
		c.publish("error", asError(err))
	}
	if unless(q.StopOnError, true) {
		c.shell.failure.at = time.Now()
	}
	return reply, err
}

// counted is the number of the last cell.
func (s *Server) counted() int { return int(s.count.Load()) }

// run runs the code, or answers the question that it is.
func (c *call) run(number int, q executeRequest, reply *executeReply) (frame.Event, error) {
	if name, ok := question(q.Code); ok {
		c.begin()
		page, err := c.page(name)
		if err == nil {
			reply.Payload = append(reply.Payload, page)
		}
		return frame.Event{}, err
	}
	done, err := c.evaluate(number, q.Code, q)
	if err == nil && len(done.Data) > 0 && !q.Silent {
		c.publish("execute_result", executeResult{displayOf(done), reply.ExecutionCount})
	}
	if err == nil && done.Next != "" {
		reply.Payload = append(reply.Payload, nextInput{"set_next_input", done.Next, true})
	}
	return done, err
}

// evaluate runs code in the cells program, as the cell of that number; 0 is for
// code that has none. An error of the code is an error here too.
func (c *call) evaluate(number int, code string, q executeRequest) (frame.Event, error) {
	defer c.server.input.end(c)
	done, err := c.server.cells.Execute(context.Background(), code, number, func(e frame.Event) {
		c.output(e, q.Silent, unless(q.AllowStdin, true))
	})
	if err == nil && done.Error != nil {
		err = done.Error
	}
	return done, err
}

// expressions evaluates the user expressions, each on its own.
func (c *call) expressions(q executeRequest) map[string]any {
	results := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(q.UserExpressions)) {
		done, err := c.evaluate(0, q.UserExpressions[name], q)
		if err != nil {
			results[name] = outcome(nil, err)
		} else {
			results[name] = outcome(displayOf(done), nil)
		}
	}
	return results
}
