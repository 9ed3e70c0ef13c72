package transpose

import "warpbook/ops/ladder"

// cases bracket tiles of 32 and 64, rows of whole vectors and not, nothing, one row
// and one column, and views that start after the start of an allocation.
var cases = []ladder.Case{
	{Size: ladder.Size{0, 0}}, {Size: ladder.Size{0, 5}}, {Size: ladder.Size{7, 0}},
	{Size: ladder.Size{1, 1}}, {Size: ladder.Size{1, 67}}, {Size: ladder.Size{67, 1}},
	{Size: ladder.Size{31, 33}}, {Size: ladder.Size{32, 32}}, {Size: ladder.Size{33, 31}},
	{Size: ladder.Size{63, 65}}, {Size: ladder.Size{64, 64}}, {Size: ladder.Size{65, 63}},
	{Size: ladder.Size{68, 132}}, {Size: ladder.Size{132, 68}}, {Size: ladder.Size{127, 251}},
	{Size: ladder.Size{68, 60}, Start: 1}, {Size: ladder.Size{68, 60}, Start: 4},
	{Size: ladder.Size{33, 70}, Start: 3},
	{Size: ladder.Size{2048, 1024}, Long: true},
}
