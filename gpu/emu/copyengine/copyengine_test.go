package copyengine

import (
	"bytes"
	"testing"

	"warpbook/gpu/emu/mem"
)

// A copy of lane 0 ends with the wait for its group, and not with that for the group before.
func TestAsyncGroups(t *testing.T) {
	var a Async
	c := a.Start(3, 1, 4)
	a.Pend(c)
	a.Commit(1)
	wait := func(n uint64) (ended uint32) {
		a.Complete(func(c *Copy) uint32 { return a.Before(c, 1, n) }, func(_ *Copy, lanes uint32) { ended |= lanes })
		return ended
	}
	if ended := wait(1); ended != 0 || a.Filling(0, 4) != c {
		t.Errorf("lanes %#x ended, copy %v under way, expected the copy to be in the last group", ended, a.Filling(0, 4))
	}
	if ended := wait(0); ended != 1 || a.Filling(0, 4) != nil {
		t.Errorf("lanes %#x ended, copy %v under way, expected its end", ended, a.Filling(0, 4))
	}
}

// A tile that is put with a swizzle is taken back with the same one.
func TestSwizzle(t *testing.T) {
	tile := make([]byte, 1024)
	for i := range tile {
		tile[i] = byte(i / 16)
	}
	for _, span := range []int{0, 32, 64, 128} {
		memory := mem.Wrap(make([]byte, 1024))
		memory.Written = make(mem.Bitmap, 32)
		(&Fill{Data: tile, Swizzle: span}).Put(memory)
		if moved := !bytes.Equal(memory.Data, tile); moved != (span != 0) || !bytes.Equal(Take(memory.Data, 0, 1024, span), tile) {
			t.Errorf("span %d: bytes moved: %v, or not taken back", span, moved)
		}
	}
}

// A sum of the copy engine adds to what is there, element by element.
func TestReduction(t *testing.T) {
	to := []byte{255, 0, 0, 0, 1, 0, 0, 0}
	NewReduction("add", "u32", true).Apply(to, []byte{1, 0, 5, 0, 2, 0, 0, 0})
	if want := []byte{0, 1, 5, 0, 3, 0, 0, 0}; !bytes.Equal(to, want) {
		t.Errorf("%v, expected %v", to, want)
	}
	if TensorReduction("add", "s8") != nil {
		t.Error("a reduction of s8, which the copy engine has not")
	}
}
