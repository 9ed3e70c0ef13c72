//go:build !windows

package main

import (
	"strings"
	"testing"

	"warpbook/kernel/nbformat"
)

// TestRunInTheNotebooksLanguage: metadata.lang sets the language of cells. A notebook
// without it leaves the user's.
func TestRunInTheNotebooksLanguage(t *testing.T) {
	for _, test := range []struct{ lang, user, want string }{
		{"zh-CN", "", "[zh-CN]"}, {"zh-CN", "en", "[zh-CN]"}, {"en", "zh", "[en]"}, {"", "zh", "[zh]"}, {"", "", "[]"},
	} {
		p := newPlace(t)
		p.notebook("x.ipynb", "out [\nenv WARPBOOK_LANG\nout ]")
		if test.lang != "" {
			nb, err := nbformat.Read(p.path("x.ipynb"))
			if err != nil {
				t.Fatal(err)
			}
			nb.Metadata["lang"] = test.lang
			if err := nb.Write(p.path("x.ipynb")); err != nil {
				t.Fatal(err)
			}
		}
		c := p.command("run", "x.ipynb")
		c.Env = append(c.Env, "WARPBOOK_LANG="+test.user)
		o := p.finish(c)
		if got := strings.ReplaceAll(o.stdout, "\n", ""); o.status != 0 || !strings.Contains(got, test.want) {
			t.Errorf("metadata.lang %q, user's %q: status %d, %q, expected %s", test.lang, test.user, o.status, o.stdout, test.want)
		}
	}
}
