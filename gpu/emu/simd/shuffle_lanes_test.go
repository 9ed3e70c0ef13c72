package simd

import (
	"math/rand/v2"
	"testing"
)

// TestShuffleOfVectors compares the shuffle of each set of vectors with the portable
// one: random operands, one of which may be the destination.
func TestShuffleOfVectors(t *testing.T) {
	const seed = 11
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 20_000 {
		mode, m := uint8(round%4), vectorMasks[round/4%len(vectorMasks)]
		if m == 1 {
			m = random.Uint32()
		}
		want := shuffleOperands(random)
		aliased := random.IntN(len(want))
		for v := Best; v >= NoVectors; v = v.Less() {
			got, same := want, want
			gotValid := v.Shuffle(&got[aliased], &got[1], &got[2], &got[3], m, mode) & m
			wantValid := shuffleLanes(&same[aliased], &same[1], &same[2], &same[3], m, mode)
			if got != same || gotValid != wantValid {
				t.Fatalf("%v, seed %d, round %d, mode %d, lanes %#08x, destination %d: %#x with %#08x in their segments, expected %#x with %#08x",
					v, seed, round, mode, m, aliased, got[aliased], gotValid, same[aliased], wantValid)
			}
		}
	}
}

// vectorMasks are the lanes that run; 1 stands for random ones.
var vectorMasks = []uint32{1<<32 - 1, 1<<32 - 1, 1, 1, 0xffff, 0xffff0000, 0x80000000, 0x55555555, 0}

// shuffleOperands are lanes of a destination and of three sources: the last two are
// often small numbers and segments.
func shuffleOperands(random *rand.Rand) (operands [4][32]uint32) {
	uniform, b, c := random.IntN(2) == 0, random.Uint32N(40), random.Uint32N(1<<13)
	for l := range 32 {
		operands[0][l], operands[1][l] = random.Uint32(), random.Uint32()
		if operands[2][l], operands[3][l] = b, c; !uniform {
			operands[2][l], operands[3][l] = random.Uint32(), random.Uint32()
		}
	}
	return operands
}
