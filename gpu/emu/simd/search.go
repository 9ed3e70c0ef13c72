package simd

import "unsafe"

// Search is the search for races in the shared memory of a block, as far as rows show that
// there is none. It logs the accesses that it has let pass; package engine replays the log
// when it needs the last accesses of each word.
type Search struct {
	Rows []Row
	Log  []Noted
	Used uint32 // bytes of the log
	Room uint32 // of all
}

// Row is the accesses to 32 bytes of shared memory in a phase, the time between two
// barriers of the block. It tells apart the threads of one warp whose lanes are a distance
// from the words that they access: lane (word + skew) % 32 is the own lane of a word.
type Row struct {
	Key     uint64 // the phase, then the skew and the warp, a byte each
	Read    uint32 // bytes that were read
	Written uint32 // bytes that were written
	Foreign uint32 // of both, bytes that not only their own lane has accessed
	_       [3]uint32
}

const (
	rowBytes = 32
	skewBits = 8      // below them is the warp
	noSkew   = 32     // of a row that no lane is the own lane of
	uneven   = 33     // of an access without a skew; a row never has it
	manyKey  = 0x20ff // of the accesses of several warps, below the phase: no skew
)

// Noted is an access in the log.
type Noted struct {
	Pattern uint32 // its number
	Base    uint32 // offset of the lowest active lane
	Stamp   Stamp
}

// Stamp is the time of an access, see package engine.
type Stamp struct{ Epoch, Time, All, Warp uint32 }

const (
	notedBytes = uint32(unsafe.Sizeof(Noted{}))
	logLength  = 4096
)

// NewSearch is the search in so many bytes.
func NewSearch(bytes int) *Search {
	return &Search{Rows: make([]Row, bytes/rowBytes+2), Log: make([]Noted, logLength), Room: logLength * notedBytes}
}

// Logged are the accesses in the log.
func (s *Search) Logged() []Noted { return s.Log[:s.Used/notedBytes] }

// Full reports whether the log has no place.
func (s *Search) Full() bool { return s.Used >= s.Room }

// Pass notes an access whose lowest lane has an offset, if surely no earlier access of the
// phase races with it. If it returns false, the rows and the log no longer count in this
// phase, unless the log is full. Assembly does the same.
func (s *Search) Pass(p *Pattern, base, key uint64, stamp Stamp) bool {
	if s.Full() || p.First == Clash {
		return false
	}
	same := key | uneven<<skewBits
	if p.First >= 0 {
		same = key | uint64(uint32(p.First)-uint32(base>>2))%32<<skewBits
	}
	store := p.Marks != 0
	for i, bits := range p.Bits[:p.Covered] {
		r := &s.Rows[int(base>>5)+int(p.Words[i])]
		own := r.Key == same
		switch {
		case own:
		case r.Key>>32 != same>>32:
			if own = p.First >= 0; own {
				*r = Row{Key: same}
			} else {
				*r = Row{Key: key | noSkew<<skewBits}
			}
		case byte(r.Key) != byte(same):
			r.Key, r.Foreign = r.Key>>32<<32|manyKey, r.Read|r.Written
		}
		race := r.Written
		switch {
		case own && store:
			race = r.Foreign
		case own:
			race &= r.Foreign
		case store:
			race |= r.Read
		}
		if race&bits != 0 {
			return false
		}
		if store {
			r.Written |= bits
		} else {
			r.Read |= bits
		}
		if !own {
			r.Foreign |= bits
		}
	}
	s.Log[s.Used/notedBytes] = Noted{p.Number, uint32(base), stamp}
	s.Used += notedBytes
	return true
}
