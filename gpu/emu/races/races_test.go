package races

import "testing"

// judge counts what a search asks it.
type judge struct{ races, kept int }

func (j *judge) Hazard(_, _ *Mark, _ uint64) bool        { j.races++; return false }
func (j *judge) Strong(pc uint32) bool                   { return pc == strongPC }
func (j *judge) Keeps(uint64, Seen, Seen) bool           { j.kept++; return false }
func (j *judge) SameValue(uint64, Seen, Seen)            {}
func (j *judge) Race(uint64, Seen, Seen, bool, Relation) { j.races++ }
func (j *judge) NoRoom()                                 {}

const strongPC = 7

// offsets are those of 32 lanes that access the words from one on.
func offsets(from uint64) *[32]uint64 {
	var at [32]uint64
	for l := range at {
		at[l] = from + 4*uint64(l)
	}
	return &at
}

// Two warps that access the same words of shared memory race until a barrier orders them,
// unless both read.
func TestShared(t *testing.T) {
	store, load := Access{Bytes: 4, Stores: true}, Access{Bytes: 4, Reads: true}
	for _, c := range []struct {
		first, second Access
		barrier       bool
		races         int
	}{
		{store, load, false, 32}, {load, store, false, 32}, {store, store, false, 32}, {load, load, false, 0},
		{store, load, true, 0}, {load, store, true, 0},
	} {
		r, j := NewShared(false, 256, 2), &judge{}
		r.Start()
		r.Only = true
		c.second.Warp = 1
		r.Access(c.first, offsets(0), 1<<32-1, j)
		if c.barrier {
			r.Warps.MeetAll()
		}
		r.Access(c.second, offsets(0), 1<<32-1, j)
		r.Access(c.second, offsets(128), 1<<32-1, j) // other words
		if j.races != c.races {
			t.Errorf("%+v, then %+v, barrier %v: %d races, expected %d", c.first, c.second, c.barrier, j.races, c.races)
		}
	}
}

// An atomic of shared memory races with a plain access and not with a volatile one.
func TestAtomic(t *testing.T) {
	for pc, races := range map[int32]int{0: 1, strongPC: 0} {
		r, j := NewShared(false, 256, 2), &judge{}
		r.Start()
		r.Access(Access{PC: pc, Bytes: 4, Reads: true, Strong: pc == strongPC}, offsets(0), 1, j)
		r.Atomic(Access{Warp: 1, Bytes: 4}, offsets(0), 1, j)
		if j.races != races {
			t.Errorf("instruction %d: %d races, expected %d", pc, j.races, races)
		}
	}
}

// A block that fences and then counts orders its stores before the loads of a block that
// counts at the same address after it. Without the fence they race.
func TestGlobal(t *testing.T) {
	const counter = 1 << 16
	for _, fenced := range []bool{false, true} {
		g, j := NewGlobal(), &judge{}
		g.Start(true, false, 1<<20)
		parties := [2]Party{{Team: NewTeam(1), At: 1}, {Team: NewTeam(1), At: 2}}
		count := Access{PC: strongPC, Bytes: 4, Strong: true}
		g.Access(&parties[0], Access{Bytes: 4, Stores: true}, 0, offsets(0), 1, j)
		if fenced {
			g.Fence(&parties[0], true)
		}
		for i := range parties {
			g.Access(&parties[i], count, counter, offsets(0), 1, j)
		}
		if g.Access(&parties[1], Access{PC: 1, Bytes: 4, Reads: true}, 0, offsets(0), 1, j); (j.races == 0) != fenced {
			t.Errorf("fence %v: %d races", fenced, j.races)
		}
	}
}
