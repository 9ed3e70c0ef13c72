package report

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/nbformat"
)

// TestLanguage: metadata.lang is the language of the page, and of its fixed texts where
// there are such.
func TestLanguage(t *testing.T) {
	for _, test := range []struct {
		tag            any
		want, contents string
	}{
		{nil, "en", "Contents"},
		{"en", "en", "Contents"},
		{"en-GB", "en-GB", "Contents"},
		{"fr", "fr", "Contents"},
		{"zh", "zh", "目录"},
		{"zh-CN", "zh-CN", "目录"},
		{"ZH-Hans-CN", "ZH-Hans-CN", "目录"},
		{"zho", "zho", "Contents"},
		{"", "en", "Contents"},
		{`zh" onload="x`, "en", "Contents"},
		{"zh-", "en", "Contents"},
		{[]any{"zh"}, "en", "Contents"},
	} {
		nb := &nbformat.Notebook{Metadata: map[string]any{"lang": test.tag}, Cells: []*nbformat.Cell{
			{Type: nbformat.Markdown, ID: "a", Source: "# One\n\n## Two"}}}
		_, root := render(t, nb)
		if got := attribute(find(root, atom.Html, "")[0], "lang"); got != test.want {
			t.Errorf("lang %v: the page has %q, expected %q", test.tag, got, test.want)
		}
		equal(t, "contents", texts(find(root, atom.Summary, "")), []string{test.contents})
	}
}

// TestChinesePage renders notebooks that have every fixed text.
func TestChinesePage(t *testing.T) {
	nb, err := nbformat.Read("testdata/reduce.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb.Metadata["lang"] = "zh-CN"
	nb.Cells = append(nb.Cells,
		&nbformat.Cell{Type: nbformat.Code, ID: "skipped", Source: "x", Metadata: map[string]any{"tags": []any{nbformat.TagSkipExecution}, "jupyter": map[string]any{"source_hidden": true}}},
		&nbformat.Cell{Type: nbformat.Code, ID: "expected", Source: "x", Metadata: map[string]any{"tags": []any{nbformat.TagRaisesException}},
			Outputs: []*nbformat.Output{{Type: nbformat.Error, ErrorName: "panic"}, bundle(map[string]any{"image/jpeg": "AA=="})}})
	page, root := render(t, nb)
	equal(t, "badges", texts(find(root, atom.Span, "badge")), []string{"1 个单元格失败", "共 7 项检查，失败 1 项", "7 项中有 1 项按预期失败"})
	equal(t, "labels", texts(find(root, atom.P, "label")), []string{"参数", "本次运行设置的参数", "未执行"})
	for _, want := range []string{`aria-label="目录"`, "<summary>目录</summary>", "<summary>代码，1 行</summary>", "<summary>数据</summary>", `alt="图"`,
		"panic（预期）", "由 warpbook 根据 reduce.ipynb 生成"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the Chinese page", want)
		}
	}
	for _, english := range []string{"Contents<", `"Contents"`, "<summary>Code", "<summary>Numbers", "Rendered by", "panic (expected)", `class="label">parameters`} {
		if strings.Contains(page, english) {
			t.Errorf("%s in the Chinese page", english)
		}
	}
}

// TestChineseVerdicts: the badges of executed cells and of recorded results.
func TestChineseVerdicts(t *testing.T) {
	nb, err := nbformat.Read("testdata/reduce.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb.Metadata["lang"] = "zh-CN"
	var b bytes.Buffer
	if err := Render(&b, nb, Origin{}); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "note", texts(find(root, atom.P, "recorded")), []string{"未经执行生成：所有输出、数据和检查结果均为文件中的记录，没有一项经过验证。"})
	var r results
	r.rows.Total, r.rows.Passed, r.unreadable = 3, 3, 2
	var got []string
	for _, from := range []Origin{{Ran: true, Executed: 1, Cells: 4}, {}} {
		for _, badge := range r.badges(from, &chinese) {
			got = append(got, badge.Text)
		}
	}
	equal(t, "badges", got, []string{"共 4 个单元格，执行了 1 个", "2 条记录无法读取", "3 项检查符合预期", "2 条记录无法读取", "3 项检查记录为符合预期，未经验证"})
}
