package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
)

// This file is what the threads of a launch print.

// printed is the output of a launch, in the order of its blocks. Within a block it has
// the order in which its threads ran; in a warp, lane by lane.
type printed struct {
	mu      sync.Mutex
	blocks  []printedBlock // guarded by mu
	bytes   int            // guarded by mu
	dropped int            // calls that did not fit; guarded by mu
}

type printedBlock struct {
	number int
	text   []byte
}

// mostPrinted bounds the output of a launch. A GPU keeps as much by default, and
// overwrites the oldest.
const mostPrinted = 1 << 20

// add appends what a thread prints to the text of its block, if there is room for it.
func (p *printed) add(block []byte, text string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes += len(text); p.bytes > mostPrinted {
		p.dropped++
		return block
	}
	return append(block, text...)
}

// keep adds the output of a block that has ended.
func (p *printed) keep(number int, text []byte) {
	if len(text) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks = append(p.blocks, printedBlock{number, text})
}

// flush writes everything, when all blocks have ended.
func (p *printed) flush(to io.Writer) {
	slices.SortStableFunc(p.blocks, func(a, b printedBlock) int { return cmp.Compare(a.number, b.number) })
	var all bytes.Buffer
	for _, b := range p.blocks {
		all.Write(b.text)
	}
	if p.dropped > 0 {
		fmt.Fprintf(&all, "(%d more calls of printf, beyond %d bytes of a launch)\n", p.dropped, mostPrinted)
	}
	if all.Len() > 0 {
		to.Write(all.Bytes()) // errors of the writer are ignored, as fmt.Print callers do
	}
}
