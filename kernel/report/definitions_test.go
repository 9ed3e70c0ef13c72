package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"warpbook/kernel/nbformat"
)

// A page of a notebook that links to the definitions has those of its words, and a link at the
// first use of each word in prose. Paper and other notebooks have none.
func TestDefinitions(t *testing.T) {
	render := func(language string, cells ...string) string {
		nb := &nbformat.Notebook{Name: "a.ipynb", Metadata: map[string]any{}}
		if language != "" {
			nb.Metadata["lang"] = language
		}
		for i, source := range cells {
			nb.Cells = append(nb.Cells, &nbformat.Cell{Type: nbformat.Markdown, ID: fmt.Sprint("c", i), Source: source, Metadata: map[string]any{}})
		}
		var b bytes.Buffer
		if err := Render(&b, nb, Origin{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	links := regexp.MustCompile(`href="#term-([^"]*)" title="([^"]+)">([^<]*)<`)
	page := render("", "# A warp\n\nWords have [definitions](definitions.md). `lane` is code, planes are none.", "Two warps and a warp; a lane, a *bank conflict* and a bank. The same is not SAME.")
	var got []string
	for _, m := range links.FindAllStringSubmatch(page, -1) {
		got = append(got, m[3])
	}
	if want := "warps, lane, bank conflict, bank, SAME"; strings.Join(got, ", ") != want {
		t.Errorf("links at %q, expected at %q", got, want)
	}
	if !strings.Contains(page, `<a href="#definitions">definitions</a>`) || !strings.Contains(page, `id="definitions"`) ||
		strings.Count(page, "<dt>warp (线程束)</dt><dd>32 threads of a block") != 1 || strings.Contains(page, "<dt>thread (") {
		t.Errorf("the definitions of warp, lane, bank and bank conflict are expected, and a link to them:\n%s", page[strings.Index(page, "<main>"):])
	}
	if page := render("", "A warp has lanes."); strings.Contains(page, `href="#term-`) || strings.Contains(page, `id="definitions"`) {
		t.Error("a notebook that does not link to the definitions has some")
	}
	page = render("zh-CN", "术语见[术语表](definitions.zh.md)。一个线程束有 32 个线程，热的仓库更快。")
	if n := strings.Count(page, `href="#term-`); n != 2 {
		t.Errorf("%d links on the Chinese page, expected two", n)
	}
	for _, want := range []string{">线程束</a>有 32 个<a ", "<dt>线程（thread）</dt>", ">术语表</h2>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the Chinese page lacks %q", want)
		}
	}
}
