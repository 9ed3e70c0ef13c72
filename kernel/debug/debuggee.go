package debug

// Debuggee is the code that a session stops: Go cells, or kernels on the emulator.
type Debuggee interface {
	// Lines are the lines of a source at which it stops, in order; nil if they are unknown
	// before the source runs, or if the source is not the debuggee's.
	Lines(source string) []int

	// Watch replaces what the debuggee stops at. It may be called at any time.
	Watch(w Watch)

	// Globals are the variables that exist without a stop, if this is the debuggee that has
	// them.
	Globals() []Variable

	// Find evaluates an expression over the globals.
	Find(expression string) (Variable, error)
}

// Watch says where a debuggee calls Session.Reach.
type Watch struct {
	On     bool               // a client is attached: new code must be able to stop
	Lines  map[string]LineSet // by path of the source: lines with breakpoints
	Panics Panics             // at these panics, before they unwind
	Faults bool               // at faults of kernels
	NaNs   bool               // where a kernel makes a NaN
	Data   []DataPoint        // at accesses of data
	Pause  bool               // at the next line of any thread
	Step   *Step              // at the line where a step ends
}

// DataPoint is a breakpoint at accesses of a variable, by the Data that its debuggee gave
// it.
type DataPoint struct {
	Data  string
	Reads bool // at reads, too
}

// Panics are kinds of panics.
type Panics struct{ All, Uncaught bool }

// Has reports whether a panic is of these kinds.
func (p Panics) Has(caught bool) bool { return p.All || p.Uncaught && !caught }

// LineSet are lines with breakpoints. The value says that one of them stops by a
// condition only.
type LineSet map[int]Conditional

// Conditional is true if a breakpoint has a condition.
type Conditional bool

// Has reports whether a line has a breakpoint.
func (s LineSet) Has(line int) bool {
	_, has := s[line]
	return has
}

// Step is a step of one thread from a stop.
type Step struct {
	From *Stop
	Kind StepKind
}

// StepKind is the kind of a step.
type StepKind int

const (
	Over StepKind = iota
	In
	Out
)

// Reason is why a debuggee has come to a line that it reports.
type Reason string

// The reasons of stops, by their names in the protocol.
const (
	AtBreakpoint Reason = "breakpoint"
	AtStep       Reason = "step"
	AtPause      Reason = "pause"
	AtException  Reason = "exception"
	AtData       Reason = "data breakpoint"
)

// Stop is a place at which a thread may stop. It is valid until Reach returns.
type Stop struct {
	Thread int
	Name   string // of the thread
	Reason Reason
	Text   string // of an exception
	Frames []Frame
	hits   []int // ids of the breakpoints that stop it
	State  any   // of the debuggee, for the end of a step

	// Beside are the threads that stand still at the stop, nil if there are none.
	Beside func() []Beside

	// Back is the stop that lies before this one, nil where the debuggee has no past. Line
	// says that it is the line before, not the breakpoint before.
	Back func(line bool) (*Stop, error)

	// Forward is the stop in the past to which a step leads, or with a nil step the next
	// breakpoint; nil if the thread must go on for that. It is nil of a stop at present.
	Forward func(step *StepKind) *Stop
}

// Frame is a call that has not returned. The first of a stop is the innermost.
type Frame struct {
	Name   string
	Path   string // of the source
	Line   int
	Scopes []Scope

	// Evaluate evaluates an expression in the frame.
	Evaluate func(expression string) (Variable, error)

	// Holds reports whether a condition holds. It is nil where Evaluate tells.
	Holds func(condition string) (bool, error)

	// Copy gives the session a variable with the value of one of the frame, nil where that
	// is impossible.
	Copy func(from, to string) error
}

// Scope is a group of the variables of a frame.
type Scope struct {
	Name      string
	Expensive bool
	Variables func() []Variable
}

// Variable is a value with a name.
type Variable struct {
	Name, Type, Value string
	Path              string // the expression that evaluates to it, "" if there is none

	// Children are the parts of a composite value, nil if it has none.
	Children func() []Variable
	Parts    int // number of parts that have an index, for clients that fetch them in pages

	// Set assigns the value of an expression, nil where that is impossible.
	Set func(expression string) error

	// True reports whether it is a boolean that is true.
	True bool

	// Data names its place for breakpoints at accesses, "" if it has none.
	Data string
}
