package nbformat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The files of testdata were written by Jupyter's own nbformat 5.11.1.
func TestRoundTripKeepsBytes(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.ipynb")
	if err != nil || len(paths) < 2 {
		t.Fatalf("fixtures %v (%v), want at least 2", paths, err)
	}
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := nb.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s", path, firstDifference(got, want))
		}
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func TestReadFields(t *testing.T) {
	nb, err := Read("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	cell := nb.Cells[4]
	if cell.ID != "params" || *cell.ExecutionCount != 1 || !cell.HasTag(TagParameters) || cell.HasTag("other") {
		t.Errorf("cell 5: id %q, count %d, metadata %v", cell.ID, *cell.ExecutionCount, cell.Metadata)
	}
	if want := "n := 1 << 20\n\n// parameters"; cell.Source != want {
		t.Errorf("source %q, want %q", cell.Source, want)
	}
	if got := cell.Outputs[2].Data["text/html"]; got != "<table>\n<tr><td>1</td></tr>\n</table>\n" {
		t.Errorf("text/html %q", got)
	}
	if got := cell.Outputs[2].Data["application/json"]; !reflect.DeepEqual(got, []any{"a", "b"}) {
		t.Errorf("application/json %v: a list of strings that is JSON was joined", got)
	}
	if got := cell.Outputs[5].Traceback[0]; got != "\x1b[31mpanic\x1b[0m: x" {
		t.Errorf("traceback %q", got)
	}
	if nb.Cells[0].Attachments["plot.png"]["image/png"] != "iVBORw0KGgo=\n" {
		t.Errorf("attachments %v", nb.Cells[0].Attachments)
	}
}

// one returns a notebook of one cell, or of the given text in its place.
func one(cell string) string {
	return `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[` + cell + `]}`
}

func code(outputs string) string {
	return one(`{"cell_type":"code","id":"a","metadata":{},"source":"","execution_count":null,"outputs":[` + outputs + `]}`)
}

func TestErrorsNamePlaceAndRemedy(t *testing.T) {
	const markdown = `{"cell_type":"markdown","id":"a","metadata":{},"source":""}`
	for _, test := range []struct{ in, want string }{
		{"", "x.ipynb:1:1: not JSON: the file ends too early, expected a Jupyter notebook (.ipynb)"},
		{"{\n \"a\": b}", "x.ipynb:2:7: not JSON: invalid character 'b' looking for beginning of value"},
		{"{\n\"é\": \xff}", "x.ipynb:2:6: not JSON: byte 0xff is not UTF-8"},
		{"{\"a\":", "x.ipynb:1:6: not JSON: the file ends too early"},
		{one("") + "\n{}", "more text after the notebook's end"},
		{"[]", "x.ipynb: not a notebook: no nbformat member"},
		{"{}", "x.ipynb: not a notebook: no nbformat member"},
		{`{"nbformat":"4"}`, "notebook: nbformat is a string, expected"},
		{`{"nbformat":3,"worksheets":[]}`, `x.ipynb: nbformat 3, expected 4: convert it with: jupyter nbconvert --to notebook --inplace "x.ipynb"`},
		{`{"nbformat":5,"cells":[]}`, "nbformat 5, expected 4: save it in the older format, or use a newer warpbook"},
		{`{"nbformat":4,"nbformat_minor":1.5,"cells":[]}`, "nbformat_minor is the number 1.5, expected null or a whole number from 0"},
		{`{"nbformat":4}`, "notebook: has no cells"},
		{`{"nbformat":4,"cells":{}}`, "cells is an object, expected a list"},
		{`{"nbformat":4,"cells":[],"metadata":[]}`, "metadata is a list, expected an object"},
		{`{"nbformat":4,"cells":[],"metadata":{"kernelspec":{"name":"x"}}}`, "metadata: kernelspec: display_name is null, expected a string"},
		{`{"nbformat":4,"cells":[],"metadata":{"language_info":1}}`, "metadata: language_info: is the number 1, expected an object"},
		{one("1"), "cell 1: is the number 1, expected an object"},
		{one(markdown + "," + `{"cell_type":"markdown"}`), "cell 2: has no source"},
		{one(`{"source":""}`), "cell 1: has no cell_type"},
		{one(`{"cell_type":"other","source":""}`), `cell 1: cell_type "other", expected code, markdown or raw`},
		{one(`{"cell_type":"raw","source":["a",1]}`), "cell 1: source is a list, expected a string or a list of strings"},
		{one(`{"cell_type":"raw","source":"","id":""}`), "cell 1: id is empty"},
		{one(`{"cell_type":"raw","source":"","id":"a b"}`), `cell 1: id "a b", expected 1 to 64 of`},
		{one(`{"cell_type":"raw","source":"","id":7}`), "cell 1: id is the number 7, expected a string"},
		{one(markdown + "," + markdown), `cell 2: id "a" is also that of cell 1`},
		{one(`{"cell_type":"raw","source":"","metadata":{"tags":"x"}}`), "cell 1: tags is a string, expected a list"},
		{one(`{"cell_type":"raw","source":"","metadata":{"tags":["a,b"]}}`), `cell 1: tag "a,b", expected`},
		{one(`{"cell_type":"raw","source":"","metadata":{"tags":["a","a"]}}`), `cell 1: tag "a" stands twice`},
		{one(`{"cell_type":"raw","source":"","attachments":{"f":1}}`), `cell 1: attachment "f" is the number 1`},
		{one(`{"cell_type":"raw","source":"","attachments":{"f":{"a/b":1}}}`), `cell 1: a/b is the number 1`},
		{one(`{"cell_type":"code","source":"","execution_count":-1}`), "cell 1: execution_count is the number -1, expected"},
		{one(`{"cell_type":"code","source":"","outputs":{}}`), "cell 1: outputs is an object, expected a list"},
		{code(`{"output_type":"stream","name":"stdout"}`), "cell 1, output 1: has no text"},
		{code(`{"output_type":"stream","text":""}`), "cell 1, output 1: has no name"},
		{code(`{"output_type":"stream","name":"","text":""}`), "cell 1, output 1: a stream without name"},
		{code(`{"output_type":"display_data"}`), "cell 1, output 1: has no data"},
		{code(`{"output_type":"display_data","data":{"text/plain":null}}`), "output 1: text/plain is null, expected a string"},
		{code(`{"output_type":"error","evalue":""}`), "cell 1, output 1: has no ename"},
		{code(`{"output_type":"error","ename":"","evalue":"","traceback":[1]}`), "traceback holds the number 1"},
		{code(`{"output_type":"pyout"}`), `cell 1, output 1: output_type "pyout", expected`},
	} {
		_, err := Parse("x.ipynb", []byte(test.in))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\n got %v\nwant %s", test.in, err, test.want)
		} else if !strings.HasPrefix(err.Error(), "nbformat: x.ipynb:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q does not name the file on one line", test.in, err)
		}
	}
}

