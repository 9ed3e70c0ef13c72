package lite

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/kernel/edited"
)

// licences writes the licences of all that the site contains: of this module, of the Go
// toolchain, whose runtime and wasm_exec.js are in it, of the modules that the program
// links, and of JupyterLite. What was changed is marked.
func (s *site) licences() error {
	var list strings.Builder
	add := func(name, note string, text []byte) error {
		file := strings.NewReplacer("/", "_", "@", "_").Replace(name) + ".txt"
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a> %s</li>\n", file, html.EscapeString(name), html.EscapeString(note))
		return write(s.path("licences", file), text)
	}
	own, err := os.ReadFile(filepath.Join(s.root, "LICENSE"))
	if err != nil {
		return fmt.Errorf("lite: licences: %w", err)
	}
	if err := add("warpbook", "notebooks, reports, kernel, pages", own); err != nil {
		return err
	}
	loader, err := Loader(s.ctx, s.root)
	if err != nil {
		return err
	}
	golang, err := goLicence(loader)
	if err != nil {
		return err
	}
	if err := add("Go", "runtime and standard library in program/cells.wasm.gz, program/wasm_exec.js; unchanged", golang); err != nil {
		return err
	}
	modules, err := s.modules()
	if err != nil {
		return err
	}
	changed := edited.Changes()
	for _, m := range modules {
		text, err := licenceIn(m[1])
		if err != nil {
			return err
		}
		path, _, _ := strings.Cut(m[0], "@")
		note := "in program/cells.wasm.gz; unchanged"
		if why := changed[path]; len(why) > 0 {
			note = "in program/cells.wasm.gz; changed by warpbook, see the end of the text"
			text = append(text, "\n\nThis copy was changed by warpbook (kernel/edited):\n- "+strings.Join(why, "\n- ")+"\n"...)
		}
		if err := add(m[0], note, text); err != nil {
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
	if err := add("JupyterLite", "bootstrap.js, build, lab and the files beside them; service-worker.js and index.html are warpbook's", lite); err != nil {
		return err
	}
	for _, name := range []string{"build", "extensions/warpbook-lite/static", "extensions/jupyterlab_pygments/static"} {
		if _, err := os.Stat(s.path(name, "third-party-licenses.json")); err != nil {
			return fmt.Errorf("lite: licences: %w", err)
		}
		fmt.Fprintf(&list, "<li><a href=\"../%s/third-party-licenses.json\">libraries in %s</a></li>\n", name, name)
	}
	page := "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Licences</title>\n<h1>Licences of all that this site contains</h1>\n<ul>\n" + list.String() + "</ul>\n"
	return write(s.path("licences", "index.html"), []byte(page))
}

// goLicence is the licence of the toolchain that has a wasm_exec.js.
func goLicence(loader string) ([]byte, error) {
	goroot := filepath.Dir(filepath.Dir(filepath.Dir(loader)))
	for _, dir := range []string{goroot, filepath.Dir(goroot)} { // packages of distributions have it above
		if text, err := os.ReadFile(filepath.Join(dir, "LICENSE")); err == nil {
			return text, nil
		}
	}
	return nil, fmt.Errorf("lite: licences: no LICENSE in %s, expected that of Go: install Go from go.dev", goroot)
}

// modules are the modules of the program: path@version and folder.
func (s *site) modules() (list [][2]string, err error) {
	c, err := edited.Command(s.ctx, s.root, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./kernel/cells")
	if err != nil {
		return nil, err
	}
	c.Env = append(c.Env, "GOOS=js", "GOARCH=wasm")
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("lite: licences: go list: %w: %s", err, bytes.TrimSpace(errors.Bytes()))
	}
	lines := strings.Fields(string(out))
	for i := 0; i+1 < len(lines); i += 2 {
		m := [2]string{lines[i], lines[i+1]}
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("lite: licences: no modules, expected those of the cells program")
	}
	return list, nil
}

// licenceIn is the text of a module's licences.
func licenceIn(dir string) ([]byte, error) {
	var texts [][]byte
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("lite: licences: %w", err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("lite: licences: %w", err)
			}
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("lite: licences: no LICENSE in %s, expected one: the module may not be in the site", dir)
	}
	return bytes.Join(texts, []byte("\n\n")), nil
}
