package report

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/nbformat"
)

// TestChineseEmphasis: emphasis closes in the Chinese prose of notebooks. After a Chinese
// mark, ** closes only before a blank or another mark.
func TestChineseEmphasis(t *testing.T) {
	translated, err := filepath.Glob("../../notebooks/*.zh.ipynb")
	if err != nil || len(translated) == 0 {
		t.Fatalf("%d translated notebooks: %v", len(translated), err)
	}
	for _, path := range translated {
		nb, err := nbformat.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		_, root := render(t, nb)
		for n := range root.Descendants() {
			if n.Type == html.TextNode && strings.Contains(n.Data, "**") && !inCode(n) {
				t.Errorf("%s: emphasis that does not close: %q", filepath.Base(path), n.Data)
			}
		}
	}
}

func inCode(n *html.Node) bool {
	for n = n.Parent; n != nil; n = n.Parent {
		if n.DataAtom == atom.Code || n.DataAtom == atom.Pre || n.DataAtom == atom.Style {
			return true
		}
	}
	return false
}