func TestMissingIDsAreStable(t *testing.T) {
	const cells = `{"cell_type":"markdown","source":"same","metadata":{}}`
	in := `{"nbformat":4,"nbformat_minor":2,"metadata":{},"cells":[` + cells + "," + cells + `]}`
	first, err := Parse("x", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Parse("x", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first, second) {
		t.Errorf("two readings differ: %v, %v", first.Cells[0].ID, second.Cells[0].ID)
	}
	if first.Cells[0].ID == first.Cells[1].ID || first.Minor != 5 {
		t.Errorf("ids %q and %q, minor %d", first.Cells[0].ID, first.Cells[1].ID, first.Minor)
	}
}

func TestWriteAndRead(t *testing.T) {
	nb, err := Read("testdata/unknown.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "out.ipynb")
	if err := nb.Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Name = nb.Name
	if !reflect.DeepEqual(nb, again) {
		t.Error("the notebook that was written reads differently")
	}
	nb.Cells[0].ID = ""
	if err := nb.Write(path); err == nil || !strings.Contains(err.Error(), `cell 1: id ""`) {
		t.Errorf("an invalid notebook: error %v", err)
	}
	if _, err := Read(path); err != nil {
		t.Errorf("the refused write touched the file: %v", err)
	}
}

func TestReadMissingFile(t *testing.T) {
	_, err := Read("testdata/none.ipynb")
	if !os.IsNotExist(err) && (err == nil || !strings.Contains(err.Error(), "none.ipynb")) {
		t.Errorf("error %v", err)
	}
}

func TestCheckKernel(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"kernelspec":{"name":"warpbook","display_name":"x"}}`: "",
		`{"language_info":{"name":"go"}}`:                       "",
		`{}`:                                                    "no kernel, expected",
		`{"kernelspec":{"name":"python3","display_name":"P"}, "language_info":{"name":"python"}}`: `kernel "python3" (python), expected kernel "warpbook" (go)`,
		`{"kernelspec":{"name":"gophernotes","display_name":"G"}, "language_info":{"name":"go"}}`: `kernel "gophernotes" (go), expected`,
		`{"language_info":{"name":"python"}}`:                                                     "no kernel (python), expected",
	} {
		nb, err := Parse("x.ipynb", []byte(`{"nbformat":4,"cells":[],"metadata":`+metadata+`}`))
		if err != nil {
			t.Fatal(err)
		}
		err = nb.CheckKernel("warpbook", "go")
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", metadata, err, want)
		}
	}
}

// FuzzParse: a notebook that parses is written, and reads back as the same notebook.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"testdata/jupyter.ipynb", "testdata/unknown.ipynb"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(code(`{"output_type":"stream","name":"stdout","text":["a\r","\nb"]}`)))
	f.Add([]byte(`{"nbformat":3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Parse("fuzz", data)
		if err != nil {
			return
		}
		encoded, err := nb.Encode()
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		again, err := Parse("fuzz", encoded)
		if err != nil {
			t.Fatalf("parse again: %v", err)
		}
		if !reflect.DeepEqual(nb, again) {
			t.Fatalf("reads differently after writing: %s", encoded)
		}
	})
}
