package cute

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Layout maps coordinates to offsets: the sum of the coordinates times the strides. A
// whole number stands for a coordinate with its first part running fastest.
type Layout struct{ Shape, Stride Tuple }

// Parse reads a layout as CuTe prints it: "(4,(2,2)):(2,(1,8))". Without strides the
// first part runs fastest.
func Parse(text string) (Layout, error) {
	wrong := func(err error) error {
		return fmt.Errorf("cute: layout %q: %w: write SHAPE:STRIDE, such as (4,(2,2)):(2,(1,8))", text, err)
	}
	shape, rest, err := parseTuple(text, 0)
	if err != nil {
		return Layout{}, wrong(err)
	}
	if slices.Contains(shape.Leaves(), 0) {
		return Layout{}, wrong(fmt.Errorf("a shape has no 0"))
	}
	size := 1.0
	for _, n := range shape.Leaves() {
		size *= float64(n)
	}
	if size > 1<<31 {
		return Layout{}, wrong(fmt.Errorf("%.3g coordinates, expected at most 2^31", size))
	}
	if rest == "" {
		return Compact(shape), nil
	}
	if !strings.HasPrefix(rest, ":") {
		return Layout{}, wrong(fmt.Errorf("expected : at %q", rest))
	}
	stride, rest, err := parseTuple(rest[1:], 0)
	switch {
	case err != nil:
		return Layout{}, wrong(err)
	case rest != "":
		return Layout{}, wrong(fmt.Errorf("expected the end at %q", rest))
	case !shape.like(stride):
		return Layout{}, wrong(fmt.Errorf("shape %v and stride %v are not alike", shape, stride))
	}
	return Layout{shape, stride}, nil
}

// Must is Parse for notebooks, where an error ends the cell.
func Must(text string) Layout {
	l, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return l
}

// Compact is the layout of a shape without gaps, its first part fastest.
func Compact(shape Tuple) Layout {
	next := 1
	var strides func(t Tuple) Tuple
	strides = func(t Tuple) Tuple {
		if t.Leaf() {
			d := next
			next *= t.n
			return Int(d)
		}
		list := List()
		for _, part := range t.of {
			list.of = append(list.of, strides(part))
		}
		return list
	}
	return Layout{shape, strides(shape)}
}

// Join is the layout with these parts.
func Join(parts ...Layout) Layout {
	shape, stride := List(), List()
	for _, p := range parts {
		shape.of, stride.of = append(shape.of, p.Shape), append(stride.of, p.Stride)
	}
	return Layout{shape, stride}
}

// String is the layout as CuTe prints it.
func (l Layout) String() string { return l.Shape.String() + ":" + l.Stride.String() }

// Rank is the number of parts.
func (l Layout) Rank() int { return l.Shape.Rank() }

// Part is a part of the layout.
func (l Layout) Part(i int) Layout { return Layout{l.Shape.Part(i), l.Stride.Part(i)} }

// Size is the number of coordinates.
func (l Layout) Size() int { return l.Shape.Product() }

// Cosize is one more than the largest offset.
func (l Layout) Cosize() int {
	n := 1
	for _, m := range l.modes() {
		n += (m.size - 1) * m.stride
	}
	return n
}

// mode is a number of the shape with its stride.
type mode struct{ size, stride int }

func (l Layout) modes() (all []mode) {
	strides := l.Stride.Leaves()
	for i, n := range l.Shape.Leaves() {
		all = append(all, mode{n, strides[i]})
	}
	return all
}

// At is the offset of a coordinate as a number. Beyond the size the last part goes on.
func (l Layout) At(i int) int {
	modes, offset := l.modes(), 0
	for k, m := range modes {
		if k == len(modes)-1 {
			return offset + i*m.stride
		}
		offset += i % m.size * m.stride
		i /= m.size
	}
	return offset
}

// layoutOf is the layout of modes: a number for one of them, else a list.
func layoutOf(modes []mode) Layout {
	shape, stride := List(), List()
	for _, m := range modes {
		shape.of, stride.of = append(shape.of, Int(m.size)), append(stride.of, Int(m.stride))
	}
	if len(modes) == 1 {
		return Layout{shape.of[0], stride.of[0]}
	}
	return Layout{shape, stride}
}

// Coalesce is the same function of whole numbers with as few modes as possible.
func (l Layout) Coalesce() Layout {
	kept := []mode{{1, 0}}
	for _, m := range l.modes() {
		switch last := &kept[len(kept)-1]; {
		case m.size == 1:
		case last.size == 1:
			*last = m
		case last.size*last.stride == m.stride:
			last.size *= m.size
		default:
			kept = append(kept, m)
		}
	}
	return layoutOf(kept)
}

// CoalesceParts coalesces each part by itself, so that the rank stays.
func (l Layout) CoalesceParts() Layout {
	if l.Shape.Leaf() {
		return l.Coalesce()
	}
	var parts []Layout
	for i := range l.Rank() {
		parts = append(parts, l.Part(i).Coalesce())
	}
	return Join(parts...)
}

// mostVerified is how many coordinates of a composition are compared with its definition.
const mostVerified = 1 << 20

