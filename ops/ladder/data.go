package ladder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"warpbook/gpu"
)

// DataSet makes the inputs of an operator: the same from a seed on every device.
type DataSet struct {
	Name string
	Text string // as an environment block has it: "uniform in [0, 1)"
	Make func(stop Stop, tensors []Tensor, random *rand.Rand) []Values
}

// each makes every input by itself.
func each(make func(stop Stop, t Tensor, random *rand.Rand) Values) func(Stop, []Tensor, *rand.Rand) []Values {
	return func(stop Stop, tensors []Tensor, random *rand.Rand) []Values {
		var all []Values
		for _, t := range tensors {
			all = append(all, make(stop, t, random))
		}
		return all
	}
}

// chosen makes every input of its uniform numbers: element i is the one of pick.
func chosen(pick func(n int, random *rand.Rand) func(i int) int) func(Stop, []Tensor, *rand.Rand) []Values {
	return each(func(stop Stop, t Tensor, random *rand.Rand) Values {
		values := t.Random(stop, random)
		return t.class().choose(values, pick(t.Len, random))
	})
}

// The data sets that suit inputs of any type. Uniform numbers are from the tensor's
// Low to its High.
var (
	UniformData = DataSet{"uniform", "uniform", each(func(stop Stop, t Tensor, random *rand.Rand) Values { return t.Random(stop, random) })}
	AllEqual    = DataSet{"all equal", "all elements equal", chosen(func(int, *rand.Rand) func(int) int { return func(int) int { return 0 } })}
	Sorted      = DataSet{"sorted", "uniform, sorted", each(func(stop Stop, t Tensor, random *rand.Rand) Values { return sorted(t, t.Random(stop, random)) })}
	Reversed    = DataSet{"reversed", "uniform, sorted, the largest first", each(func(stop Stop, t Tensor, random *rand.Rand) Values {
		return t.class().choose(sorted(t, t.Random(stop, random)), func(i int) int { return t.Len - 1 - i })
	})}
	FewDistinct = DataSet{"few distinct", "16 distinct uniform values", chosen(func(n int, random *rand.Rand) func(int) int {
		return func(int) int { return random.IntN(min(n, 16)) }
	})}
	Skewed = DataSet{"skewed", "uniform values by Zipf's law, exponent 1.2", chosen(func(n int, random *rand.Rand) func(int) int {
		zipf := rand.NewZipf(random, 1.2, 1, uint64(max(n, 1)-1))
		return func(int) int { return int(zipf.Uint64()) }
	})}
)

func sorted(t Tensor, values Values) Values {
	t.class().sort(values)
	return values
}

// NormalData are floats around 0 with a standard deviation of 1.
var NormalData = DataSet{"normal", "normal, mean 0, deviation 1", each(func(stop Stop, t Tensor, random *rand.Rand) Values {
	values := t.Make()
	fill(stop, values, func(int) float64 { return random.NormFloat64() })
	return t.Rounded(stop, values)
})}

// SpecialData are uniform floats among which one of a hundred is NaN, an infinity, -0
// or a subnormal.
var SpecialData = DataSet{"special", "uniform, 1 % of NaN, infinities, -0 and subnormals", each(func(stop Stop, t Tensor, random *rand.Rand) Values {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0x1p-140}
	values := t.Random(stop, random)
	number := t.class().number(values)
	fill(stop, values, func(i int) float64 {
		if random.IntN(100) == 0 {
			return special[random.IntN(len(special))]
		}
		return number(i)
	})
	return t.Rounded(stop, values)
})}

// fill writes floats; values of another type are a mistake of the operator.
func fill(stop Stop, values Values, f func(i int) float64) {
	stop.Pieces(Length(values), func(from, to int) {
		for i := from; i < to; i++ {
			switch x := values.(type) {
			case []float32:
				x[i] = float32(f(i))
			case []float64:
				x[i] = f(i)
			default:
				panic(fmt.Sprintf("ops: a data set of floats for %T", values))
			}
		}
	})
}

// DataSet is the operator's by a name, "" for the first; the error for an unknown
// name lists the others.
func (o *Operator) DataSet(name string) (DataSet, error) {
	all := o.Data
	if len(all) == 0 {
		all = []DataSet{UniformData}
	}
	var names []string
	for _, d := range all {
		if name == "" || d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return DataSet{}, fmt.Errorf("ops: %s: data set %q: %w, expected one of %s", o.Name, name, gpu.ErrNotFound, strings.Join(names, ", "))
}

// Describe describes the data of inputs for an environment block.
func (d DataSet) Describe(tensors []Tensor) string {
	if d.Name == UniformData.Name && (len(tensors) == 0 || tensors[0].Low == 0 && tensors[0].High == 0) {
		for _, t := range tensors {
			if _, floats := t.class().(floats32); floats {
				return "uniform in [0, 1)"
			}
		}
	}
	return d.Text
}
