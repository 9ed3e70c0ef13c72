package lite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"warpbook/kernel/nbformat"
)

// entry is a notebook in the list of the first page, in two languages.
type entry struct {
	Name    string
	En, Zh  string   // a line about it
	TitleZh string   `json:"title_zh"`
	Needs   []string // what needs an installation: in English, in Chinese
}

// entries are those of notebooks.json.
func entries() (list []entry, err error) {
	text, err := scripts.ReadFile("notebooks.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("lite: notebooks.json: %w", err)
	}
	return list, nil
}

// index writes the first page.
func (s *site) index() error {
	list, err := entries()
	if err != nil {
		return err
	}
	var rows strings.Builder
	for _, e := range list {
		if err := s.row(&rows, e); err != nil {
			return err
		}
	}
	text, err := scripts.ReadFile("index.html")
	if err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	text = bytes.Replace(text, []byte("{{ROWS}}"), []byte(rows.String()), 1)
	return write(s.path("index.html"), bytes.Replace(text, []byte("{{POLICY}}"), []byte(policy), 1))
}

// row writes the entry of a notebook. Its Chinese title leads to the translation, where there
// is one.
func (s *site) row(rows *strings.Builder, e entry) error {
	title, err := heading(s.path("files", e.Name+".ipynb"))
	if err != nil {
		return err
	}
	open := func(name string) string { return "lab/index.html?path=" + name + ".ipynb" }
	zh := e.Name
	if _, err := os.Stat(s.path("files", e.Name+".zh.ipynb")); err == nil {
		zh += ".zh"
	}
	text := html.EscapeString
	fmt.Fprintf(rows, "<li><strong><a href=\"%s\">%s</a></strong> <strong lang=\"zh-CN\"><a href=\"%s\">%s</a></strong>\n", open(e.Name), text(title), open(zh), text(e.TitleZh))
	fmt.Fprintf(rows, "<p>%s <span lang=\"zh-CN\">%s</span></p>\n", text(e.En), text(e.Zh))
	if len(e.Needs) == 2 {
		fmt.Fprintf(rows, "<p class=\"needs\">%s <span lang=\"zh-CN\">%s</span></p>\n", text(e.Needs[0]), text(e.Needs[1]))
	}
	executed, err := filepath.Glob(s.path("reports", "*", e.Name+".html"))
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	var reports []string
	for _, path := range executed {
		gpu := filepath.Base(filepath.Dir(path))
		reports = append(reports, fmt.Sprintf("<a href=\"reports/%s/%s.html\">executed on an %s</a>", gpu, e.Name, strings.ToUpper(gpu)))
	}
	if len(reports) > 0 {
		fmt.Fprintf(rows, "<p>%s <span lang=\"zh-CN\">在 GPU 上执行的结果</span></p>\n", strings.Join(reports, " · "))
	}
	rows.WriteString("</li>\n")
	return nil
}

// heading is the title of a notebook.
func heading(path string) (string, error) {
	nb, err := nbformat.Read(path)
	if err != nil {
		return "", fmt.Errorf("lite: site: %w", err)
	}
	for _, c := range nb.Cells {
		line, _, _ := strings.Cut(string(c.Source), "\n")
		if title, ok := strings.CutPrefix(line, "# "); ok {
			return title, nil
		}
	}
	return "", fmt.Errorf("lite: site: %s: no heading, expected a cell that begins with one", path)
}
