package lite

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// partial is a site with the notebooks, without JupyterLite and the program.
func partial(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{ctx: t.Context(), root: root, dir: filepath.Join(dir, "site"), work: dir, progress: io.Discard}
	if err := copyFolder(filepath.Join(root, "notebooks"), s.path("files")); err != nil {
		t.Fatal(err)
	}
	if err := write(s.path("jupyter-lite.json"), []byte(`{"jupyter-config-data": {"defaultKernelName": "python", "n": 1}}`)); err != nil {
		t.Fatal(err)
	}
	if err := write(s.path("lab", "index.html"), []byte(`<html><head><meta charset="utf-8"><script>1</script></head></html>`)); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{s.guardLab, s.configure, s.cellFiles, s.pages, s.reports, s.index, s.offline} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPartialSite makes one site for three tests, because rendering its reports takes most of their time.
func TestPartialSite(t *testing.T) {
	s := partial(t)
	t.Run("pages", func(t *testing.T) { testPages(t, s) })
	t.Run("on demand", func(t *testing.T) { testOnDemand(t, s) })
	t.Run("version", func(t *testing.T) { testVersion(t, s) })
}

// testPages: links of pages have targets, and the service worker keeps every file.
func testPages(t *testing.T, s *site) {
	if config := read(t, s.path("jupyter-lite.json")); !strings.Contains(config, `"defaultKernelName": "warpbook"`) || !strings.Contains(config, `"n": 1`) || !strings.Contains(config, noWorker) {
		t.Errorf("configuration %s", config)
	}
	if list := read(t, s.path("program", "files.json")); !strings.Contains(list, `"12-write-your-own/step1.ptx"`) {
		t.Errorf("files of cells: %s", list)
	}
	report := read(t, s.path("reports", "h200", "01-reduce.html"))
	link := strings.Index(report, `href="../../lab/index.html?path=01-reduce.ipynb"`)
	if link < strings.Index(report, "<main") || strings.Count(report, "Run this notebook here") != 1 {
		t.Errorf("link at %d of the report", link)
	}
	index := read(t, s.path("index.html"))
	for _, want := range []string{`lab/index.html?path=01-reduce.ipynb`, `reports/h200/01-reduce.html`, `licences/index.html`, `id="jupyter-config-data"`} {
		if !strings.Contains(index, want) {
			t.Errorf("index.html has no %s", want)
		}
	}
	for _, page := range []string{index, read(t, s.path("cell.html"))} {
		if !strings.Contains(page, `rel="icon"`) { // else browsers ask for favicon.ico, which is not there
			t.Error("a page without an icon")
		}
	}
	worker := read(t, s.path("service-worker.js"))
	for _, page := range []string{index, worker, read(t, s.path("cell.html"))} {
		if strings.Contains(page, "{{") {
			t.Error("a placeholder is left")
		}
	}
	files := 0
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "service-worker.js" {
			return err
		}
		later := slices.ContainsFunc(onDemand, func(start string) bool { return strings.HasPrefix(path, start) })
		if files++; strings.Contains(worker, `"`+path+`"`) == later {
			t.Errorf("%s: the service worker brings it at the first visit: %v", path, !later)
		}
		return nil
	})
	if err != nil || files < 20 {
		t.Errorf("%d files: %v", files, err)
	}
}

