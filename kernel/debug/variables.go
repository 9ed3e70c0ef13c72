package debug

import (
	"fmt"

	"github.com/google/go-dap"
)

// inspect lists the globals, whether the debugger has started or not.
func (s *Session) inspect() any {
	list := s.debuggees[0].Globals()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halted == nil { // nothing else has references then
		s.references.clear()
	}
	return dap.VariablesResponseBody{Variables: s.describe(list)}
}

// describe makes the variables of the protocol. The caller holds mu.
func (s *Session) describe(list []Variable) []dap.Variable {
	out := []dap.Variable{}
	for _, v := range list {
		d := dap.Variable{Name: v.Name, Value: v.Value, Type: v.Type, EvaluateName: v.Path, IndexedVariables: v.Parts}
		if v.Children != nil {
			d.VariablesReference = s.references.add(v)
		}
		out = append(out, d)
	}
	return out
}

// list are the variables of a reference.
func (s *Session) list(reference int) ([]Variable, error) {
	s.mu.Lock()
	x := s.references.of[reference]
	s.mu.Unlock()
	switch x := x.(type) {
	case Variable:
		return x.Children(), nil
	case func() []Variable:
		return x(), nil
	}
	return nil, fmt.Errorf("debug: variables: reference %d is of an earlier stop", reference)
}

func (s *Session) variables(q dap.VariablesArguments) (any, error) {
	list, err := s.list(q.VariablesReference)
	if err != nil {
		return nil, err
	}
	list = list[min(max(q.Start, 0), len(list)):]
	if q.Count > 0 {
		list = list[:min(q.Count, len(list))]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return dap.VariablesResponseBody{Variables: s.describe(list)}, nil
}

func (s *Session) setVariable(q dap.SetVariableArguments) (any, error) {
	list, err := s.list(q.VariablesReference)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if v.Name != q.Name {
			continue
		}
		if v.Set == nil {
			return nil, fmt.Errorf("debug: setVariable: %s: it cannot be assigned", q.Name)
		}
		if err := v.Set(q.Value); err != nil {
			return nil, fmt.Errorf("debug: setVariable: %s: %w", q.Name, err)
		}
		return s.assigned(q)
	}
	return nil, fmt.Errorf("debug: setVariable: %s: no such variable", q.Name)
}

// newValue is the body of the reply to an assignment. The protocol's type leaves out a
// reference of 0, which clients get from ipykernel.
type newValue struct {
	Value              string `json:"value"`
	Type               string `json:"type"`
	VariablesReference int    `json:"variablesReference"`
}

// assigned is the reply to an assignment, with the value that the variable has now.
func (s *Session) assigned(q dap.SetVariableArguments) (any, error) {
	list, err := s.list(q.VariablesReference)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range list {
		if v.Name == q.Name {
			d := s.describe([]Variable{v})[0]
			return newValue{d.Value, d.Type, d.VariablesReference}, nil
		}
	}
	return nil, fmt.Errorf("debug: setVariable: %s: it is gone", q.Name)
}

// find evaluates an expression in a frame, or over the globals where nothing is stopped.
func (s *Session) find(expression string, frame int) (Variable, error) {
	f, err := s.frame(frame)
	switch {
	case err == nil:
		return f.Evaluate(expression)
	case frame == 0:
		return s.debuggees[0].Find(expression)
	}
	return Variable{}, err
}

func (s *Session) evaluate(q dap.EvaluateArguments) (any, error) {
	v, err := s.find(q.Expression, q.FrameId)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.describe([]Variable{v})[0]
	return dap.EvaluateResponseBody{Result: d.Value, Type: d.Type, VariablesReference: d.VariablesReference, IndexedVariables: d.IndexedVariables}, nil
}

// richInspect shows a variable in full.
func (s *Session) richInspect(name string, frame int) (any, error) {
	v, err := s.find(name, frame)
	if err != nil {
		return nil, err
	}
	text := v.Value
	if v.Children != nil {
		text = v.Type
		for _, part := range v.Children() {
			text += "\n    " + part.Name + ": " + part.Value
		}
	}
	return map[string]any{"data": map[string]string{"text/plain": text}, "metadata": struct{}{}}, nil
}

// copyToGlobals gives the session a variable with the value of one of a frame.
func (s *Session) copyToGlobals(from, to string, frame int) (any, error) {
	f, err := s.frame(frame)
	if err != nil {
		return nil, err
	}
	if f.Copy == nil {
		return nil, fmt.Errorf("debug: copyToGlobals: %s: a kernel's variable is none of the session", from)
	}
	if err := f.Copy(from, to); err != nil {
		return nil, fmt.Errorf("debug: copyToGlobals: %w", err)
	}
	v, err := s.debuggees[0].Find(to)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.describe([]Variable{v})[0]
	return newValue{d.Value, d.Type, d.VariablesReference}, nil
}
