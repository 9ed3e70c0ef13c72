package lite

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"warpbook/kernel/licences"
)

// clangNotice precedes the text of Apache-2.0, which is this module's licence too.
const clangNotice = `clang and LLVM, built by YoWASP: Apache-2.0 WITH LLVM-exception, https://llvm.org/LICENSE.txt.
The exceptions: object code into which the compiler has put parts of itself may be spread
without conditions 4(a), 4(b) and 4(d), and software that is combined with code under the
GPLv2 is free of those conditions that conflict with it. The text of Apache-2.0:

`

// licences writes the licences of all that the site contains: of this module, of the Go
// toolchain, whose runtime and wasm_exec.js are in it, of the modules that the program
// links, and of JupyterLite. What was changed is marked.
func (s *site) licences() error {
	var list strings.Builder
	add := func(l licences.Licence, note string) error {
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a> %s</li>\n", l.File(), html.EscapeString(l.Name), html.EscapeString(note))
		return write(s.path("licences", l.File()), l.Text)
	}
	parts, err := licences.Of(s.ctx, s.root, []string{"GOOS=js", "GOARCH=wasm"}, "./kernel/cells")
	if err != nil {
		return err
	}
	for _, part := range parts {
		note := "in program/cells.wasm.gz; unchanged"
		switch {
		case part.Name == "warpbook":
			note = "notebooks, reports, kernel, pages"
		case part.Name == "Go":
			note = "runtime and standard library in program/cells.wasm.gz, program/wasm_exec.js; unchanged"
		case part.Changed:
			note = "in program/cells.wasm.gz; changed by warpbook, see the end of the text"
		}
		if err := add(part, note); err != nil {
			return err
		}
	}
	texts, err := filepath.Glob(filepath.Join(s.work, "venv/lib/python3*/site-packages/jupyterlite_core-*.dist-info/licenses/LICENSE*"))
	if err != nil || len(texts) == 0 {
		return fmt.Errorf("lite: licences: no LICENSE in the package jupyterlite_core, expected one")
	}
	lite, err := os.ReadFile(texts[0])
	if err != nil {
		return fmt.Errorf("lite: licences: %w", err)
	}
	if err := add(licences.Licence{Name: "JupyterLite", Text: lite}, "bootstrap.js, build, lab and the files beside them; service-worker.js and index.html are warpbook's"); err != nil {
		return err
	}
	apache, err := os.ReadFile(filepath.Join(s.root, "LICENSE"))
	if err != nil {
		return fmt.Errorf("lite: licences: %w", err)
	}
	if err := add(licences.Licence{Name: "clang and LLVM", Text: append([]byte(clangNotice), apache...)}, "in program/clang, of the npm package "+clangPackage+"; its programs are compressed, its headers and libraries left out"); err != nil {
		return err
	}
	for _, name := range []string{"build", "extensions/warpbook-lite/static", "extensions/jupyterlab_pygments/static", "extensions/@jupyter-widgets/jupyterlab-manager/static"} {
		if _, err := os.Stat(s.path(name, "third-party-licenses.json")); err != nil {
			return fmt.Errorf("lite: licences: %w", err)
		}
		fmt.Fprintf(&list, "<li><a href=\"../%s/third-party-licenses.json\">libraries in %s</a></li>\n", name, name)
	}
	page := "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Licences</title>\n<link rel=\"stylesheet\" href=\"../page.css\">\n<main>\n<h1>Licences of all that this site contains</h1>\n<ul>\n" + list.String() + "</ul>\n</main>\n"
	return write(s.path("licences", "index.html"), []byte(page))
}