// Compose is a after b: its value at c is a(b(c)), and its shape is that of b, refined
// where a needs it. The error is of layouts whose composition is no layout: CuTe checks
// static layouts for that by divisibility alone, this function compares the values, of the
// first 2^20 coordinates.
func Compose(a, b Layout) (Layout, error) {
	flat := a.Coalesce()
	r, err := compose(flat.modes(), b)
	if err != nil {
		return Layout{}, fmt.Errorf("cute: compose %v with %v: %w", a, b, err)
	}
	for i := range min(b.Size(), mostVerified) {
		if got, want := r.At(i), flat.At(b.At(i)); got != want {
			return Layout{}, fmt.Errorf("cute: compose %v with %v: %v is %d at %d, expected %d: parts of the second layout carry into each other, and no layout does that", a, b, r, got, i, want)
		}
	}
	return r, nil
}

func compose(a []mode, b Layout) (Layout, error) {
	if !b.Shape.Leaf() {
		var parts []Layout
		for i := range b.Rank() {
			part, err := compose(a, b.Part(i))
			if err != nil {
				return Layout{}, err
			}
			parts = append(parts, part)
		}
		return Join(parts...), nil
	}
	size, stride := b.Shape.n, b.Stride.n
	if stride == 0 || size == 1 {
		return layoutOf([]mode{{size, 0}}), nil
	}
	var result []mode
	for _, m := range a[:len(a)-1] {
		if m.size%stride != 0 && stride%m.size != 0 {
			return Layout{}, fmt.Errorf("a stride of %d steps neither divides a mode of %d nor is divided by it: no layout", stride, m.size)
		}
		n := min(max(1, m.size/stride), size)
		if size%n != 0 {
			return Layout{}, fmt.Errorf("%d of a mode of %d do not divide a shape of %d: no layout", n, m.size, size)
		}
		if n != 1 {
			result = append(result, mode{n, stride * m.stride})
		}
		size /= n
		stride = (stride + m.size - 1) / m.size
	}
	if size != 1 || len(result) == 0 {
		result = append(result, mode{size, stride * a[len(a)-1].stride})
	}
	return layoutOf(result), nil
}

// Complement is the layout of what this one leaves out of n offsets: together the two
// reach every multiple of this layout's elements once.
func (l Layout) Complement(n int) (Layout, error) {
	modes := slices.DeleteFunc(l.modes(), func(m mode) bool { return m.size == 1 || m.stride == 0 })
	slices.SortFunc(modes, func(a, b mode) int { return cmp.Compare(a.stride, b.stride) })
	var result []mode
	reached := 1
	for _, m := range modes {
		if m.stride%reached != 0 {
			return Layout{}, fmt.Errorf("cute: complement of %v: stride %d is no multiple of %d: its offsets overlap", l, m.stride, reached)
		}
		result = append(result, mode{m.stride / reached, reached})
		reached = m.size * m.stride
	}
	result = append(result, mode{(n + reached - 1) / reached, reached})
	return layoutOf(result).Coalesce(), nil
}

// Divide splits a layout by a tile: the first part runs in a tile, the second from tile to
// tile.
func Divide(a, tile Layout) (Layout, error) {
	rest, err := tile.Complement(a.Size())
	if err != nil {
		return Layout{}, err
	}
	return Compose(a, Join(tile, rest))
}

// DivideParts divides each part of a layout by its own tile.
func DivideParts(a Layout, tiles ...Layout) (Layout, error) {
	if len(tiles) != a.Rank() {
		return Layout{}, fmt.Errorf("cute: divide %v: %d tiles, expected %d: one a part", a, len(tiles), a.Rank())
	}
	var parts []Layout
	for i, tile := range tiles {
		part, err := Divide(a.Part(i), tile)
		if err != nil {
			return Layout{}, err
		}
		parts = append(parts, part)
	}
	return Join(parts...), nil
}

// Zip divides each part and gathers the tiles in the first part, the rest in the second.
func Zip(a Layout, tiles ...Layout) (Layout, error) {
	d, err := DivideParts(a, tiles...)
	if err != nil {
		return Layout{}, err
	}
	var inside, rest []Layout
	for i := range d.Rank() {
		inside, rest = append(inside, d.Part(i).Part(0)), append(rest, d.Part(i).Part(1))
	}
	return Join(Join(inside...), Join(rest...)), nil
}

// Product repeats a layout as another one says: the first part is the layout, the second
// runs over its copies.
func Product(a, b Layout) (Layout, error) {
	rest, err := a.Complement(a.Size() * b.Cosize())
	if err != nil {
		return Layout{}, err
	}
	copies, err := Compose(rest, b)
	if err != nil {
		return Layout{}, err
	}
	return Join(a, copies), nil
}

// Partition is the part of the data that a thread has where threads tile it: a layout, and
// the offset at which it begins. Both have the same rank. It is CuTe's local_partition.
func Partition(data, threads Layout, thread int) (part Layout, offset int, err error) {
	if data.Rank() != threads.Rank() {
		return Layout{}, 0, fmt.Errorf("cute: partition: data %v of rank %d, threads %v of rank %d: expected the same", data, data.Rank(), threads, threads.Rank())
	}
	var tiles []Layout
	for i := range threads.Rank() {
		tiles = append(tiles, layoutOf([]mode{{threads.Part(i).Size(), 1}}))
	}
	zipped, err := Zip(data, tiles...)
	if err != nil {
		return Layout{}, 0, err
	}
	for i := range threads.Size() {
		if threads.At(i) == thread {
			return zipped.Part(1), zipped.Part(0).At(i), nil
		}
	}
	return Layout{}, 0, fmt.Errorf("cute: partition: threads %v have no thread %d", threads, thread)
}
