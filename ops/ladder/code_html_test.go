package ladder

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// TestCodeHTML: the HTML has the whole text, with colours of tokens and, in a diff, of
// lines.
func TestCodeHTML(t *testing.T) {
	tags := regexp.MustCompile(`<[^>]*>`)
	for _, test := range []struct {
		code Code
		want []string
	}{
		{Code{Language: "cuda", Text: "__shared__ float s[2]; // <b> & \"c\"\nif (a < b && c) f(1);\n\n"}, []string{`keyword-color, #008000)">if</span>`, `comment-color`, "&lt;b&gt;"}},
		{Code{Language: "diff", Text: "- float a = 1;\n+ float b = 2;\n  float c;\n-\n"}, []string{
			`<span style="background-color: rgba(248, 81, 73, 0.18)">- <span style="color: var(--jp-mirror-editor-builtin-color, #008000)">float</span> a`,
			`<span style="background-color: rgba(46, 160, 67, 0.18)">+ `, "\n  <span"}},
		{Code{Language: "cuda", Text: "-x;"}, []string{"-x;"}},
		{Code{Language: "diff", Text: ""}, nil},
	} {
		data, _ := test.code.MIMEBundle()
		page, _ := data["text/html"].(string)
		if text := html.UnescapeString(tags.ReplaceAllString(page, "")); strings.TrimRight(text, "\n") != strings.TrimRight(test.code.Text, "\n") {
			t.Errorf("%q has the text %q", test.code.Text, text)
		}
		for _, want := range test.want {
			if !strings.Contains(page, want) {
				t.Errorf("%q: %s, want %s in it", test.code.Text, page, want)
			}
		}
	}
	if page := (Code{Language: "cuda", Text: "-x;"}).html(); strings.Contains(page, "background") {
		t.Errorf("code that is no diff has coloured lines: %s", page)
	}
}

// TestFoldedCode: what is folded unfolds in HTML; text says how many lines there are.
func TestFoldedCode(t *testing.T) {
	data, _ := Code{Language: "cuda", Text: "int a;\nint b;\nint c;\n", Folded: 14}.MIMEBundle()
	page := regexp.MustCompile(`<span[^>]*>|</span>`).ReplaceAllString(data["text/html"].(string), "")
	if !strings.Contains(page, "int a;\n</pre><details><summary>The other 2 lines</summary>") || !strings.Contains(page, "int b;\nint c;\n</pre></details>") {
		t.Errorf("HTML: %s", page)
	}
	if text := data["text/plain"]; text != "int a;\n\n// ... 2 more lines\n" {
		t.Errorf("text: %q", text)
	}
}
