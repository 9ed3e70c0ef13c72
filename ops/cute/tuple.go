// Package cute is the layout algebra of CuTe, which CUTLASS is built on: a Layout maps
// coordinates to offsets by a shape and a stride, both nested lists of whole numbers.
// Coalesce, Compose, Complement, Divide and Product make layouts of layouts. Notebook 13
// draws them. The package runs nothing on a device and imports only the standard library.
//
// Source: NVIDIA CUTLASS documentation, "CuTe Layout Algebra", which defines the operations
// by the examples that this package's tests hold.
package cute

import (
	"fmt"
	"strconv"
	"strings"
)

// Tuple is a whole number or a list of tuples.
type Tuple struct {
	n  int
	of []Tuple // nil for a number
}

// Int is a number as a tuple.
func Int(n int) Tuple { return Tuple{n: n} }

// List is a list of tuples.
func List(of ...Tuple) Tuple { return Tuple{of: append([]Tuple{}, of...)} }

// Leaf reports whether the tuple is a number.
func (t Tuple) Leaf() bool { return t.of == nil }

// Rank is the number of its parts; 1 for a number.
func (t Tuple) Rank() int {
	if t.Leaf() {
		return 1
	}
	return len(t.of)
}

// Part is a part; part 0 of a number is the number.
func (t Tuple) Part(i int) Tuple {
	if t.Leaf() {
		return t
	}
	return t.of[i]
}

// Leaves are the numbers from left to right.
func (t Tuple) Leaves() (all []int) {
	if t.Leaf() {
		return []int{t.n}
	}
	for _, part := range t.of {
		all = append(all, part.Leaves()...)
	}
	return all
}

// Product is the product of the numbers.
func (t Tuple) Product() int {
	n := 1
	for _, v := range t.Leaves() {
		n *= v
	}
	return n
}

// like reports whether two tuples have their numbers at the same places.
func (t Tuple) like(o Tuple) bool {
	if t.Leaf() || o.Leaf() {
		return t.Leaf() == o.Leaf()
	}
	if len(t.of) != len(o.of) {
		return false
	}
	for i := range t.of {
		if !t.of[i].like(o.of[i]) {
			return false
		}
	}
	return true
}

// String is the tuple as CuTe prints it, without the underscores of static numbers.
func (t Tuple) String() string {
	if t.Leaf() {
		return strconv.Itoa(t.n)
	}
	var parts []string
	for _, part := range t.of {
		parts = append(parts, part.String())
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// deepest bounds the nesting of a tuple that is parsed.
const deepest = 64

// parseTuple reads a tuple at the start of a text and returns the rest.
func parseTuple(text string, depth int) (Tuple, string, error) {
	text = strings.TrimLeft(text, " ")
	if !strings.HasPrefix(text, "(") {
		end := 0
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(text[:end])
		if err != nil || n > 1<<31 {
			return Tuple{}, "", fmt.Errorf("expected a number up to 2^31 or ( at %q", text)
		}
		return Int(n), strings.TrimLeft(text[end:], " "), nil
	}
	if depth == deepest {
		return Tuple{}, "", fmt.Errorf("more than %d nested lists", deepest)
	}
	list := List()
	for rest := text[1:]; ; {
		part, after, err := parseTuple(rest, depth+1)
		if err != nil {
			return Tuple{}, "", err
		}
		list.of = append(list.of, part)
		switch {
		case strings.HasPrefix(after, ","):
			rest = after[1:]
		case strings.HasPrefix(after, ")"):
			return list, strings.TrimLeft(after[1:], " "), nil
		default:
			return Tuple{}, "", fmt.Errorf("expected , or ) at %q", after)
		}
	}
}
