package debug

import (
	"fmt"
	"strings"

	"github.com/google/go-dap"
)

// dataInfo names the place of a variable, or of an expression, for setDataBreakpoints.
func (s *Session) dataInfo(q dap.DataBreakpointInfoArguments) (any, error) {
	var found Variable
	if q.VariablesReference == 0 {
		v, err := s.find(q.Name, q.FrameId)
		if err != nil {
			return nil, err
		}
		found = v
	} else {
		list, err := s.list(q.VariablesReference)
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			if v.Name == q.Name {
				found = v
			}
		}
	}
	if found.Data == "" {
		return dap.DataBreakpointInfoResponseBody{Description: q.Name + " has no place in the memory of a kernel"}, nil
	}
	return dap.DataBreakpointInfoResponseBody{DataId: found.Data, Description: found.Data, AccessTypes: []dap.DataBreakpointAccessType{"write", "readWrite"}}, nil
}

// mostData is how many data breakpoints there may be: each instruction compares them.
const mostData = 100

// WatchData adds a data breakpoint of the console, which stays when a client sets its own.
func (s *Session) WatchData(p DataPoint) error {
	s.mu.Lock()
	if len(s.data)+len(s.watched) >= mostData {
		s.mu.Unlock()
		return fmt.Errorf("debug: %d data breakpoints, expected at most %d: end some", mostData, mostData)
	}
	s.watched = append(s.watched, p)
	s.mu.Unlock()
	s.watch()
	return nil
}

// Unwatch ends the data breakpoints of the console and returns their number.
func (s *Session) Unwatch() int {
	s.mu.Lock()
	n := len(s.watched)
	s.watched = nil
	s.mu.Unlock()
	s.watch()
	return n
}

// setData replaces the data breakpoints.
func (s *Session) setData(q dap.SetDataBreakpointsArguments) (any, error) {
	if len(q.Breakpoints) > mostData {
		return nil, fmt.Errorf("debug: setDataBreakpoints: %d breakpoints, at most %d", len(q.Breakpoints), mostData)
	}
	var list []DataPoint
	answers := []dap.Breakpoint{}
	for i, b := range q.Breakpoints {
		answer := dap.Breakpoint{Id: i + 1, Verified: true}
		switch {
		case strings.TrimSpace(b.DataId) == "":
			answer.Verified, answer.Message = false, "no data is named, expected the id of dataBreakpointInfo"
		case b.Condition != "" || b.HitCondition != "":
			answer.Verified, answer.Message = false, "a data breakpoint has no condition here"
		default:
			list = append(list, DataPoint{b.DataId, b.AccessType == "readWrite" || b.AccessType == "read"})
		}
		answers = append(answers, answer)
	}
	s.mu.Lock()
	s.data = list
	s.mu.Unlock()
	s.watch()
	return dap.SetDataBreakpointsResponseBody{Breakpoints: answers}, nil
}
