//go:build edited

package failure

import "github.com/goplus/ixgo"

// later are the frames of cells from fr outwards, as they are now. They are described when
// they are asked for, which takes longer than to recover a panic.
func later(fr *ixgo.Frame) func() []Place {
	s := fr.Stack()
	return func() []Place { return places(s.Frames()) }
}
