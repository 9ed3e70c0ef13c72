package engine

import (
	"time"

	"warpbook/gpu"
)

// Stop is a warp before an instruction, or after one that failed. It is valid during a call
// of Step.
type Stop struct {
	NewLine bool       // the instruction is the first of a line
	Fault   *gpu.Fault // that the instruction has caused, or found

	warp *warp
	mask uint32
	in   *instr
	pc   int32
	time uint64
}

// Time is the number of instructions that fragments of the launch's warps came to before.
// It is the same in each repetition.
func (s *Stop) Time() uint64 { return s.time }

// Entry is the name of the kernel.
func (s *Stop) Entry() string { return s.warp.block.prog.name }

// Place is the file and the line of the source.
func (s *Stop) Place() (file string, line int) {
	p := s.warp.block.prog
	at := p.lineOf(s.in)
	if at.File == 0 && len(p.files) == 0 {
		return p.file, at.Line
	}
	return p.files[at.File], at.Line
}

// Instruction is the text of the next instruction's name, and its line of the PTX.
func (s *Stop) Instruction() (name string, line int) { return s.in.src.Name(), s.in.src.Pos.Line }

// Block is the index of the block, Warp the number of the warp in it.
func (s *Stop) Block() gpu.Dim { return s.warp.block.at }

func (s *Stop) Warp() int { return s.warp.index }

// Grid and Size are the shape of the launch.
func (s *Stop) Grid() gpu.Dim { return s.warp.block.launch.grid }

func (s *Stop) Size() gpu.Dim { return s.warp.block.launch.block }

// Active are the lanes that execute the instruction; Alive those that have not exited.
func (s *Stop) Active() uint32 { return s.mask }

func (s *Stop) Alive() uint32 { return s.warp.alive }

// Thread is the index of a lane's thread in its block.
func (s *Stop) Thread(lane int) gpu.Dim { return s.warp.block.thread(s.warp.index*32 + lane) }

// AfterBarrier reports whether the instruction before was a barrier of the block.
func (s *Stop) AfterBarrier() bool {
	return s.pc > 0 && s.warp.block.prog.code[s.pc-1].flow == blockSync
}

// Others are the places of the other warps of the block that have not exited: the line
// of the source, and whether the warp waits at a barrier.
func (s *Stop) Others() (list []Other) {
	b := s.warp.block
	for _, w := range b.warps {
		for i := range w.frags {
			if w == s.warp && w.frags[i].mask == s.mask {
				continue
			}
			f := &w.frags[i]
			at, waits := f.pc, f.state == atBarrier
			if waits {
				at--
			}
			list = append(list, Other{Warp: w.index, Lanes: f.mask, Line: b.prog.standsIn(at), Waits: waits})
		}
	}
	return list
}

// standsIn is the line at which a fragment stands.
func (p *Program) standsIn(pc int32) int {
	in := &p.code[pc]
	if in.src == nil || len(p.files) == 0 {
		return p.lineOf(in).Line
	}
	return p.near(in.src).Source.Line
}

// Other is a part of a warp.
type Other struct {
	Warp  int
	Lanes uint32
	Line  int
	Waits bool // at a barrier
}

// Arguments are the parameters of the kernel and their bytes.
func (s *Stop) Arguments() (list []Argument) {
	l := s.warp.block.launch
	for i, v := range l.prog.params {
		list = append(list, Argument{Name: v.Name, Type: string(v.Type), Bytes: l.params[l.prog.paramAt[i]:][:v.Bytes()]})
	}
	return list
}

// Argument is a parameter of a kernel, or a variable in shared memory.
type Argument struct {
	Name, Type string
	At         uint64 // of a variable: its offset
	Bytes      []byte
}

// ParamNames are the names of the parameters in the source, nil if they are not known.
func (s *Stop) ParamNames() []string {
	if l := s.warp.block.launch; l.source != nil {
		return l.source.Params
	}
	return nil
}

// Shared are the variables in shared memory and their bytes, which must not be changed.
func (s *Stop) Shared() (list []Argument) {
	b := s.warp.block
	for _, v := range b.prog.shared {
		data := b.shared.Data
		list = append(list, Argument{Name: v.name, At: v.at, Bytes: data[min(v.at, uint64(len(data))):min(v.at+v.bytes, uint64(len(data)))]})
	}
	return list
}

// SharedBytes is the size of the block's shared memory, dynamic memory included.
func (s *Stop) SharedBytes() int { return s.warp.block.sharedBytes() }

// Operands are the registers of the next instruction, with a value for each lane: its
// sources, as they are, and its destinations, as they were.
func (s *Stop) Operands() (list []Operand) {
	w := s.warp
	for _, o := range w.block.prog.operands[s.pc] {
		if o.guard {
			continue
		}
		x := Operand{Destination: o.def, Wide: o.double, Predicate: o.predicate}
		switch {
		case o.predicate:
			for l := range x.Lanes {
				x.Lanes[l] = uint64(w.preds[o.at] >> l & 1)
			}
		case o.double:
			x.Lanes = *lanes[uint64](w, o.at)
		default:
			for l, v := range lanes[uint32](w, o.at) {
				x.Lanes[l] = uint64(v)
			}
		}
		list = append(list, x)
	}
	return list
}

// Operand is a register of a warp.
type Operand struct {
	Destination, Wide, Predicate bool
	Lanes                        [32]uint64
}

// pollInterrupts is how often a stopped launch looks for an interrupt.
const pollInterrupts = 20 * time.Millisecond

// Interrupted is closed when the launch is interrupted. done must be called once.
func (s *Stop) Interrupted() (interrupted <-chan struct{}, done func()) {
	l, c, end := s.warp.block.launch, make(chan struct{}), make(chan struct{})
	go func() {
		for tick := time.NewTicker(pollInterrupts); ; {
			select {
			case <-end:
				tick.Stop()
				return
			case <-tick.C:
				if l.engine.interrupts.Load() != l.epoch {
					close(c)
					tick.Stop()
					return
				}
			}
		}
	}()
	return c, func() { close(end) }
}
