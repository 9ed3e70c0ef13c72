package nbformat

import (
	"reflect"
	"strings"
	"testing"
)

// summary shows outputs as type and text, in their order.
func summary(c *Cell) string {
	var parts []string
	for _, o := range c.Outputs {
		switch o.Type {
		case Stream:
			parts = append(parts, o.Name+"="+o.Text)
		case Error:
			parts = append(parts, "error="+o.ErrorName)
		default:
			text, _ := o.Data["text/plain"].(string)
			parts = append(parts, o.Type+"="+text)
		}
	}
	return strings.Join(parts, " ")
}

func plain(text string) map[string]any { return map[string]any{"text/plain": text} }

func TestOutputs(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(nb *Notebook, c *Cell)
		want string
	}{
		{"one stream is one output", func(nb *Notebook, c *Cell) {
			c.AddStream("stdout", "a")
			c.AddStream("stdout", "\rb\n")
			c.AddStream("stdout", "c")
		}, "stdout=a\rb\nc"},
		{"streams stay apart", func(nb *Notebook, c *Cell) {
			c.AddStream("stdout", "a")
			c.AddStream("stderr", "b")
			c.AddStream("stdout", "c")
		}, "stdout=a stderr=b stdout=c"},
		{"a display splits a stream", func(nb *Notebook, c *Cell) {
			c.AddStream("stdout", "a")
			c.AddDisplay("", plain("d"), nil)
			c.AddStream("stdout", "b")
			c.AddResult(plain("r"), nil)
			c.AddError("panic", "v", []string{"t"})
		}, "stdout=a display_data=d stdout=b execute_result=r error=panic"},
		{"update replaces every display of the id", func(nb *Notebook, c *Cell) {
			c.AddDisplay("p", plain("0%"), nil)
			c.AddDisplay("q", plain("other"), nil)
			c.AddDisplay("p", plain("0%"), nil)
			if n := nb.UpdateDisplay("p", plain("100%"), nil); n != 2 {
				t.Errorf("%d displays updated, want 2", n)
			}
		}, "display_data=100% display_data=other display_data=100%"},
		{"update of no id updates nothing", func(nb *Notebook, c *Cell) {
			c.AddDisplay("", plain("a"), nil)
			if n := nb.UpdateDisplay("", plain("b"), nil); n != 0 {
				t.Errorf("%d displays updated, want 0", n)
			}
		}, "display_data=a"},
		{"clear at once", func(nb *Notebook, c *Cell) {
			c.AddStream("stdout", "a")
			c.Clear(false)
			c.AddStream("stdout", "b")
		}, "stdout=b"},
		{"clear that waits keeps until the next output", func(nb *Notebook, c *Cell) {
			c.AddStream("stdout", "a")
			c.Clear(true)
		}, "stdout=a"},
		{"clear that waits", func(nb *Notebook, c *Cell) {
			c.AddStream("stdout", "a")
			c.Clear(true)
			c.AddStream("stdout", "b")
			c.AddStream("stdout", "c")
		}, "stdout=bc"},
		{"an update does not end the wait", func(nb *Notebook, c *Cell) {
			c.AddDisplay("p", plain("0%"), nil)
			c.Clear(true)
			nb.UpdateDisplay("p", plain("50%"), nil)
		}, "display_data=50%"},
		{"start forgets", func(nb *Notebook, c *Cell) {
			c.AddStream("stdout", "a")
			c.Clear(true)
			c.Start(2)
			c.AddStream("stdout", "b")
		}, "stdout=b"},
	} {
		c := &Cell{Type: Code, ID: "a"}
		nb := &Notebook{Minor: Minor, Cells: []*Cell{c}}
		c.Start(1)
		test.run(nb, c)
		if got := summary(c); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		roundTrip(t, nb)
	}
}

// roundTrip checks that a notebook made in memory equals the notebook that is read
// back.
func roundTrip(t *testing.T, nb *Notebook) {
	t.Helper()
	data, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "display_id") {
		t.Errorf("a display_id was written: %s", data)
	}
	again, err := Parse("", data)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range nb.Cells {
		if got, want := summary(again.Cells[i]), summary(c); got != want {
			t.Errorf("reads back as %q, want %q", got, want)
		}
		if !reflect.DeepEqual(again.Cells[i].ExecutionCount, c.ExecutionCount) {
			t.Errorf("execution count changed")
		}
	}
}

func TestClearOutputs(t *testing.T) {
	nb, err := Read("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb.ClearOutputs()
	for i, c := range nb.Cells {
		if c.Outputs != nil || c.ExecutionCount != nil {
			t.Errorf("cell %d has outputs left", i+1)
		}
	}
	if _, err := nb.Encode(); err != nil {
		t.Error(err)
	}
}

// A bundle of a Go program may hold values that do not come from JSON.
func TestEncodeGoValues(t *testing.T) {
	type row struct {
		Name string `json:"name"`
		N    uint64 `json:"n"`
	}
	c := &Cell{Type: Code, ID: "a"}
	nb := &Notebook{Name: "x", Minor: Minor, Cells: []*Cell{c}}
	c.AddDisplay("", map[string]any{
		"application/vnd.warpbook.record+json": map[string]any{"rows": []row{{"<v0>", 1<<64 - 1}}, "x": 25600000.0},
	}, map[string]any{"width": 640})
	c.AddStream("stdout", "bad \xff byte")
	data, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "<v0>"`, `"n": 18446744073709551615`, `"x": 25600000`, `"width": 640`, "bad \ufffd byte"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
	c.AddDisplay("", map[string]any{"application/json": func() {}}, nil)
	if _, err := nb.Encode(); err == nil {
		t.Error("a function was encoded")
	}
}

func TestLongStream(t *testing.T) {
	c := &Cell{Type: Code, ID: "a"}
	const n = 200_000 // quadratic copying of 200 kB to 2 MB would take minutes
	for range n {
		c.AddStream("stdout", "0123456789")
	}
	if got := len(c.Outputs[0].Text); len(c.Outputs) != 1 || got != 10*n {
		t.Errorf("%d outputs, %d bytes, want 1 and %d", len(c.Outputs), got, 10*n)
	}
}