// testOnDemand: the service worker does not fetch the compiler at the first visit.
func testOnDemand(t *testing.T, s *site) {
	for _, name := range []string{"program/clang/bundle.js", "program/compiler.wasm.gz"} {
		if err := write(s.path(filepath.FromSlash(name)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.offline(); err != nil {
		t.Fatal(err)
	}
	worker := read(t, s.path("service-worker.js"))
	_, list, _ := strings.Cut(worker, "files = ")
	list, _, _ = strings.Cut(list, ";")
	if strings.Contains(list, "clang") || strings.Contains(list, "compiler.wasm") || !strings.Contains(list, `["program/files.json","lab/index.html","files/00-your-gpu.ipynb"`) || strings.Contains(list, "results/") {
		t.Errorf("the service worker brings %s", list)
	}
}

// TestEntries: the first page lists every notebook in two languages; where there is a
// translation, with its title.
func TestEntries(t *testing.T) {
	list, err := entries()
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(root, "notebooks/*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		title, err := heading(path)
		if err != nil {
			t.Fatal(err)
		}
		if original, ok := strings.CutSuffix(name, ".zh"); ok {
			if e := list[i-1]; e.Name != original || e.TitleZh != title {
				t.Errorf("%+v, expected the title %s", e, title)
			}
			continue
		}
		if i == len(list) || list[i].Name != name {
			t.Fatalf("notebooks.json: entry %d, expected %s", i, name)
		}
		if e := list[i]; e.En == "" || e.Zh == "" || e.TitleZh == "" || len(e.Needs) != 0 && len(e.Needs) != 2 {
			t.Errorf("%+v, expected a line and a title in Chinese", e)
		}
		i++
	}
	if i != len(list) {
		t.Errorf("notebooks.json: %d entries, expected %d", len(list), i)
	}
}

// testVersion: the service worker of another site has another version.
func testVersion(t *testing.T, s *site) {
	before := read(t, s.path("service-worker.js"))
	if err := s.offline(); err != nil {
		t.Fatal(err)
	}
	if read(t, s.path("service-worker.js")) != before {
		t.Error("the same site has another service worker")
	}
	if err := write(s.path("cell.js"), []byte("changed")); err != nil {
		t.Fatal(err)
	}
	if err := s.offline(); err != nil {
		t.Fatal(err)
	}
	if read(t, s.path("service-worker.js")) == before {
		t.Error("a changed site has the same service worker, which would keep the old files")
	}
}

// TestSiteRefusesFiles: a folder with files is not overwritten.
func TestSiteRefusesFiles(t *testing.T) {
	dir := t.TempDir()
	if err := write(filepath.Join(dir, "mine"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	err := Site(t.Context(), root, dir, io.Discard)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "1 files are there, expected an empty folder") {
		t.Errorf("%v", err)
	}
	if read(t, filepath.Join(dir, "mine")) != "x" {
		t.Error("the file has changed")
	}
}

// TestPinned: the libraries of the site have exact versions, and hashes where npm takes
// them.
func TestPinned(t *testing.T) {
	for line := range strings.Lines(read(t, "requirements.txt")) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.Contains(line, "==") {
			t.Errorf("requirements.txt: %s, expected an exact version", line)
		}
	}
	lock := read(t, "extension/package-lock.json")
	if strings.Contains(lock, `"resolved"`) || strings.Count(lock, `"integrity"`) < 100 {
		t.Error("package-lock.json: expected the hash of each package and no address")
	}
}

// TestSiteIsReproducible: a built site has neither the time of its build nor the path.
func TestSiteIsReproducible(t *testing.T) {
	dir := os.Getenv("WARPBOOK_SITE")
	if dir == "" {
		t.Skip("needs WARPBOOK_SITE, the folder of `go run ./install --site`")
	}
	const entry = "webpack/container/entry/warpbook-lite" // a number in its place is a hash of the path
	lists, entries := 0, 0
	listed := regexp.MustCompile(`"(?:created|last_modified)": *"([^"]*)"`)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte(workFolder)) {
			t.Errorf("%s names the folder of the build", path)
		}
		if name := d.Name(); name == "all.json" {
			for _, m := range listed.FindAllSubmatch(text, -1) {
				lists++
				if at, err := time.Parse(time.RFC3339, string(m[1])); err != nil || !at.Equal(fileTime) {
					t.Errorf("%s: %s, expected %v", path, m[0], fileTime)
				}
			}
		} else if strings.HasPrefix(path, "extensions/warpbook-lite/static/remoteEntry.") {
			entries++
			if !bytes.Contains(text, []byte(entry)) {
				t.Errorf("%s: no %s, expected the names of modules", path, entry)
			}
		}
		return nil
	})
	if err != nil || lists < 50 || entries != 1 {
		t.Errorf("%v: %d times and %d entries of the extension, expected at least 50, and one", err, lists, entries)
	}
}
