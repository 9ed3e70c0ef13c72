package debug

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-dap"
)

// Session is the conversation with the clients of one kernel, which share it. Its
// methods may be called from any goroutine.
type Session struct {
	sources   Sources
	emit      func(event string)
	debuggees []Debuggee

	turn chan struct{} // holds a value while a stop is announced: others wait

	mu         sync.Mutex // guards the fields below; not held while the debuggee is called
	started    bool
	seq        int               // of events
	code       map[string]string // sources that a client has shown, by path
	breaks     map[string][]*breakpoint
	exceptions map[string]bool // filters that are set
	data       []DataPoint
	watched    []DataPoint   // by the console
	waiting    map[int]*Stop // threads that have come to a stop while another one is stopped
	pausing    bool
	step       *Step
	halted     *halt
	references references

	watching sync.Mutex // held while the debuggee gets a Watch, so that the last is the newest
}

// halt is the stop that clients have been told of.
type halt struct {
	*Stop
	frames []int // ids
	fresh  int   // how many answers of stackTrace have new ids, see show
	resume chan struct{}
}

// NewSession makes a session. emit takes an event of the protocol as JSON and must not
// block.
func NewSession(sources Sources, emit func(event string)) *Session {
	return &Session{
		sources: sources, emit: emit, turn: make(chan struct{}, 1),
		code: map[string]string{}, breaks: map[string][]*breakpoint{}, waiting: map[int]*Stop{},
	}
}

// Attach gives the session what it stops. It is called once, before the first request.
// The first has the globals.
func (s *Session) Attach(d ...Debuggee) { s.debuggees = d }

// Path is the name of a source.
func (s *Session) Path(code string) string { return s.sources.Path(code) }

// Handle answers a request of the protocol, both as JSON.
func (s *Session) Handle(text string) string {
	m, err := codec.DecodeMessage([]byte(text))
	r, is := m.(dap.RequestMessage)
	if err != nil || !is {
		return s.malformed(text, err)
	}
	q := r.GetRequest()
	a := &reply{Response: dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, RequestSeq: q.Seq, Command: q.Command, Success: true}}
	body, err := s.guarded(r)
	if err != nil {
		a.Success, a.Message, body = false, err.Error(), struct{}{}
	}
	a.Body = body
	s.mu.Lock()
	s.seq++
	a.Seq = s.seq
	s.mu.Unlock()
	return encode(a)
}

// guarded answers a request. The goroutines of the debuggee that are not stopped may
// change a value while the answer reads it: a slice gets shorter, an interface is half
// written. Such a request fails, and the debuggee goes on.
func (s *Session) guarded(r dap.RequestMessage) (body any, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			body, err = nil, fmt.Errorf("debug: %s: the value changed while it was read: %v", r.GetRequest().Command, v)
		}
	}()
	return s.answer(r)
}

// malformed refuses a text that is no request of the protocol.
func (s *Session) malformed(text string, err error) string {
	var head struct {
		Seq     int    `json:"seq"`
		Command string `json:"command"`
	}
	fact := "expected a request of the Debug Adapter Protocol"
	if bad := json.Unmarshal([]byte(text), &head); bad != nil {
		fact += ": " + bad.Error()
	} else if err != nil {
		fact = err.Error()
	}
	return encode(&reply{Body: struct{}{}, Response: dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"},
		RequestSeq: head.Seq, Command: head.Command, Message: "debug: " + fact}})
}

// answer is the body of the reply to a request.
func (s *Session) answer(m dap.RequestMessage) (any, error) {
	switch q := m.(type) {
	case *debugInfoRequest:
		return s.info(), nil
	case *inspectVariablesRequest:
		return s.inspect(), nil
	case *richInspectVariablesRequest:
		return s.richInspect(q.Arguments.Name, q.Arguments.Frame)
	case *dap.ModulesRequest:
		return s.modules(), nil
	case *dap.VariablesRequest:
		return s.variables(q.Arguments)
	case *dap.InitializeRequest:
		return s.initialize(), nil
	}
	if !s.isStarted() {
		return nil, fmt.Errorf("debug: %s: the debugger has not started, send initialize first", m.GetRequest().Command)
	}
	switch q := m.(type) {
	case *dap.AttachRequest:
		s.tell("initialized", nil) // clients configure breakpoints now
		return struct{}{}, nil
	case *dap.ConfigurationDoneRequest:
		return struct{}{}, nil
	case *dap.DisconnectRequest, *dap.TerminateRequest:
		s.Disconnect()
		return struct{}{}, nil
	case *dumpCellRequest:
		return s.dump(q.Arguments.Code), nil
	case *dap.SourceRequest:
		return s.source(q.Arguments)
	case *dap.SetBreakpointsRequest:
		return s.setBreakpoints(q.Arguments)
	case *dap.SetExceptionBreakpointsRequest:
		return s.setExceptions(q.Arguments)
	case *dap.DataBreakpointInfoRequest:
		return s.dataInfo(q.Arguments)
	case *dap.SetDataBreakpointsRequest:
		return s.setData(q.Arguments)
	case *dap.ThreadsRequest:
		return dap.ThreadsResponseBody{Threads: s.threads()}, nil
	case *dap.PauseRequest:
		return s.pause()
	}
	return s.answerStopped(m)
}

