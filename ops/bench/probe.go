package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// probe is data that tells a result of these inputs from one that was kept, guessed or
// computed in fewer bits.
type probe struct {
	what     string // of the inputs, as a sentence says it
	inputs   []ladder.Values
	expected []ladder.Expected
}

// probeOf computes the reference of inputs.
func (d *data) probeOf(what string, inputs []ladder.Values) *probe {
	return &probe{what, inputs, d.site.Operator.Reference(d.stopped, d.site.Size, inputs)}
}

// fresh are inputs of a seed that the code under test cannot know.
func (d *data) fresh(seed uint64) *probe {
	return d.probeOf(fmt.Sprintf("the inputs of seed %d", seed), d.set.Make(d.stopped, d.inputTensors(), ladder.NewRandom(seed)))
}

// element is another value of an element of an input.
type element struct {
	tensor string
	index  int
	value  any
}

// changed is a probe with one other element, large enough to change a result beyond its
// error bound: a result that is kept for inputs that look the same is wrong for it. It
// returns nil if the operator takes no such inputs.
func (d *data) changed(p *probe, random *rand.Rand) *probe {
	for range 4 { // another number may leave a result of integers as it is
		e, inputs := d.changedInputs(p.inputs, random)
		if inputs == nil {
			return nil
		}
		if c := d.probeOf(fmt.Sprintf("a change of %s[%d]", e.tensor, e.index), inputs); !sameExact(p.expected, c.expected) {
			return c
		}
	}
	return nil
}

// changedInputs are inputs with one other element, nil if the operator takes none.
func (d *data) changedInputs(from []ladder.Values, random *rand.Rand) (element, []ladder.Values) {
	tensors := d.inputTensors()
	for range 16 {
		which := random.IntN(len(tensors))
		t := tensors[which]
		if t.Len == 0 {
			continue
		}
		i, inputs := random.IntN(t.Len), slices.Clone(from)
		inputs[which] = ladder.Clone(inputs[which])
		value, changes := replace(t, inputs[which], i, random)
		if valid := d.site.Operator.ValidInputs; changes && (valid == nil || valid(d.site.Size, inputs) == nil) {
			return element{t.Name, i, value}, inputs
		}
	}
	return element{}, nil
}

// replace puts another number at element i: a large float, or a random number of the
// tensor. It reports whether that changes the element. The float is at most a few percent of
// a sum of all elements, which shows beside Tolerance, and leaves a sum of one element after
// the other its digits.
func replace(t ladder.Tensor, values ladder.Values, i int, random *rand.Rand) (value any, changes bool) {
	large := 64.0 // also in 16 bits
	if t.Elements() == gpu.Float32 || t.Elements() == gpu.Float64 {
		large += float64(t.Len) / 64
	}
	one := t
	one.Len = 1
	to := reflect.ValueOf(values).Index(i)
	before, from := to.Interface(), reflect.ValueOf(one.Random(nil, random)).Index(0)
	if to.CanFloat() {
		from = reflect.ValueOf(large).Convert(to.Type())
	}
	to.Set(from)
	return to.Interface(), to.Interface() != before
}

// sameExact reports whether two references demand the same bits everywhere.
func sameExact(a, b []ladder.Expected) bool {
	for i := range a {
		if a[i].Exact == nil || !ladder.SameBits(a[i].Exact, b[i].Exact) {
			return false
		}
	}
	return true
}

// Sums of few terms keep the error of each term: float32 is off by 2^-24 of it, TF32 and
// float16 by 2^-11. A term more than leastBits off is of fewer bits.
const leastBits = 18

// fewTerms are inputs that are mostly 0, so that a sum has few terms. It returns nil
// for an operator whose inputs and outputs are not all of 32 bits and more, or whose error
// is not a share of the terms.
func (d *data) fewTerms(random *rand.Rand) *probe {
	tensors, outputs := d.inputTensors(), 0
	for _, t := range d.tensors() {
		if e := t.Elements(); e != gpu.Float32 && e != gpu.Float64 || t.Len == 0 {
			return nil
		}
	}
	for _, t := range d.outputTensors() {
		outputs += t.Len
	}
	terms := max(1, d.site.Operator.Flops(d.site.Size)/float64(2*outputs))
	share := math.Pow(min(1, 2/terms), 1/float64(len(tensors)))
	inputs := d.set.Make(d.stopped, tensors, random)
	for _, values := range inputs {
		keep := random.IntN(ladder.Length(values)) // at least one
		thin(values, func(i int) bool { return i == keep || random.Float64() < share })
	}
	if valid := d.site.Operator.ValidInputs; valid != nil && valid(d.site.Size, inputs) != nil {
		return nil
	}
	p := d.probeOf("sums of few terms", inputs)
	for i, t := range d.outputTensors() {
		if !t.OfTerms(p.expected[i]) {
			return nil
		}
	}
	return p
}

// thin sets all elements to 0 but those that are kept. Of a kept float32 the last 13 bits are
// a third of the first bit before them: rounded to float16 or TF32 it is always off by that
// much and towards 0, so that errors of terms do not cancel.
func thin(values ladder.Values, keep func(int) bool) {
	switch x := values.(type) {
	case []float32:
		for i := range x {
			if !keep(i) {
				x[i] = 0
			} else if x[i] != 0 {
				x[i] = math.Float32frombits(math.Float32bits(x[i])&^0x1fff | 0x0aaa)
			}
		}
	case []float64:
		for i := range x {
			if !keep(i) {
				x[i] = 0
			}
		}
	}
}

// bits are those of a sum of few terms that are right, by its error as a share of the
// terms; 53 where there is no error.
func bits(share float64) float64 { return min(53, -math.Log2(share)) }

// precision is the finding about a sum of few terms that is off by a share of them; ""
// if that is the error of float32, or what the plan rounds.
func precision(share, round float64) string {
	if bits(share) >= leastBits || share <= 4*round {
		return ""
	}
	return fmt.Sprintf("lower precision: a sum of few terms has %.0f right bits, expected the 24 of float32", max(0, bits(share)))
}
