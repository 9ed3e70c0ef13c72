package mem

import "testing"

// TestSettle fills memory, clears the mark of a byte and fills it again: the memory is
// whole exactly while every byte is marked as written.
func TestSettle(t *testing.T) {
	const bytes = 100 // the last word of the bitmap is used in part
	c := newContents(bytes)
	whole := func(want bool, when string) {
		t.Helper()
		if c.Settle(); c.Whole.Load() != want {
			t.Errorf("%s: whole is %v, expected %v", when, !want, want)
		}
	}
	whole(false, "new")
	c.Written.SetRange(0, bytes-1)
	whole(false, "all but the last byte written")
	c.Written.Set(bytes-1, 1)
	whole(true, "written")
	c.Unwrite(40, 0xf)
	whole(false, "four bytes forgotten")
	if at, ok := c.Written.FirstUnset(0, bytes); ok || at != 40 {
		t.Errorf("the first byte that was not written is %d, expected 40", at)
	}
	c.Written.Set(40, 0xf)
	whole(true, "written again")
	c.UnwriteRange(0, 1)
	whole(false, "the first byte forgotten")
	c.Written.Set(0, 1)
	whole(true, "written a third time")
	c.UnwriteAll()
	whole(false, "all forgotten")
}
