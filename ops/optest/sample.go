package optest

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Some returns so many items of a corpus, which the seed of the run chooses for the test, in
// their order. It returns all on a GPU, and all with WARPBOOK_LONG: the emulators of ordinary
// runs have no time for the whole corpus. WARPBOOK_SEED repeats the choice.
func Some[T any](t *testing.T, d gpu.Device, count int, corpus []T) []T {
	t.Helper()
	if !d.Info().Emulated || long() || count >= len(corpus) {
		return corpus
	}
	seed := runSeed(t)
	t.Logf("%d of %d items, WARPBOOK_SEED=%d", count, len(corpus), seed)
	test := fnv.New64a()
	test.Write([]byte(t.Name()))
	chosen := rand.New(rand.NewPCG(seed, test.Sum64())).Perm(len(corpus))[:count]
	slices.Sort(chosen)
	some := make([]T, count)
	for i, at := range chosen {
		some[i] = corpus[at]
	}
	return some
}

// SomeRungs is an operator with so many of its rungs, as Some chooses them.
func SomeRungs(t *testing.T, d gpu.Device, count int, o *ladder.Operator) *ladder.Operator {
	t.Helper()
	some := *o
	some.Variants = Some(t, d, count, o.Variants)
	return &some
}
