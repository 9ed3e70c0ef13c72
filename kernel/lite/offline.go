package lite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

// onDemand matches files that the service worker keeps when they are first needed: the
// compiler, and results.
var onDemand = []string{"program/clang/", "program/compiler.wasm.gz", "reports/", "files/results/"}

// order are the files that the service worker brings first, by the beginning of their paths:
// the program, JupyterLab, the notebooks. The others follow.
var order = []string{"program/cells.wasm.gz", "program/", "lab/", "build/lab/", "build/jlab_core", "build/", "extensions/", "api/", "files/"}

// The content security policies: pages load from their own site only and send nothing to
// another. JupyterLab checks its settings by code that it makes, and has an inline script,
// whose hash follows.
const (
	policy    = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; " + noScript
	labPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-eval' %s; worker-src 'self' blob:; frame-src 'self' blob: data:; " + noScript
	noScript  = "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'none'"
)

var inline = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// guardLab gives JupyterLab's page its policy.
func (s *site) guardLab() error {
	text, err := os.ReadFile(s.path("lab", "index.html"))
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	const charset = `<meta charset="utf-8">`
	at := bytes.Index(text, []byte(charset))
	if at < 0 {
		return fmt.Errorf("lite: site: lab/index.html: no %s, expected that of JupyterLite 0.8", charset)
	}
	at += len(charset)
	meta := fmt.Sprintf("\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">", policyOfLab(text))
	return write(s.path("lab", "index.html"), slices.Concat(text[:at], []byte(meta), text[at:]))
}

// policyOfLab allows the inline scripts of a page.
func policyOfLab(page []byte) string {
	var hashes []string
	for _, m := range inline.FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(m[1])
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return fmt.Sprintf(labPolicy, strings.Join(hashes, " "))
}

// offline writes the service worker, which keeps the files of the site.
func (s *site) offline() error {
	var files []string
	version := sha256.New()
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "service-worker.js" {
			return err
		}
		text, err := os.ReadFile(s.path(path))
		if err != nil {
			return err
		}
		fmt.Fprintf(version, "%s %x\n", path, sha256.Sum256(text))
		if !slices.ContainsFunc(onDemand, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	lab, err := os.ReadFile(s.path("lab", "index.html"))
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	text, err := scripts.ReadFile("service-worker.js")
	if err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	for place, value := range map[string]any{
		"[/*{{FILES}}*/]":     files,
		"[/*{{ON DEMAND}}*/]": onDemand,
		"{/*{{POLICIES}}*/}":  map[string]string{"": policy, "lab/": policyOfLab(lab)},
	} {
		list, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("lite: site: %w", err)
		}
		text = bytes.Replace(text, []byte(place), list, 1)
	}
	text = bytes.Replace(text, []byte("{{VERSION}}"), fmt.Appendf(nil, "%.8x", version.Sum(nil)), 1)
	return write(s.path("service-worker.js"), text)
}

// rank is the place of a file in order.
func rank(path string) int {
	for i, start := range order {
		if strings.HasPrefix(path, start) {
			return i
		}
	}
	return len(order)
}
