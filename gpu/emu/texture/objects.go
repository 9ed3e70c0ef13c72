package texture

import (
	"sync"
	"sync/atomic"

	"warpbook/gpu"
)

// Objects are the objects of an engine by their numbers. Goroutines may share them.
type Objects struct {
	known sync.Map // *Object, by number
	count atomic.Uint64
}

// tag is in the upper half of the number of an object, so that no other number is taken
// for one.
const tag = 0x7e << 56

// Add returns the number of an object, by which kernels name it.
func (t *Objects) Add(o Object) (number uint64) {
	if o.Pitch == 0 {
		o.Pitch = o.Size(0) * o.ElementBytes()
	}
	if o.Addresses == nil {
		o.Addresses = []gpu.Address{o.Texture.Address, o.Texture.Address, o.Texture.Address}
	}
	number = tag | t.count.Add(1)
	t.known.Store(number, &o)
	return number
}

// Find is the object with a number.
func (t *Objects) Find(number uint64) (o *Object, ok bool) {
	v, ok := t.known.Load(number)
	if !ok {
		return nil, false
	}
	return v.(*Object), true
}

// Remove makes the number of an object invalid.
func (t *Objects) Remove(number uint64) { t.known.Delete(number) }

// CopyTo gives another table the same objects by the same numbers.
func (t *Objects) CopyTo(to *Objects) {
	t.known.Range(func(number, o any) bool { to.known.Store(number, o); return true })
}
