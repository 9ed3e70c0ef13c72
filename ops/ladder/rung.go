package ladder

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/compile"
)

// Rung is one that a notebook brings along: a kernel of a %%cuda or %%ptx
// cell. It is checked, timed, counted and plotted as the committed ones are.
type Rung struct {
	Entry *compile.Entry // its name is the rung's
	Adds  string         // the one change to the rung before
	After string         // the rung that it follows in tables; "" is the last

	// Like names the rung that it is launched like: the same grid and block,
	// arguments, further launches and number of additions. A further launch of
	// an entry NAME_2 needs a kernel of that name in the same cell.
	Like string

	// Plan makes its launches if it is like no rung.
	Plan func(entry string, size Size, info gpu.Info) Plan

	// Expect names the check that must fail at a size, as Variant.Expect does.
	Expect func(Size) string
}

// With returns the operator with more rungs in its ladder; the operator itself
// stays as it is. A rung whose name is there already is an error.
func (o *Operator) With(rungs ...Rung) (*Operator, error) {
	more := *o
	more.Variants = slices.Clone(o.Variants)
	for _, r := range rungs {
		v, err := more.variant(r)
		if err != nil {
			return nil, err
		}
		at := len(more.Variants)
		if r.After != "" {
			if _, err := more.Variant(r.After); err != nil {
				return nil, err
			}
			at = 1 + slices.IndexFunc(more.Variants, func(v Variant) bool { return v.Name == r.After })
		}
		more.Variants = slices.Insert(more.Variants, at, v)
	}
	return &more, nil
}

// MustWith is With for notebooks, where an error ends the cell.
func (o *Operator) MustWith(rungs ...Rung) *Operator {
	more, err := o.With(rungs...)
	if err != nil {
		panic(err)
	}
	return more
}

// variant makes a variant of a rung.
func (o *Operator) variant(r Rung) (v Variant, err error) {
	if r.Entry == nil {
		return v, fmt.Errorf("ops: %s: rung: %w: no entry, expected a kernel of a %%%%cuda or %%%%ptx cell", o.Name, gpu.ErrArgument)
	}
	v = Variant{Name: r.Entry.Name(), Adds: r.Adds, Source: "a cell", Plan: r.Plan, Expect: r.Expect, Own: r.Entry}
	if _, err := o.Variant(v.Name); err == nil {
		return v, fmt.Errorf("ops: %s: rung %s: %w: the ladder has a variant of that name, give the kernel another", o.Name, v.Name, gpu.ErrArgument)
	}
	switch {
	case (r.Like == "") == (r.Plan == nil):
		return v, fmt.Errorf("ops: %s: rung %s: %w: expected either Like, a variant that it is launched like, or Plan", o.Name, v.Name, gpu.ErrArgument)
	case r.Plan != nil:
		return v, nil
	}
	like, err := o.Variant(r.Like)
	if err != nil {
		return v, err
	}
	if like.Host != nil || like.Picks {
		return v, fmt.Errorf("ops: %s: rung %s: %w: %s launches no entry of its own, expected another variant", o.Name, v.Name, gpu.ErrArgument, r.Like)
	}
	v.Plan, v.Refuses = like.Plan, like.Refuses // a plan has no launch for a size that its rung refuses
	return v, nil
}

// String is the kernel, its change and how it is launched.
func (r Rung) String() string {
	text := fmt.Sprintf("%v: %s", r.Entry, r.Adds)
	switch {
	case r.Like != "":
		text += " (launched like " + r.Like + ")"
	case r.Plan != nil:
		text += " (launched by its own plan)"
	}
	return text
}
