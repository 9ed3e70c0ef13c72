package optest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// counting is a device that counts launches.
type counting struct {
	gpu.Device
	launches *int
}

func (d counting) Launch(l gpu.Launch) error {
	*d.launches++
	return d.Device.Launch(l)
}

// refusals wants that what cannot be is refused in one line before anything is
// launched: sizes, data sets, inputs, rungs, and operands of a handle that are
// missing, too short, of another type, or share memory.
func refusals(t *testing.T, d gpu.Device, o *ladder.Operator) {
	launches := 0
	on := counting{d, &launches}
	for _, size := range badSizes(o) {
		b, err := bench.New(on, o, 1, size...)
		checkLine(t, fmt.Sprintf("size %v", size), err, gpu.ErrArgument)
		if err == nil {
			b.Close()
		}
	}
	size := smallest(o)
	b := NewBench(t, on, o, 1, size...)
	checkLine(t, "unknown data set", b.UseData("no such data"), gpu.ErrNotFound)
	checkLine(t, "unknown input", b.SetInput("no such input", []float32{1}), gpu.ErrNotFound)
	_, err := b.Check("no_such_rung")
	checkLine(t, "unknown variant", err, gpu.ErrNotFound)
	for _, in := range o.Inputs(size) {
		checkLine(t, "a long input", b.SetInput(in.Name, (ladder.Tensor{Len: in.Len + 1, Type: in.Type}).Make()), gpu.ErrArgument)
		checkLine(t, "an input of strings", b.SetInput(in.Name, []string{"x"}), gpu.ErrArgument)
	}
	operands(t, d, o, size)
	if launches > 0 {
		t.Errorf("%d launches", launches)
	}
}

func badSizes(o *ladder.Operator) []ladder.Size {
	dims := len(o.Dims)
	bad := []ladder.Size{{}, slices.Repeat(ladder.Size{1}, dims+1)}
	for i := range dims {
		for _, n := range []int{-1, o.MaxDim + 1} {
			size := slices.Repeat(ladder.Size{1}, dims)
			size[i] = n
			bad = append(bad, size)
		}
	}
	return bad
}

// smallest is the size of the first case whose inputs and outputs all have elements.
func smallest(o *ladder.Operator) ladder.Size {
	for _, c := range o.Cases {
		if !slices.ContainsFunc(append(o.Inputs(c.Size), o.Outputs(c.Size)...), func(t ladder.Tensor) bool { return t.Len == 0 }) {
			return c.Size
		}
	}
	return slices.Repeat(ladder.Size{1}, len(o.Dims))
}

// operands tries every operand of a handle's call in turn.
func operands(t *testing.T, d gpu.Device, o *ladder.Operator, size ladder.Size) {
	h := run.NewHandle(d)
	defer h.Close()
	inputs := o.Inputs(size)
	tensors := append(inputs, o.Outputs(size)...)
	right := map[string]gpu.Buffer{}
	alloc := func(kind gpu.Type, n int) gpu.Buffer {
		b, err := d.Alloc(kind, n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Free() })
		return b
	}
	longest := 0
	for _, x := range tensors {
		longest = max(longest, x.Len)
	}
	for _, x := range tensors {
		x.Len = longest
		right[x.Name] = alloc(x.Elements(), longest)
		if err := x.Upload(nil, right[x.Name], x.Poisoned()); err != nil {
			t.Fatal(err)
		}
	}
	call := func(name string, b gpu.Buffer) error {
		buffers := map[string]gpu.Buffer{}
		for n, buffer := range right {
			buffers[n] = buffer
		}
		buffers[name] = b
		return h.Run(o, size, buffers)
	}
	for i, x := range tensors {
		checkLine(t, x.Name+" is missing", call(x.Name, nil), gpu.ErrArgument)
		checkLine(t, x.Name+" is too short", call(x.Name, alloc(x.Elements(), x.Len-1)), gpu.ErrArgument)
		other := gpu.Float64
		if x.Elements() == other {
			other = gpu.Int32
		}
		checkLine(t, x.Name+" is of another type", call(x.Name, alloc(other, longest)), gpu.ErrArgument)
		if i >= len(inputs) {
			overlaps(t, x, tensors, func(y string) error { return call(x.Name, right[y]) })
		}
	}
	checkLine(t, "an operand that is not there", call("no_such_operand", right[tensors[0].Name]), gpu.ErrArgument)
	for _, x := range tensors {
		x.Len = longest
		now := x.Make()
		if err := x.Download(nil, right[x.Name], now); err != nil || !ladder.SameBits(now, x.Poisoned()) {
			t.Errorf("a call that was refused wrote %s, %v", x.Name, err)
		}
	}
}

// overlaps gives the buffer of each other operand of its type to an output.
func overlaps(t *testing.T, x ladder.Tensor, tensors []ladder.Tensor, call func(y string) error) {
	for _, y := range tensors {
		if y.Name == x.Name || y.Elements() != x.Elements() {
			continue
		}
		err := call(y.Name)
		checkLine(t, x.Name+" is "+y.Name, err, gpu.ErrArgument)
		if err != nil && !strings.Contains(err.Error(), "shares elements") {
			t.Errorf("%s is %s: %v, expected it to say what they share", x.Name, y.Name, err)
		}
	}
}