// answerStopped answers the requests that concern a stop.
func (s *Session) answerStopped(m dap.RequestMessage) (any, error) {
	switch q := m.(type) {
	case *dap.StackTraceRequest:
		return s.stackTrace(q.Arguments)
	case *dap.ScopesRequest:
		return s.scopes(q.Arguments.FrameId)
	case *dap.SetVariableRequest:
		return s.setVariable(q.Arguments)
	case *dap.EvaluateRequest:
		return s.evaluate(q.Arguments)
	case *copyToGlobalsRequest:
		return s.copyToGlobals(q.Arguments.Source, q.Arguments.Destination, q.Arguments.Frame)
	case *dap.ContinueRequest:
		return dap.ContinueResponseBody{AllThreadsContinued: true}, s.resume(nil)
	case *dap.NextRequest:
		return struct{}{}, s.stepTo(Over, q.Arguments.ThreadId)
	case *dap.StepInRequest:
		return struct{}{}, s.stepTo(In, q.Arguments.ThreadId)
	case *dap.StepOutRequest:
		return struct{}{}, s.stepTo(Out, q.Arguments.ThreadId)
	case *dap.StepBackRequest:
		return struct{}{}, s.back(true)
	case *dap.ReverseContinueRequest:
		return struct{}{}, s.back(false)
	}
	return nil, fmt.Errorf("debug: %s: this debugger does not have the request", m.GetRequest().Command)
}

func (s *Session) isStarted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

func (s *Session) initialize() dap.Capabilities {
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	s.watch()
	return dap.Capabilities{
		SupportsConfigurationDoneRequest:  true,
		SupportsConditionalBreakpoints:    true,
		SupportsHitConditionalBreakpoints: true,
		SupportsLogPoints:                 true,
		SupportsEvaluateForHovers:         true,
		SupportsSetVariable:               true,
		SupportsModulesRequest:            true,
		SupportsStepBack:                  true,
		SupportsDataBreakpoints:           true,
		ExceptionBreakpointFilters:        filters,
	}
}

// Disconnect ends the session of the clients, and lets stopped code go on.
func (s *Session) Disconnect() {
	s.mu.Lock()
	s.started, s.exceptions, s.data, s.watched, s.pausing, s.step = false, nil, nil, nil, false, nil
	clear(s.breaks)
	s.mu.Unlock()
	if s.resume(nil) != nil { // nothing is stopped
		s.watch()
	}
}

// Idle tells the session that no code runs: a step or a pause that has not ended ends.
func (s *Session) Idle() {
	s.mu.Lock()
	busy := s.step != nil || s.pausing
	s.step, s.pausing = nil, false
	s.mu.Unlock()
	if busy {
		s.watch()
	}
}

func (s *Session) info() debugInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := debugInfo{
		IsStarted: s.started, HashMethod: "Murmur2", HashSeed: s.sources.Seed, TmpFilePrefix: s.sources.Prefix, TmpFileSuffix: s.sources.Suffix,
		Breakpoints: s.listBreakpoints(), StoppedThreads: []int{}, RichRendering: true, ExceptionPaths: []string{"Panics"}, CopyToGlobals: true,
	}
	if s.halted != nil {
		info.StoppedThreads = append(info.StoppedThreads, s.halted.Thread)
	}
	return info
}

func (s *Session) dump(code string) any {
	path := s.Path(code)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code[path] = code
	return map[string]string{"sourcePath": path}
}

// Ran keeps the source of a cell that runs, for clients that show its frames.
func (s *Session) Ran(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code[s.Path(code)] = code
}

func (s *Session) source(q dap.SourceArguments) (any, error) {
	if q.Source == nil {
		return nil, fmt.Errorf("debug: source: no source is named")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	code, ok := s.code[q.Source.Path]
	if !ok {
		return nil, fmt.Errorf("debug: source: %s: no cell of this session has that source", q.Source.Path)
	}
	return dap.SourceResponseBody{Content: code, MimeType: "text/x-go"}, nil
}

// modules are the sources of cells that the session knows, named by their first lines.
func (s *Session) modules() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []dap.Module{}
	for i, path := range slices.Sorted(maps.Keys(s.code)) {
		first, _, _ := strings.Cut(strings.TrimSpace(s.code[path]), "\n")
		list = append(list, dap.Module{Id: i + 1, Name: first, Path: path})
	}
	return dap.ModulesResponseBody{Modules: list, TotalModules: len(list)}
}

// tell emits an event.
func (s *Session) tell(name string, body any) {
	s.mu.Lock()
	s.seq++
	e := event{Event: dap.Event{ProtocolMessage: dap.ProtocolMessage{Seq: s.seq, Type: "event"}, Event: name}, Body: body}
	s.mu.Unlock()
	s.emit(encode(e))
}
