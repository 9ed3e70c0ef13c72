//go:build linux

package program

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"warpbook/gpu/program/wire"
)

// unwaited are the bytes of memory of both sides that work has changed and that the host has
// not waited for, and the reads of them by the host. The library of the program closes the
// first pages of such memory, and says which the host reads. A read is reported when the host
// waits for the next time, because only then it is known that the host did not write its page.
type unwaited struct {
	changes []change
	reads   []read
	joined  map[uint64]bool // streams that have waited for others
}

// change are bytes that work has changed.
type change struct {
	from, to uint64   // addresses
	bits     []uint64 // a bit for each byte; all have changed if it is nil
	stream   uint64
	legacy   int    // pieces of work in the legacy stream before
	here     uint64 // of the call that gave the work
	what     string
}

// read is a read of a change by the host.
type read struct {
	change
	address uint64
	place   string
}

// closedBytes is how much of an allocation the library closes, and so is compared.
const closedBytes = 16 * pageBytes

const pageBytes = 4096

// mostChanges bounds the changes that are kept. The later ones are dropped.
const mostChanges = 1 << 10

// publishes reports whether a kernel tells the host about its writes while it runs: by fences
// and atomics of the whole system, or by volatile stores. One that calls functions has the code
// of its whole source.
func publishes(ptx, name string) bool {
	if _, rest, found := strings.Cut(ptx, ".entry "+name+"("); found {
		if body, _, _ := strings.Cut(rest, "\n}"); !strings.Contains(body, "call") {
			ptx = body
		}
	}
	if strings.Contains(ptx, ".sys") {
		return true
	}
	for more := true; more; {
		if _, ptx, more = strings.Cut(ptx, "st.volatile."); more && !strings.HasPrefix(ptx, "shared") {
			return true
		}
	}
	return false
}

// before copies the memory of both sides that a launch is given. The function that it returns
// notes what the launch has changed.
func (s *server) before(k *kernel, args []byte, stream, here uint64) (after func()) {
	type part struct {
		address  uint64
		now, old []byte
	}
	var parts []part
	for at := 0; at+8 <= len(args); at += 8 {
		i, _ := s.memory.search(binary.LittleEndian.Uint64(args[at:]))
		if i < 0 || s.memory.list[i].heap == 0 || k.publishes {
			continue
		}
		a := s.memory.list[i]
		now := a.shared[:min(len(a.shared), closedBytes)]
		if !slices.ContainsFunc(parts, func(p part) bool { return p.address == a.address }) {
			parts = append(parts, part{a.address, now, bytes.Clone(now)})
		}
	}
	if parts == nil {
		return func() {}
	}
	return func() {
		for _, p := range parts {
			s.unwaited.differ(p.address, p.old, p.now, change{stream: stream, legacy: s.streams.legacy, here: here, what: "the launch"})
		}
	}
}

// differ notes the bytes that differ, if any do.
func (u *unwaited) differ(address uint64, old, now []byte, c change) {
	for i := range now {
		if old[i] == now[i] {
			continue
		}
		if c.bits == nil {
			c.from, c.to, c.bits = address, address+uint64(len(now)), make([]uint64, (len(now)+63)/64)
		}
		c.bits[i/64] |= 1 << (i % 64)
	}
	if c.bits != nil {
		u.add(c)
	}
}

// has reports whether any of some bytes has changed.
func (c *change) has(address, bytes uint64) bool {
	for at := max(address, c.from); at < min(address+bytes, c.to); at++ {
		if i := at - c.from; c.bits == nil || c.bits[i/64]>>(i%64)&1 != 0 {
			return true
		}
	}
	return false
}

func (u *unwaited) add(c change) {
	if len(u.changes) < mostChanges {
		u.changes = append(u.changes, c)
	}
}

// arrived notes a copy to memory of both sides.
func (s *server) arrived(m wire.Message) {
	s.unwaited.add(change{from: m.Value(0), to: m.Value(0) + m.Value(1), stream: m.Value(2), legacy: s.streams.legacy, here: m.Here, what: "the copy"})
}

// read notes that the host reads an address, if it has been changed. After a fault no wait
// succeeds, and none is asked for.
func (s *server) read(m wire.Message) {
	if s.sticky != 0 {
		return
	}
	u, address := &s.unwaited, m.Value(0)
	for _, c := range u.changes {
		if !c.has(address, m.Value(1)) {
			continue
		}
		crash := wire.Crash{}
		for i := range crash.Places {
			crash.Places[i] = m.Value(2 + i)
		}
		u.reads = append(u.reads, read{c, address, s.report.crashPlace(crash)})
		return
	}
}

// wrote drops the reads of pages that the host has written meanwhile.
func (u *unwaited) wrote(m wire.Message) {
	u.reads = slices.DeleteFunc(u.reads, func(r read) bool {
		page := (r.address - m.Value(0)) / pageBytes
		return page < closedBytes/pageBytes && m.Value(1)>>page&1 != 0
	})
}

// waited reports the reads before a wait of the host, and forgets what it has waited for: what
// came before in the stream, in the legacy stream, and before work of the legacy stream for
// which the stream has waited, or everything where the stream has waited for others.
func (s *server) waited(what, stream uint64) {
	u := &s.unwaited
	switch what {
	case wire.MakeStream:
		return
	case wire.WaitEvent:
		if u.joined == nil {
			u.joined = map[uint64]bool{}
		}
		u.joined[stream] = true
		return
	}
	for _, r := range u.reads {
		s.report.unwaited(r, s.memory.nameAt(r.address))
	}
	u.reads = nil
	all, legacy := what != wire.HostStream || stream <= perThreadStream || u.joined[stream], 0
	if q := s.streams.queues[stream]; q != nil && !q.apart {
		legacy = q.legacy
	}
	u.changes = slices.DeleteFunc(u.changes, func(c change) bool {
		return all || c.stream <= perThreadStream || c.stream == stream || c.legacy < legacy
	})
}

// unwaited reports a read of the host.
func (r *reporter) unwaited(x read, memory string) {
	by := x.what
	if place := r.place(x.here); place != "" {
		by += " at " + place
	}
	r.say("%sadvice: the host reads memory %s, which %s writes, and has not waited for it: call cudaDeviceSynchronize() before", before(x.place), memory, by)
}

// nameAt names the memory that an address lies in.
func (m *memory) nameAt(address uint64) string {
	if i, _ := m.search(address); i >= 0 {
		return m.list[i].name
	}
	return "that was freed"
}
