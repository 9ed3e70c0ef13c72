//go:build cells

package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"warpbook/kernel/cellproto"
)

// Prints of cells that do not own the pipes are gathered, so that many lines make few
// frames.
const (
	gatherTime  = time.Millisecond
	gatherBytes = 64 << 10
)

// printed is the output of all cells. The output of a goroutine that outlives its cell
// counts as that of the cell that shows names. The owner's output goes through the pipes, in
// order with everything else written there; the output of other cells goes in frames.
// The pipes have no owner between cells: cellproc empties them before a cell is
// answered, so no output of a cell counts as the next cell's.
type printed struct {
	emit           func(cellproto.Event)
	deliver        func(cellproto.Event)    // is emit, and returns when the event is delivered
	shows          func(cell uint64) uint64 // returns the cell that shows the output of a cell
	stdout, stderr *os.File                 // cells get other descriptors and may close them

	pipes sync.RWMutex // guards owner; held shared while output is written or gathered
	owner uint64

	mu       sync.Mutex // guards the fields below; held while they are sent
	gathered []piece
	bytes    int
	timer    *time.Timer // will send the gathered output; nil: nothing is gathered
	framed   bool        // output has gone in frames since a cell got the pipes
}

// piece is consecutive output of one cell on one stream.
type piece struct {
	cell uint64
	name string
	text []byte
}

// goesOn reports whether further output of the cell belongs to this piece: the piece is
// the last, or ends in an incomplete character.
func (g piece) goesOn(cell uint64, name string, last bool) bool {
	return g.cell == cell && g.name == name && (last || cellproto.Incomplete(g.text) > 0)
}

// own gives the pipes to a cell. What goes through them may overtake a frame: if goroutines
// have printed in frames, these are delivered first.
func (p *printed) own(cell uint64) {
	p.pipes.Lock()
	defer p.pipes.Unlock()
	if p.flushed() {
		p.deliver(cellproto.Event{ID: cell, Type: cellproto.Stream})
	}
	p.owner = cell
}

// flushed sends the gathered output, and reports whether output has gone in frames since
// the call before.
func (p *printed) flushed() (framed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.send(0)
	framed, p.framed = p.framed, false
	return framed
}

// disown ends a cell: it releases the pipes if the cell owned them, and sends the
// cell's gathered output.
func (p *printed) disown(cell uint64) {
	p.pipes.Lock()
	if p.owner == cell {
		p.owner = 0
	}
	p.pipes.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.send(cell)
}

// write takes output of a cell's goroutine; id 0 is an unknown cell.
func (p *printed) write(cell uint64, name string, text []byte) (int, error) {
	p.pipes.RLock()
	defer p.pipes.RUnlock()
	if cell != 0 && cell != p.owner {
		cell = p.shows(cell)
	}
	if cell != 0 && cell != p.owner {
		p.gather(cell, name, text)
		return len(text), nil
	}
	if name == "stderr" {
		return p.stderr.Write(text)
	}
	return p.stdout.Write(text)
}

func (p *printed) gather(cell uint64, name string, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := len(p.gathered) - 1
	for at >= 0 && !p.gathered[at].goesOn(cell, name, at == len(p.gathered)-1) {
		at--
	}
	if at < 0 {
		p.gathered = append(p.gathered, piece{cell: cell, name: name})
		at = len(p.gathered) - 1
	}
	p.gathered[at].text = append(p.gathered[at].text, text...)
	p.bytes += len(text)
	switch {
	case p.bytes >= gatherBytes:
		p.send(0)
	case p.timer == nil:
		p.timer = time.AfterFunc(gatherTime, p.flush)
	}
}

// flush sends the gathered output.
func (p *printed) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.send(0)
}

// send is flush with mu held. A piece that ends in an incomplete character waits for
// the rest of the character, except a piece of the cell that ends.
func (p *printed) send(ends uint64) {
	var rest []piece
	for _, g := range p.gathered {
		whole := len(g.text)
		if g.cell != ends {
			whole -= cellproto.Incomplete(g.text)
		}
		if whole > 0 {
			p.framed = true
			p.emit(cellproto.Event{ID: g.cell, Type: cellproto.Stream, Name: g.name, Text: string(g.text[:whole])})
		}
		if whole < len(g.text) {
			rest = append(rest, piece{g.cell, g.name, g.text[whole:]})
		}
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.gathered, p.bytes, p.timer = rest, 0, nil
}

// newPrinted gives cells an os.Stdout and an os.Stderr on other descriptors. A cell
// that closes one loses no print, and no file of a cell gets the number 1 or 2, to
// which the runtime and compiled code write.
func newPrinted(emit, deliver func(cellproto.Event), shows func(uint64) uint64) (*printed, error) {
	p := &printed{emit: emit, deliver: deliver, shows: shows, stdout: os.Stdout, stderr: os.Stderr}
	for number, f := range map[int]**os.File{1: &os.Stdout, 2: &os.Stderr} {
		fd, err := duplicate(number)
		if err != nil {
			return nil, fmt.Errorf("cells: copy %s: %w", (*f).Name(), err)
		}
		*f = os.NewFile(uintptr(fd), (*f).Name())
	}
	return p, nil
}
