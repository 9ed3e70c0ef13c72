package conv1d

import (
	"math/rand/v2"
	"warpbook/ops/ladder"
)

// dataSets are uniform numbers, and an x with NaN and infinities under finite taps: what
// a tap of 0 in place of none would spread.
var dataSets = []ladder.DataSet{ladder.UniformData, special}

var special = ladder.DataSet{Name: "special", Text: ladder.SpecialData.Text + "; taps uniform",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return append(ladder.SpecialData.Make(stop, tensors[:1], random), ladder.UniformData.Make(stop, tensors[1:], random)...)
	}}

// cases bracket blocks of 256 and 2048 outputs, passes of 128 taps, vectors of
// four, masks of one tap, of an even number and longer than x. Sizes without outputs are
// left out: the shape refuses them.
func (o Options) cases() (all []ladder.Case) {
	for _, c := range []ladder.Case{
		{Size: ladder.Size{1, 1}}, {Size: ladder.Size{1, 9}}, {Size: ladder.Size{5, 12}}, {Size: ladder.Size{255, 2}},
		{Size: ladder.Size{256, 3}}, {Size: ladder.Size{257, 9}}, {Size: ladder.Size{600, 31}}, {Size: ladder.Size{601, 32}}, {Size: ladder.Size{602, 33}},
		{Size: ladder.Size{2047, 4}}, {Size: ladder.Size{2048, 5}}, {Size: ladder.Size{2049, 8}},
		{Size: ladder.Size{300, 127}}, {Size: ladder.Size{301, 128}}, {Size: ladder.Size{303, 129}}, {Size: ladder.Size{130, 300}},
		{Size: ladder.Size{2100, 9}, Start: 1}, {Size: ladder.Size{2100, 16}, Start: 4},
		{Size: ladder.Size{1500, 9}, Data: "special"}, {Size: ladder.Size{700, 39}, Data: "special"},
		{Size: ladder.Size{40, 16_384}, Long: true}, {Size: ladder.Size{40, 16_385}, Long: true}, {Size: ladder.Size{100_003, 101}, Long: true},
	} {
		if _, err := o.Len(c.Size[0], c.Size[1]); err == nil {
			all = append(all, c)
		}
	}
	return all
}
