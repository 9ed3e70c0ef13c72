//go:build cells

package main

import (
	"os"
	"sync"
	"time"

	"warpbook/kernel/frame"
)

// What a goroutine prints whose cell does not own the pipes is gathered, so
// that many lines make few frames.
const (
	gatherTime  = time.Millisecond
	gatherBytes = 64 << 10
)

// printed is the output of all cells. That of the owner goes through the pipes,
// in order with what else is written there; that of others in frames of their
// own. Nobody owns the pipes between cells: the session empties them before a
// cell is answered, so nothing of a cell is taken for the next one's.
type printed struct {
	emit func(frame.Event)

	pipes sync.RWMutex // guards owner; held shared while its output is written
	owner uint64

	mu       sync.Mutex // guards what follows, and is held while it is sent
	gathered []piece
	bytes    int
	timer    *time.Timer // will send it; nil: nothing is gathered
}

// piece is what a cell printed on one stream without a break.
type piece struct {
	cell uint64
	name string
	text []byte
}

// goesOn says whether what a cell prints next belongs to the piece: it is the
// last, or ends in half a character.
func (g piece) goesOn(cell uint64, name string, last bool) bool {
	return g.cell == cell && g.name == name && (last || frame.Incomplete(g.text) > 0)
}

// own gives the pipes to a cell.
func (p *printed) own(cell uint64) {
	p.pipes.Lock()
	defer p.pipes.Unlock()
	p.owner = cell
}

// disown ends a cell: the pipes are nobody's if they were its, and what it
// printed is on its way.
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

// write takes what a goroutine of a cell prints; 0 is a cell that is not known.
func (p *printed) write(cell uint64, name string, text []byte) (int, error) {
	p.pipes.RLock()
	defer p.pipes.RUnlock()
	if cell != 0 && cell != p.owner {
		p.gather(cell, name, text)
		return len(text), nil
	}
	if name == "stderr" {
		return os.Stderr.Write(text)
	}
	return os.Stdout.Write(text)
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

// flush sends what is gathered.
func (p *printed) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.send(0)
}

// send is flush with mu held. What ends in half a character waits for the rest
// of it, but for that of the cell that ends.
func (p *printed) send(ends uint64) {
	var rest []piece
	for _, g := range p.gathered {
		whole := len(g.text)
		if g.cell != ends {
			whole -= frame.Incomplete(g.text)
		}
		if whole > 0 {
			p.emit(frame.Event{ID: g.cell, Type: frame.Stream, Name: g.name, Text: string(g.text[:whole])})
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
