//go:build !js

package engine

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/races"
)

// This file compares copies and the clearing of buffers with work in other streams. They are
// kept as ranges of addresses, not by words. Each counts as a write of other values.

// Transfer is a copy or the clearing of a buffer. Memory of the host is not compared.
type Transfer struct {
	What        string // "Copy"
	Write, Read Range
}

// Range are bytes of an allocation; none if it is nil.
type Range struct {
	Memory       *mem.Allocation
	Start, Bytes int
}

// streamTransfer is a range that a transfer has accessed.
type streamTransfer struct {
	stream   uint32
	number   uint64
	what     string
	from, to uint64 // addresses
	writes   bool
}

// mostTransfers bounds the transfers that are kept. Beyond it all work is forgotten.
const mostTransfers = 1 << 12

// list are the ranges of a transfer with its place.
func (t Transfer) list(o *Order) (ranges []streamTransfer) {
	for _, r := range []Range{t.Read, t.Write} {
		if r.Memory != nil && r.Bytes > 0 {
			from := r.Memory.Address() + uint64(r.Start)
			ranges = append(ranges, streamTransfer{o.Stream, o.Number, t.What, from, from + uint64(r.Bytes), r == t.Write})
		}
	}
	return ranges
}

// Transfer compares a transfer with work in other streams, and prints a warning of a race.
// The caller holds the lock that launches hold.
func (s *Streams) Transfer(o *Order, t Transfer) {
	if o == nil {
		return
	}
	s.begin(o)
	ranges := t.list(o)
	if s.hasUnordered(o) {
		for _, r := range ranges {
			s.compareTransfer(o, r)
		}
	}
	s.latest[o.Stream] = o.Number
	if s.transfers = append(s.transfers, ranges...); len(s.transfers) > mostTransfers {
		s.forget()
	}
}

// compareTransfer looks for the first race of a range.
func (s *Streams) compareTransfer(o *Order, r streamTransfer) {
	for _, old := range s.transfers {
		if old.number > o.Before[old.stream] && (old.writes || r.writes) && old.from < r.to && r.from < old.to {
			s.warnTransfer(r, max(old.from, r.from), old.hazard(r), old.what, "", "the "+old.what)
			return
		}
	}
	for number, page := range s.words.Known {
		first := number * races.PageItems * 4
		if first >= r.to || first+races.PageItems*4 <= r.from {
			continue
		}
		for i := range page {
			at := first + uint64(i)*4
			if at < r.from&^3 || at >= r.to {
				continue
			}
			w := &page[i]
			befores := []streamAccess{w.write, w.strong}
			if r.writes {
				befores = append(befores, w.read, w.other)
			}
			for k, before := range befores {
				by := s.sites[before.site()]
				if before.bytes()&races.BytesOf(at, r.from, r.to-r.from) == 0 || by.number <= o.Before[by.stream] {
					continue
				}
				old := streamTransfer{writes: k < 2}
				s.warnTransfer(r, max(at, r.from), old.hazard(r), by.prog.name, " with "+by.in.src.Name()+" at "+by.prog.shortPlace(by.in), "the launch of "+by.prog.name)
				return
			}
		}
	}
}

// hazard is the kind of a race of a later access with this one.
func (t streamTransfer) hazard(later streamTransfer) [2]string {
	switch {
	case !later.writes:
		return [2]string{"read-after-write", "wrote"}
	case t.writes:
		return [2]string{"write-after-write", "wrote"}
	}
	return [2]string{"write-after-read", "read"}
}

// shortPlace is the line of an instruction, of the source if it is known.
func (p *Program) shortPlace(in *instr) string {
	if at := p.sourceOrCall(in); at != "" {
		return at
	}
	return fmt.Sprintf("%s:%d", p.file, in.src.Pos.Line)
}

// warnTransfer warns of a race that a transfer has with earlier work, once for two of their
// kind.
func (s *Streams) warnTransfer(r streamTransfer, at uint64, hazard [2]string, by, with, work string) {
	a := s.engine.memory.Allocations()[at>>mem.WindowBits]
	key := [2]any{work + with, r.what + a.Name()}
	if s.warned[key] {
		return
	}
	s.warn(key)
	f := &gpu.Fault{Kind: gpu.ErrRace, Entry: r.what, Detail: fmt.Sprintf("%s hazard on byte %d of %s: %s %s it in another stream%s, and nothing orders the two, which a GPU may run at the same time: record an event after %s, and let this stream wait for it before the %s",
		hazard[0], at&mem.OffsetMask, a.Name(), by, hazard[1], with, work, r.what)}
	s.engine.warn(f)
}

// transfersAside are the transfers that a launch is not ordered with.
func (s *Streams) transfersAside(o *Order) (aside []streamTransfer) {
	for _, t := range s.transfers {
		if t.number > o.Before[t.stream] {
			aside = append(aside, t)
		}
	}
	return aside
}

// compareTransfers looks for a race on a word with transfers.
func (l *streamLaunch) compareTransfers(first *streamRace, g *races.Global, aside []streamTransfer, word uint64, w *races.Word) {
	if first.found && first.word <= word {
		return
	}
	for _, t := range aside {
		if 4*word+4 <= t.from || 4*word >= t.to {
			continue
		}
		look := func(now races.Seen, kind, did string) {
			if bytes := now.Bytes & races.BytesOf(4*word, t.from, t.to-t.from); !now.None() && bytes != 0 && !(first.found && first.word <= word) {
				*first = streamRace{found: true, word: word, bytes: bytes, transfer: t.what, event: *g.Event(now), lane: now.Lane(), kind: kind, did: did}
			}
		}
		for _, now := range w.Reads {
			if t.writes {
				look(now, "read-after-write", "wrote")
			}
		}
		for _, now := range w.Writes {
			if t.writes {
				look(now, "write-after-write", "wrote")
			} else {
				look(now, "write-after-read", "read")
			}
		}
	}
}
