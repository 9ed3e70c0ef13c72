package inspect

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/mem"
)

// State is what a block of a launch left at its end, or at the fault of the launch: shared
// memory with the threads that wrote it, and a value of each thread per variable.
type State struct {
	Kernel string
	Block  gpu.Dim
	Size   gpu.Dim // of the block
	Fault  *gpu.Fault
	Shared []Array
	Values []Values

	sources bool // Values are variables of the source, else what each line stored
}

// Array is a variable in shared memory.
type Array struct {
	Name, Type string
	Offset     int // in the block's shared memory, in bytes
	Words      []Word
}

// Word is 4 bytes of shared memory.
type Word struct {
	Text    string // the elements that begin in it, "" if it was not written
	Written bool
	Thread  gpu.Dim // that wrote it last, if Line is not 0
	Line    int     // of the last write; 0 if an instruction without a thread wrote it, such as a bulk copy
	Writers int     // threads that have written it
}

// Bank is the number of the bank of the n-th word.
func (a Array) Bank(n int) int { return (a.Offset/4 + n) % banks }

const banks = 32

// Values are those of one variable in all threads of the block, in the order of the
// threads; "" where there is none.
type Values struct {
	Name, Type string
	Threads    []string
}

// Array is a variable in shared memory by its name.
func (s *State) Array(name string) (Array, error) {
	var names []string
	for _, a := range s.Shared {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Array{}, fmt.Errorf("inspect: shared memory %s of %s: %w, %s", name, s.Kernel, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// device is an emulator whose launches can be followed.
type device interface {
	gpu.Device
	Follow(engine.Follower)
}

// watches are the launches that Watch follows: one at a time.
var watches sync.Mutex

// Watch calls a function that launches kernels on an emulator, and returns what a block of
// the last launch left: the block that the caller names, else that of the fault, else the
// first. A fault is in the State and no error.
func Watch(dev gpu.Device, launch func() error, block ...gpu.Dim) (*State, error) {
	d, ok := dev.(device)
	if !ok {
		return nil, fmt.Errorf("inspect: watch: %w on %v: expected an emulator, such as device.MustOpen(\"emu\")", gpu.ErrUnsupported, dev.Info())
	}
	if len(block) > 1 {
		return nil, fmt.Errorf("inspect: watch: %w: %d blocks, expected at most one", gpu.ErrArgument, len(block))
	}
	watches.Lock()
	defer watches.Unlock()
	last := &lastLaunch{}
	d.Follow(last)
	err := func() error {
		defer d.Follow(nil)
		return launch()
	}()
	switch fault := (*gpu.Fault)(nil); {
	case err != nil && !errors.As(err, &fault):
		return nil, err
	case last.trail == nil:
		return nil, fmt.Errorf("inspect: watch: %w: the function launches nothing on %v", gpu.ErrArgument, dev.Info())
	}
	return stateOf(last.trail, block)
}

// lastLaunch keeps the last launch of a device.
type lastLaunch struct{ trail *engine.Trail }

func (f *lastLaunch) Follows([]string) bool     { return true }
func (f *lastLaunch) Begin(trail *engine.Trail) { f.trail = trail }
func (f *lastLaunch) Step(*engine.Stop)         {}

// stateOf repeats a launch and notes what a block writes.
func stateOf(trail *engine.Trail, block []gpu.Dim) (*State, error) {
	if ok, used, most := trail.Kept(); !ok {
		return nil, fmt.Errorf("inspect: watch: %w: the device has %d MB in use, and a launch is repeated with at most %d MB", gpu.ErrMemory, used>>20, most>>20)
	}
	if trail.End() == 0 {
		return nil, fmt.Errorf("inspect: watch: %w: the launch has executed no instruction", gpu.ErrArgument)
	}
	var wanted gpu.Dim
	if len(block) > 0 {
		wanted = block[0]
	} else if fault := trail.Fault(); fault != nil && fault.Block != nil {
		wanted = *fault.Block
	}
	w := &writes{block: wanted, by: map[uint64]write{}}
	trail.Replay(0, w.see)
	if w.state == nil {
		return nil, fmt.Errorf("inspect: watch: %w: the launch has no block %v, or a fault ended it before", gpu.ErrArgument, wanted)
	}
	return w.state, nil
}

// write is the last write of a word of shared memory.
type write struct {
	thread  gpu.Dim
	line    int
	threads map[gpu.Dim]bool
}

// writes notes what a block writes until its end.
type writes struct {
	block gpu.Dim
	by    map[uint64]write // of words in shared memory, by their offset / 4
	state *State

	stored []stored // by the instruction before, of code without names
}

// stored is a store whose value is not read yet.
type stored struct {
	engine.Access
	thread int
	name   string
	kind   string // of PTX
}

// see is called before each instruction.
func (w *writes) see(at *engine.Stop) bool {
	w.settle(at)
	if at.Block() != w.block {
		return true
	}
	if w.state == nil {
		w.begin(at)
	}
	if at.Fault != nil {
		w.state.Fault = at.Fault
		w.memory(at)
		for warp := range (w.state.Size.Size() + 31) / 32 {
			for lane := range 32 {
				if there, ok := at.Of(warp, lane); ok {
					w.values(there, lane)
				}
			}
		}
		return false
	}
	for _, a := range at.Accesses() {
		if a.Writes && isShared(a.Address) {
			w.note(at, a)
		}
		if src := at.Text(); a.Writes && !a.Private() && !w.state.sources && len(src.Modifiers) > 0 {
			_, line := at.Place()
			w.stored = append(w.stored, stored{a, at.Warp()*32 + a.Lane, fmt.Sprintf("stored at line %d", line), src.Modifiers[len(src.Modifiers)-1]})
		}
	}
	if at.Exits() {
		for lane := range 32 {
			if at.Executing()>>lane&1 == 1 {
				w.values(at, lane)
			}
		}
		w.memory(at) // the last one counts
	}
	return true
}

func (w *writes) begin(at *engine.Stop) {
	w.state = &State{Kernel: at.Entry(), Block: w.block, Size: at.Size().Full(), sources: New(at).Known()}
}

func (w *writes) note(at *engine.Stop, a engine.Access) {
	_, line := at.Place()
	thread := at.Thread(a.Lane)
	first := a.Address & mem.OffsetMask
	for word := first / 4; word*4 < first+uint64(a.Bytes); word++ {
		by := w.by[word]
		if by.threads == nil {
			by.threads = map[gpu.Dim]bool{}
		}
		by.thread, by.line = thread, line
		by.threads[thread] = true
		w.by[word] = by
	}
}

// memory keeps the shared memory at a stop.
func (w *writes) memory(at *engine.Stop) {
	w.state.Shared = nil
	v := New(at)
	v.Frame = len(v.calls) - 1
	for _, n := range v.Shared() {
		a := Array{Name: n.Name, Type: n.Value.TypeName(), Offset: int(n.Value.Address & mem.OffsetMask)}
		a.Words = make([]Word, (max(n.Value.Type.Size(), 0)+int64(a.Offset%4)+3)/4)
		v.fill(a, n.Value)
		for i := range a.Words {
			x := &a.Words[i]
			if by, ok := w.by[uint64(a.Offset/4+i)]; ok {
				x.Thread, x.Line, x.Writers = by.thread, by.line, len(by.threads)
			}
		}
		w.state.Shared = append(w.state.Shared, a)
	}
}

// fill writes the texts of the elements into the words that they begin in.
func (v *View) fill(a Array, x Value) {
	switch t := strip(x.Type).(type) {
	case *dwarf.ArrayType:
		for i := range max(t.Count, 0) {
			v.fill(a, element(x, t.Type, i))
		}
		return
	case *dwarf.StructType:
		for _, f := range t.Field {
			v.fill(a, field(x, f))
		}
		return
	}
	offset := int(x.Address & mem.OffsetMask)
	for word := offset / 4; word*4 < offset+int(x.Type.Size()); word++ {
		if n := word - a.Offset/4; n >= 0 && n < len(a.Words) {
			data, written := v.Stop.Read(v.Lane, x.Address, int(x.Type.Size()))
			if data == nil || !written {
				continue
			}
			w := &a.Words[n]
			if w.Written = true; word == offset/4 {
				if w.Text != "" {
					w.Text += " "
				}
				w.Text += v.scalar(x.Type, data)
			}
		}
	}
}

// values keeps the variables of a thread.
func (w *writes) values(at *engine.Stop, lane int) {
	v := New(at).On(lane)
	v = v.In(len(v.calls) - 1)
	if !v.Known() {
		return
	}
	for _, n := range v.Variables() {
		w.set(n.Name, n.Value.TypeName(), at.Warp()*32+lane, v.Text(n.Value))
	}
}

// set keeps the value of a thread.
func (w *writes) set(name, kind string, thread int, text string) {
	list := w.state.Values
	i := slices.IndexFunc(list, func(v Values) bool { return v.Name == name && v.Type == kind })
	if i < 0 {
		i = len(list)
		w.state.Values = append(list, Values{name, kind, make([]string, w.state.Size.Size())})
	}
	if threads := w.state.Values[i].Threads; thread < len(threads) {
		threads[thread] = text
	}
}

// types are those of numbers in PTX. One of bits is shown as a float, the most frequent.
var types = map[string]dwarf.Type{"f32": floatType, "f64": doubleType, "s32": intType, "u32": uintType, "s64": longType, "u64": ulongType, "b32": floatType, "b64": ulongType}

// settle reads what the instruction before has stored.
func (w *writes) settle(at *engine.Stop) {
	for _, s := range w.stored {
		t := types[s.kind]
		if t == nil || int(t.Size()) > s.Bytes {
			continue
		}
		if data, _ := at.Read(s.Lane, s.Address, int(t.Size())); data != nil {
			w.set(s.name, s.kind, s.thread, New(at).scalar(t, data))
		}
	}
	w.stored = w.stored[:0]
}
