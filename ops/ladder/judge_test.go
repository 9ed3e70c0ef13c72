package ladder

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// judged is a judge's verdict on one output.
func judged(t Tensor, got Values, want Expected, others ...any) string {
	tensors, outputs, expected := []Tensor{t}, []Values{got}, []Expected{want}
	if len(others) > 0 { // the output that counts the first one's results
		n := others[0].([]int32)
		tensors = append(tensors, Tensor{Name: "n", Len: 1, Type: gpu.Int32})
		outputs, expected = append(outputs, n), append(expected, Expected{Exact: []int32{int32(want.Length())}})
	}
	return strings.Join(Compare(nil, tensors, outputs, expected, Plan{}).Failed, " ")
}

// judgedSums judges two sums of 1, of one term and of two, by a plan of any depth.
func judgedSums(got ...float32) string {
	want := Expected{Value: []float64{1, 1}, Magnitude: []float64{1, 1}, Terms: []int32{1, 2}}
	return strings.Join(Compare(nil, []Tensor{{Len: 2}}, []Values{got}, []Expected{want}, Plan{Depth: 1000}).Failed, " ")
}

// Every judge passes right elements and fails wrong ones, NaN and elements that were not
// written included.
func TestJudges(t *testing.T) {
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))
	ints := Tensor{Len: 3, Type: gpu.Int32}
	anyOrder, count, ulp := ints, ints, Tensor{Len: 2, Judge: ULP(2)}
	anyOrder.Judge, count.Judge = AnyOrder, CountOnly
	exact := func(v Values) Expected { return Expected{Exact: v} }
	values := func(v ...float64) Expected { return Expected{Value: v} }
	next := math.Nextafter32
	for _, c := range []struct {
		what   string
		failed string
		want   string
	}{
		{"equal integers", judged(ints, []int32{1, 2, 3}, exact([]int32{1, 2, 3})), ""},
		{"one is wrong", judged(ints, []int32{1, 2, 4}, exact([]int32{1, 2, 3})), "exact"},
		{"one was not written", judged(ints, []int32{1, 2, ^3}, exact([]int32{1, 2, 3})), "unwritten exact"},
		{"too few", judged(ints, []int32{1, 2}, exact([]int32{1, 2, 3})), "length"},
		{"floats, bit for bit", judged(Tensor{Len: 3}, []float32{1, nan, 0}, exact([]float32{1, nan, 0})), ""},
		{"NaN for a number", judged(Tensor{Len: 1}, []float32{nan}, exact([]float32{1})), "exact"},
		{"a number for NaN", judged(Tensor{Len: 1}, []float32{1}, exact([]float32{nan})), "exact"},
		{"minus zero", judged(Tensor{Len: 1}, []float32{float32(math.Copysign(0, -1))}, exact([]float32{0})), "exact"},
		{"poison for NaN", judged(Tensor{Len: 1}, []float32{Poison}, exact([]float32{nan})), "unwritten exact"},
		{"poison for NaN in any order", judged(Tensor{Len: 2, Judge: AnyOrder}, []float32{Poison, 1}, exact([]float32{1, nan})), "elements"},
		{"zeros in another order", judged(Tensor{Len: 3, Judge: AnyOrder}, []float32{0, zero, 0}, exact([]float32{zero, 0, 0})), ""},
		{"another number of each zero", judged(Tensor{Len: 3, Judge: AnyOrder}, []float32{zero, zero, 0}, exact([]float32{0, zero, 0})), "elements"},
		{"zeros of float64 in another order", judged(Tensor{Len: 2, Type: gpu.Float64, Judge: AnyOrder}, []float64{0, math.Copysign(0, -1)}, exact([]float64{math.Copysign(0, -1), 0})), ""},
		{"poison", judged(Tensor{Len: 1}, []float32{Poison}, exact([]float32{1})), "unwritten exact"},
		{"another order", judged(anyOrder, []int32{3, 1, 2}, exact([]int32{1, 2, 3})), ""},
		{"another order, another element", judged(anyOrder, []int32{3, 1, 1}, exact([]int32{1, 2, 3})), "elements"},
		{"only the length counts", judged(count, []int32{7, 8, 9}, exact([]int32{1, 2, 3})), ""},
		{"two units off", judged(ulp, []float32{next(next(1, 2), 2), 3}, values(1, 3)), ""},
		{"three units off", judged(ulp, []float32{next(next(next(1, 2), 2), 2), 3}, values(1, 3)), "ulp"},
		{"NaN for a number, by units", judged(ulp, []float32{1, nan}, values(1, 3)), "nan"},
		{"NaN for NaN, by units", judged(ulp, []float32{1, nan}, values(1, math.NaN())), ""},
		{"overflow, by units", judged(ulp, []float32{inf, 1}, values(1e39, 1)), ""},
		{"not written, by units", judged(ulp, []float32{1, Poison}, values(1, 3)), "unwritten"},
		{"doubles, within 2^-53", judged(Tensor{Len: 1, Type: gpu.Float64}, []float64{1}, Expected{Value: []float64{1}, Magnitude: []float64{1}}), ""},
		{"doubles, as far off as float32 may be", judged(Tensor{Len: 1, Type: gpu.Float64}, []float64{1 + 0x1p-30}, Expected{Value: []float64{1}, Magnitude: []float64{1}}), "bound"},
		{"sums of one and of two terms", judgedSums(1+0x1p-24, 1+0x1p-23), ""},
		{"a sum of one term, as far off as two terms may be", judgedSums(1+0x1p-23, 1+0x1p-23), "bound"},
	} {
		if c.failed != c.want {
			t.Errorf("%s fails %q, want %q", c.what, c.failed, c.want)
		}
	}
}

