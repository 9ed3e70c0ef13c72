package report

import (
	"strings"
	"testing"
)

// What the policy admits stays as it is, and its neighbour loses the attribute or the link.
func TestPolicy(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`<a href="https://a.example/">x</a>`, `<a href="https://a.example/">x</a>`},
		{`<a href="HTTP://a.example/">x</a>`, `<a href="http://a.example/">x</a>`},
		{`<a href="mailto:a@b.example">x</a>`, `<a href="mailto:a@b.example">x</a>`},
		{`<a href="#part">x</a>`, `<a href="#part">x</a>`},
		{`<a href="/etc/passwd">x</a>`, `x`},
		{`<a href="//a.example/">x</a>`, `x`},
		{`<a href="other.html">x</a>`, `x`},
		{`<a href="file:///etc/passwd">x</a>`, `x`},
		{`<a href="ftp://a.example/">x</a>`, `x`},
		{`<h2 id="a_b-1">x</h2>`, `<h2 id="a_b-1">x</h2>`},
		{`<h2 id="a b">x</h2>`, `<h2>x</h2>`},
		{`<p id="table-1" class="number">x</p>`, `<p>x</p>`},
		{`<img src="data:image/png;base64,AAAA" alt="a" title="b" width="10" height="50%">`, `<img src="data:image/png;base64,AAAA" alt="a" title="b" width="10" height="50%"/>`},
		{`<img src="data:image/png;base64,AAAA" width="100000">`, `<img src="data:image/png;base64,AAAA"/>`},
		{`<img src="data:text/html;base64,AAAA" alt="a">`, `<img alt="a"/>`},
		{`<img src="/a.png" alt="a">`, `<img alt="a"/>`},
		{`<ol start="3"><li>x</li></ol>`, `<ol start="3"><li>x</li></ol>`},
		{`<ol start="x"><li>x</li></ol>`, `<ol><li>x</li></ol>`},
		{`<input type="checkbox" checked="" disabled="">`, `<input type="checkbox" checked="" disabled=""/>`},
		{`<input type="text" name="a" checked="">`, `<input checked=""/>`},
		{`<details open=""><summary>a</summary>x</details>`, `<details open=""><summary>a</summary>x</details>`},
		{`<span class="k">x</span>`, `<span class="k">x</span>`},
		{`<span class="badge">x</span>`, `<span>x</span>`},
		{`<p style="text-align: left">x</p>`, `<p>x</p>`}, // of cells alone
	} {
		if got := string(sanitise(c.source)); got != c.want {
			t.Errorf("%s\n gives %s\nexpected %s", c.source, got, c.want)
		}
	}
	cell := func(attributes, text string) string {
		s := string(sanitise("<table><tr><td" + attributes + ">" + text + "</td></tr></table>"))
		const before, after = `<div class="scroll" tabindex="0" role="group" aria-label="table"><table><tbody><tr>`, `</tr></tbody></table></div>`
		if !strings.HasPrefix(s, before) || !strings.HasSuffix(s, after) {
			t.Errorf("%s is not in a box that scrolls", s)
		}
		return strings.TrimSuffix(strings.TrimPrefix(s, before), after)
	}
	long := strings.Repeat("ö", 48)
	for _, c := range []struct{ attributes, text, want string }{
		{``, `PASS`, `<td class="pass">PASS</td>`},
		{``, ` FAIL `, `<td class="fail"> FAIL </td>`},
		{``, `PASSED`, `<td>PASSED</td>`},
		{``, long, `<td class="long">` + long + `</td>`},
		{``, long[2:], `<td>` + long[2:] + `</td>`},
		{``, `12 345 a 6 %`, "<td>12\u00a0345 a 6\u00a0%</td>"},
		{` colspan="2" rowspan="3"`, `x`, `<td colspan="2" rowspan="3">x</td>`},
		{` colspan="all"`, `x`, `<td>x</td>`},
		{` align="right"`, `x`, `<td align="right">x</td>`},
		{` style="text-align: right"`, `x`, `<td style="text-align: right">x</td>`},
		{` style="text-align: justify"`, `x`, `<td>x</td>`},
		{` style="text-align: left; color: red"`, `x`, `<td style="text-align: left">x</td>`},
		{` style="white-space: nowrap"`, `x`, `<td style="white-space: nowrap">x</td>`},
		{` style="white-space: pre"`, `x`, `<td>x</td>`},
		{` align="justify"`, `x`, `<td>x</td>`},
	} {
		if got := cell(c.attributes, c.text); got != c.want {
			t.Errorf("%s, %s: %s, expected %s", c.attributes, c.text, got, c.want)
		}
	}
}
