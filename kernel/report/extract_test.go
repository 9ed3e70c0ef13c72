package report

import (
	"encoding/base64"
	"encoding/csv"
	"strings"
	"testing"

	"warpbook/kernel/nbformat"
)

// wide is a table that continues below with its row labels.
const wide = `<div><table><tr><th>rung</th><th>time, us</th></tr><tr><td>v|0</td><td>25 600 000</td></tr><tr><td>v1</td><td>-<br>1.5</td></tr></table>
<table><tr><th>rung</th><th>share</th></tr><tr><td>v|0</td><td>10 %</td></tr><tr><td>v1</td><td></td></tr></table>
<table><tr><th>other</th></tr><tr><td>1</td></tr></table></div>`

func extracted(t *testing.T) (*nbformat.Notebook, map[string]string) {
	nb := &nbformat.Notebook{Name: "x.ipynb", Cells: []*nbformat.Cell{
		{Type: nbformat.Markdown, ID: "m", Source: "# Title\n\ntext"},
		{Type: nbformat.Code, ID: "a/../b", Source: "show()", Outputs: []*nbformat.Output{
			bundle(map[string]any{"text/html": wide, "text/plain": "table"}),
			bundle(map[string]any{"image/svg+xml": "<svg/>", "image/png": base64.StdEncoding.EncodeToString([]byte("png")), "text/plain": "Plot [1]\nnumbers"}),
			{Type: nbformat.Stream, Name: "stdout", Text: "a\x1b[31m```b"},
		}},
	}}
	files := map[string]string{}
	for _, f := range Files(nb) {
		var b strings.Builder
		if err := f.Fill(&b); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = b.String()
	}
	return nb, files
}

func TestFiles(t *testing.T) {
	_, files := extracted(t)
	rows, err := csv.NewReader(strings.NewReader(files["a____b-1.csv"])).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[1], ";") != "v|0;25600000;10;%" || strings.Join(rows[2], ";") != "v1;- 1.5;;" {
		t.Errorf("%q, %v, expected the parts of the wide table as one", rows, err)
	}
	const md = "| rung | time, us | share |\n| --- | --- | --- |\n| v\\|0 | 25 600 000 | 10 % |\n| v1 | - 1.5 |  |\n"
	for name, want := range map[string]string{"a____b-1.md": md, "a____b-2.csv": "other\n1\n", "a____b-1.svg": "<svg/>", "a____b-1.png": "png"} {
		if files[name] != want {
			t.Errorf("%s: %q, expected %q", name, files[name], want)
		}
	}
	if len(files) != 6 {
		t.Errorf("%d files, expected 6", len(files))
	}
}

func TestMarkdownOfANotebook(t *testing.T) {
	nb, _ := extracted(t)
	var b strings.Builder
	if err := Markdown(&b, nb, "x_files"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Title\n\ntext\n\n```go\nshow()\n```\n\n| rung |", "![Plot (1)](x_files/a____b-1.svg)\n", "````\na[31m```b\n````\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") || strings.Count(b.String(), "numbers") != 0 {
		t.Errorf("control characters or the numbers of a plot in\n%s", b.String())
	}
}
