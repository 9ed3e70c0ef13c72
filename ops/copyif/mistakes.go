package copyif

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Mistakes is the same operator with the unchanged listings of note 000. The emulator
// finds their errors; the listing of the block has undefined behaviour and works.
//
// Two mistakes of the notes have no row: `__global void` does not compile, and the index
// of origin_copy_if passes 2^31 if n is within a grid of it.
var Mistakes = mistakesOf(Operator)

func mistakesOf(o *ladder.Operator) *ladder.Operator {
	m := *o
	m.Name, m.Module = "copy_if_mistakes", "mistakes"
	m.Peers, m.Parameters, m.Remake = nil, nil, nil
	m.Source = "founding note 000, as it stands"
	m.Variants = mistakes
	m.Data, m.Cases = append(slices.Clone(o.Data), firstOut), nil
	for _, n := range []int{0, 512, 1000, 65_536, 65_537} {
		m.Cases = append(m.Cases, ladder.Case{Size: ladder.Size{n}, Data: firstOut.Name})
	}
	return &m
}

// firstOut is data on which every mistake shows: in the first warp of each block lane 0
// drops its element and lane 1 keeps its own. Of random data with 512 elements, one
// of 65 536 seeds keeps the element of every lane 0.
var firstOut = signed("first out", "uniform in (0, 1], of either sign; of 512 elements the first is below 0, the second above", func(_ int, random *rand.Rand) func(int) bool {
	return func(i int) bool {
		above := random.IntN(2) == 0
		return i%512 == 1 || above && i%512 != 0
	}
}, 0.5)

var mistakes = []ladder.Variant{
	{
		Name: "mistake_block_barrier", Adds: "undefined, and right all the same: threads of a block pass different numbers of barriers, and those that leave the loop exit",
		Source: "000 2.12", Plan: ofInt, Refuses: refused,
	},
	{
		Name: "mistake_warp_published", Adds: "the leader adds 0, the result is read from lane 0, even if lane 0 is not active, and __syncwarp() waits for all lanes",
		Source: "000 2.12", Plan: ofInt, Refuses: refused, Expect: always(ladder.Either(ladder.CheckFault+gpu.ErrMask.Error(), ladder.CheckFault+gpu.ErrRace.Error())), // as its data has it
	},
	{
		Name: "mistake_warp_offset", Adds: "the leader adds 0: every warp writes to the same places",
		Source: "000 2.12", Plan: ofInt, Refuses: refused, Expect: samePlaces,
	},
	{
		Name: "mistake_warp_lane", Adds: "the result is read from lane 0, even if lane 0 is not active",
		Source: "000 2.12", Plan: ofInt, Refuses: refused, Expect: always(ladder.CheckFault + gpu.ErrMask.Error()),
	},
}

// refused are sizes that an int cannot index, and those of so few elements that chance
// decides whether a lane 0 is missing.
func refused(s ladder.Size) error {
	switch n := s[0]; {
	case n > 1<<31-1-128*512:
		return fmt.Errorf("%w: n = %d: the notes' int indices pass 2^31 within a grid of it: use copy_if_origin", gpu.ErrUnsupported, n)
	case n > 0 && n < 512:
		return fmt.Errorf("%w: whether a mistake shows in %d elements is chance: expected 0 or at least 512", gpu.ErrUnsupported, n)
	}
	return nil
}

func ofInt(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	if size[0] == 0 {
		return ladder.Plan{}
	}
	return ladder.Plan{AnyOrder: true, Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: 128}, Block: gpu.Dim{X: 512},
		Args: []any{"y", "x", "count", int32(size[0])}, Zero: []string{"count"},
	}}}
}

func always(check string) func(ladder.Size) string {
	return func(s ladder.Size) string {
		if s[0] == 0 {
			return ""
		}
		return check
	}
}

// samePlaces expects a race, or a count of 0 if races are not searched for.
func samePlaces(s ladder.Size) string {
	switch n := s[0]; {
	case n == 0:
		return ""
	case n > 2_000_000:
		return ladder.CheckCount
	}
	return ladder.CheckFault + gpu.ErrRace.Error()
}