// A unit of float16 is 2^-10 at 1 and 2^-24 among subnormals; a plan's Round adds its
// share of the magnitude to it.
func TestUnitsOfHalves(t *testing.T) {
	for _, c := range []struct {
		got        float32
		want, size float64
		round      float64
		failed     string
	}{
		{1 + 0x1p-10, 1, 1, 0, ""},
		{1 + 0x3p-11, 1, 1, 0, "ulp"},
		{1 + 0x3p-11, 1, 1, 0x1p-11, ""},
		{0x1p-24, 0, 1, 0, ""},
		{0x1p-23, 0, 1, 0, "ulp"},
		{0x1p-23, 0, 1, 0x1p-24, ""},
		{float32(math.Inf(1)), 65520, 65520, 0, ""},
		{float32(math.Inf(1)), 65519, 65519, 1, "nan"},
	} {
		tensor := Tensor{Len: 1, Type: gpu.Float16, Judge: ULPOf(gpu.Float16, 1)}
		expected := []Expected{{Value: []float64{c.want}, Magnitude: []float64{c.size}}}
		compared := Compare(nil, []Tensor{tensor}, []Values{[]float32{c.got}}, expected, Plan{Round: c.round})
		if failed := strings.Join(compared.Failed, " "); failed != c.failed {
			t.Errorf("%v for %v, Round %v, fails %q, want %q", c.got, c.want, c.round, failed, c.failed)
		}
	}
}

// An output with a count has that many results, and no element after them is written.
func TestJudgeOfCounts(t *testing.T) {
	out := Tensor{Name: "out", Len: 5, Type: gpu.Uint32, Count: "n"}
	results := func(some ...uint32) []uint32 {
		all := out.Poisoned().([]uint32)
		copy(all, some)
		return all
	}
	want := Expected{Exact: []uint32{7, 8}}
	for _, c := range []struct {
		what string
		got  []uint32
		n    int32
		want string
	}{
		{"right", results(7, 8), 2, ""},
		{"one is wrong", results(7, 9), 2, "exact"},
		{"one too few", results(7), 1, "count exact"},
		{"one too many", results(7, 8, 9), 3, "beyond count exact"},
		{"written behind the last", results(7, 8, 9), 2, "beyond"},
		{"more than there is room for", results(7, 8), 6, "count exact"},
		{"less than nothing", results(7, 8), -1, "count exact"},
	} {
		if got := judged(out, c.got, want, []int32{c.n}); got != c.want {
			t.Errorf("%s fails %q, want %q", c.what, got, c.want)
		}
	}
	floats := Tensor{Name: "out", Len: 3, Count: "n"}
	for what, c := range map[string]struct {
		behind float32
		want   string
	}{"NaN behind the last": {float32(math.NaN()), "beyond"}, "poison behind the last": {Poison, ""}} {
		if got := judged(floats, []float32{7, 8, c.behind}, Expected{Exact: []float32{7, 8}}, []int32{2}); got != c.want {
			t.Errorf("%s fails %q, want %q", what, got, c.want)
		}
	}
}

// An output that has room for fewer elements than there are holds the first of them, and
// the count is of all.
func TestJudgeOfRoom(t *testing.T) {
	out := Tensor{Name: "out", Len: 2, Type: gpu.Uint32, Count: "n"}
	want := Expected{Exact: []uint32{7, 8, 9}}
	for _, c := range []struct {
		got  []uint32
		n    int32
		want string
	}{
		{[]uint32{7, 8}, 3, ""},
		{[]uint32{7, 9}, 3, "exact"},
		{[]uint32{7, 8}, 2, "exact"}, // the count
		{[]uint32{7, 8}, 4, "count exact"},
		{[]uint32{7, 8}, 1, "count exact"},
	} {
		if got := judged(out, c.got, want, []int32{c.n}); got != c.want {
			t.Errorf("%v, count %d fails %q, want %q", c.got, c.n, got, c.want)
		}
	}
}

