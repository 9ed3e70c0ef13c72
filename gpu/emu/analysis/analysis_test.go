package analysis

import (
	"slices"
	"testing"
)

func word(at int) Place      { return Place{At: at} }
func predicate(at int) Place { return Place{Predicate: true, At: at} }
func reads(p Place) Operand  { return Operand{Place: p} }
func sets(p Place) Operand   { return Operand{Place: p, Def: true} }

// polling is a loop that reads a clock into word 0, computes word 1 from it, adds to a counter
// in word 2, loads word 3 from the address in word 4, and leaves by a predicate of word 3.
var polling = Code{
	{Operands: []Operand{sets(word(0))}, Clock: true, Silent: true},
	{Operands: []Operand{sets(word(1)), reads(word(0))}, Silent: true},
	{Operands: []Operand{sets(word(2)), reads(word(2))}, Silent: true},
	{Operands: []Operand{sets(word(3)), reads(word(4))}, Memory: true, Decides: true, Silent: true},
	{Operands: []Operand{sets(predicate(1)), reads(word(3))}, Silent: true},
	{Flow: Branch, Guarded: true, Guard: 1, Target: 0, Operands: []Operand{reads(predicate(1))}, Decides: true, Silent: true},
	{Flow: Leave},
}

func TestDecisive(t *testing.T) {
	d := polling.FindDecisive(5, 2)
	for pc, want := range map[int][]Place{0: {word(4)}, 4: {word(3), word(4)}, 5: {word(4), predicate(1)}, 6: nil} {
		var got []Place
		d.Each(pc, func(p Place) { got = append(got, p) })
		if !slices.Equal(got, want) {
			t.Errorf("before %d: %v, expected %v", pc, got, want)
		}
	}
	if d.Clock {
		t.Error("a clock decides, which no branch uses")
	}
	timed := slices.Clone(polling)
	timed[4].Operands = []Operand{sets(predicate(1)), reads(word(1))}
	if d := timed.FindDecisive(5, 2); !d.Clock {
		t.Error("no clock decides, expected that of the branch")
	}
}

func TestLoopsAlone(t *testing.T) {
	if polling.LoopsAlone(0) {
		t.Error("a loop with a load reads no memory")
	}
	alone := slices.Clone(polling)
	alone[3].Memory = false
	if !alone.LoopsAlone(0) || alone.LoopsAlone(6) {
		t.Error("a loop of registers reads memory, or its end is in a loop")
	}
}

// TestLeaving: a branch past a barrier to a store counts if threads differ in its predicate.
func TestLeaving(t *testing.T) {
	code := Code{
		{Operands: []Operand{sets(predicate(1)), reads(word(0))}},
		{Flow: Branch, Guarded: true, Guard: 1, Target: 4, Operands: []Operand{reads(predicate(1))}},
		{Barrier: true},
		{Flow: Leave},
		{Memory: true, Acts: true},
		{Flow: Leave},
	}
	past, acts := code.Leaving([]Place{word(0)})
	if !slices.Equal(past, []Past{{PC: 1}}) || !slices.Equal(acts, []bool{true, true, false, false, true, false, false}) {
		t.Errorf("%v, %v", past, acts)
	}
	if past, _ := code.Leaving(nil); past != nil {
		t.Errorf("%v, expected none: all threads take the same way", past)
	}
	code[4].Acts = false
	if past, _ := code.Leaving([]Place{word(0)}); past != nil {
		t.Errorf("%v, expected none: the threads only return", past)
	}
}
