package nbformat

import (
	"strings"
	"testing"
)

const declaring = `n, seed := 1<<20, uint64(7) // elements
profile := "h200"
var (
	repeats int = 50
	_, list = 1, []int{1,
		2}
)
const fixed = 1`

func parameterNotebook(source string) *Notebook {
	return &Notebook{Name: "x.ipynb", Minor: Minor, Cells: []*Cell{
		{Type: Markdown, ID: "intro", Source: "# Title"},
		{Type: Code, ID: "params", Source: source, Metadata: map[string]any{"tags": []any{TagParameters}}},
		{Type: Code, ID: "rest", Source: "n"},
	}}
}

func TestSetParameters(t *testing.T) {
	nb := parameterNotebook(declaring)
	for _, test := range []struct {
		parameters []Parameter
		types      []string
		want       string
	}{
		{[]Parameter{{Name: "n", Value: "25_600_000"}, {Name: "profile", Value: "t4"}}, []string{"int", "string"}, "n = 25_600_000\nprofile = \"t4\""},
		{[]Parameter{{Name: "profile", Value: `"t4"`}, {Name: "repeats", Value: " 3 "}, {Name: "list", Value: "[]int{3}"}}, []string{"string", "int", ""}, "profile = \"t4\"\nrepeats = 3\nlist = []int{3}"},
		{[]Parameter{{Name: "profile", Value: `it's "x"`}}, []string{"string"}, `profile = "it's \"x\""`},
	} {
		if err := nb.SetParameters(test.parameters); err != nil {
			t.Fatal(err)
		}
		for i, p := range test.parameters {
			if p.Type != test.types[i] {
				t.Errorf("%s has the type %q, want %q", p.Name, p.Type, test.types[i])
			}
		}
		if len(nb.Cells) != 4 {
			t.Fatalf("%d cells, want 4: an injected cell replaces the one before", len(nb.Cells))
		}
		cell := nb.Cells[2]
		if cell.Source != test.want || cell.ID != "injected-parameters" || !cell.HasTag(TagInjectedParameters) {
			t.Errorf("injected %q %v %q, want %q", cell.ID, cell.Metadata, cell.Source, test.want)
		}
		if _, err := nb.Encode(); err != nil {
			t.Error(err)
		}
	}
}

func TestSetParametersErrors(t *testing.T) {
	for _, test := range []struct{ source, name, value, want string }{
		{declaring, "m", "1", "the notebook does not declare m, expected one of: n, seed, profile, repeats, list"},
		{declaring, "fixed", "1", "the notebook does not declare fixed"},
		{declaring, "n", "", `the value "" of n is not a Go expression`},
		{declaring, "n", "1; os.Exit(1)", "is not a Go expression"},
		{declaring, "n", "func() int {\nreturn 1 }()", "is not a Go expression on one line"},
		{"x := 1\ny := ", "x", "1", "line 3: expected operand"},
		{"import \"os\"\nx := 1", "x", "1", "line 1: "},
		{"}; func f() {", "x", "1", "the notebook does not declare x, expected one of: no variables at all"},
		{"", "x", "1", "no variables at all"},
	} {
		nb := parameterNotebook(test.source)
		err := nb.SetParameters([]Parameter{{Name: test.name, Value: test.value}})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s: error %v, want %q", test.name, test.value, err, test.want)
		} else if !strings.HasPrefix(err.Error(), "nbformat: x.ipynb: cell 2, tagged") {
			t.Errorf("%v does not name the cell", err)
		}
		if len(nb.Cells) != 3 {
			t.Errorf("%s=%s: the refused call changed the notebook", test.name, test.value)
		}
	}
	nb := parameterNotebook("")
	nb.Cells[1].Metadata = nil
	err := nb.SetParameters([]Parameter{{Name: "n", Value: "1"}, {Name: "m", Value: "2"}})
	if err == nil || !strings.Contains(err.Error(), `no cell has the tag "parameters", expected one that declares n, m`) {
		t.Errorf("error %v", err)
	}
	if err := nb.SetParameters(nil); err != nil {
		t.Errorf("no parameters: %v", err)
	}
}