// An element that was not written differs from the expected one, in every element of every type.
func TestPoisonDiffers(t *testing.T) {
	for kind := gpu.Int8; kind <= gpu.Float64; kind++ {
		tensor := Tensor{Len: 256, Type: kind}
		want := tensor.Random(nil, NewRandom(1))
		poisoned := tensor.PoisonedFor(Expected{Exact: want})
		same := tensor.class().same(poisoned, want)
		for i := range 256 {
			if same(i) {
				t.Errorf("%v: element %d is %s before it is written", kind, i, tensor.class().text(want, i))
			}
		}
		if failed := judged(tensor, poisoned, Expected{Exact: want}); failed != "unwritten exact" {
			t.Errorf("%v: nothing was written: %q", kind, failed)
		}
	}
}

// Values of every type go to the device and come back, and others are refused.
func TestRoundTripOfTypes(t *testing.T) {
	for kind := gpu.Int8; kind <= gpu.Float64; kind++ {
		tensor := Tensor{Name: "x", Len: 100, Type: kind}
		x := tensor.Random(nil, NewRandom(2))
		if err := tensor.Takes(x); err != nil {
			t.Errorf("%v: %v", kind, err)
		}
		if !SameBits(x, Clone(x)) || SameBits(x, tensor.Make()) {
			t.Errorf("%v: a copy is not the same, or zeros are", kind)
		}
		if tensor.Takes(tensor.class().make(99)) == nil || tensor.Takes("x") == nil || tensor.Takes([]bool{true}) == nil {
			t.Errorf("%v: takes other values", kind)
		}
	}
}

// Each data set has the property that its name gives, and depends only on the seed, for every type.
func TestDataSets(t *testing.T) {
	tensors := []Tensor{{Len: 1000, Type: gpu.Int32, Low: 10, High: 90}, {Len: 1000, Type: gpu.Uint8}, {Len: 1000, Type: gpu.BFloat16}, {Len: 1000, Type: gpu.Float64, Low: -1, High: 1}}
	for _, d := range []DataSet{UniformData, AllEqual, Sorted, Reversed, FewDistinct, Skewed} {
		all := d.Make(nil, tensors, NewRandom(3))
		for i, again := range d.Make(nil, tensors, NewRandom(3)) {
			if !SameBits(all[i], again) {
				t.Errorf("%s: input %d is another one the second time", d.Name, i)
			}
		}
		for i, tensor := range tensors {
			number := tensor.class().number(all[i])
			var x []float64
			for j := range tensor.Len {
				x = append(x, number(j))
			}
			if v := tensor.Rounded(nil, Clone(all[i])); !SameBits(v, all[i]) {
				t.Errorf("%s: %v: not rounded", d.Name, tensor.Type)
			}
			if tensor.Low != 0 && (slices.Min(x) < tensor.Low || slices.Max(x) > tensor.High) {
				t.Errorf("%s: %v: from %v to %v, expected %v to %v", d.Name, tensor.Type, slices.Min(x), slices.Max(x), tensor.Low, tensor.High)
			}
			distinct := map[float64]int{}
			most := 0
			for _, v := range x {
				distinct[v]++
				most = max(most, distinct[v])
			}
			reversed := slices.Clone(x)
			slices.Reverse(reversed)
			right := map[string]bool{
				"uniform": len(distinct) > 50, "all equal": len(distinct) == 1, "few distinct": len(distinct) <= 16 && len(distinct) > 8,
				"sorted": slices.IsSorted(x) && len(distinct) > 50, "reversed": slices.IsSorted(reversed) && len(distinct) > 50, "skewed": most > 100,
			}[d.Name]
			if !right {
				t.Errorf("%s: %v: %d distinct values, one %d times", d.Name, tensor.Type, len(distinct), most)
			}
		}
	}
	for _, d := range []DataSet{NormalData, SpecialData} {
		x := d.Make(nil, []Tensor{{Len: 10_000}}, NewRandom(4))[0].([]float32)
		var sum, square float64
		odd := 0
		for _, v := range x {
			if v-v != 0 || v == 0 {
				odd++
				continue
			}
			sum, square = sum+float64(v), square+float64(v)*float64(v)
		}
		if d.Name == "normal" && (odd > 0 || math.Abs(sum/1e4) > 0.05 || math.Abs(square/1e4-1) > 0.1) || d.Name == "special" && (odd < 40 || odd > 160) {
			t.Errorf("%s: mean %v, square %v, %d are special", d.Name, sum/1e4, square/1e4, odd)
		}
	}
	o := &Operator{Name: "none", Data: []DataSet{Sorted, Skewed}}
	if d, err := o.DataSet(""); err != nil || d.Name != "sorted" {
		t.Errorf("the first data set is %v, %v", d.Name, err)
	}
	if _, err := o.DataSet("sortd"); fmt.Sprint(err) != `ops: none: data set "sortd": not found, expected one of sorted, skewed` {
		t.Errorf("%v", err)
	}
}
