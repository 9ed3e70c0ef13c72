package lite

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/nbformat"
	"warpbook/kernel/report"
)

//go:embed files.js vectors.js program.js worker.js compile.js compiler.js client.js keep.js cell.html cell.js page.css index.html index.js service-worker.js notebooks.json
var scripts embed.FS

// The scripts beside the program, and the pages at the root of the site.
var (
	programScripts = []string{"files.js", "vectors.js", "program.js", "worker.js", "compile.js", "compiler.js", "client.js", "keep.js"}
	pages          = []string{"cell.html", "cell.js", "page.css", "index.js"}
)

// site is a site that is being built.
type site struct {
	ctx      context.Context
	root     string // of the module
	dir      string // of the site
	work     string // a temporary folder beside it
	progress io.Writer
}

// Site builds the whole site into a folder that does not exist or is empty. It appears
// there when it is complete.
func Site(ctx context.Context, root, dir string, progress io.Writer) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	if err := emptyFolder(dir); err != nil {
		return err
	}
	if err := tools(); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), workFolder)
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	defer os.RemoveAll(work)
	s := &site{ctx: ctx, root: root, dir: filepath.Join(work, "site"), work: work, progress: progress}
	for _, step := range []func() error{s.lab, s.program, s.compiler, s.pages, s.reports, s.licences, s.index, s.offline} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	if err := os.Rename(s.dir, dir); err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	fmt.Fprintf(progress, "warpbook: the site is in %s: serve it with any file server, such as python3 -m http.server --directory %s\n", dir, dir)
	return nil
}

// emptyFolder makes a folder, and refuses one that has files: a site is written whole.
func emptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("lite: site %s: %d files are there, expected an empty folder or a new one: remove it or name another", dir, len(entries))
	}
	return nil
}

// tools reports a missing program that builds JupyterLite or the extension.
func tools() error {
	for _, name := range []string{"python3", "node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("lite: site: %s is not in PATH, expected Python 3.10 with pip and venv, and Node 20 with npm: install them", name)
		}
	}
	return nil
}

// run runs a program; its output is shown if it fails.
func (s *site) run(dir, name string, args ...string) error {
	c := exec.CommandContext(s.ctx, name, args...)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("lite: site: %s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// path is a path in the site.
func (s *site) path(name ...string) string { return filepath.Join(append([]string{s.dir}, name...)...) }

// python is a program of the environment that lab makes.
func (s *site) python(name string) string { return filepath.Join(s.work, "venv", "bin", name) }

// workFolder begins the name of the folder of a build.
const workFolder = ".warpbook-site-"

// fileTime is the time of all files in the list that the file browser shows. With times of
// the build, equal checkouts would make unequal sites, and browsers that have a site would
// load it again after each build.
var fileTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// lab builds JupyterLite with the kernel's extension and the notebooks.
func (s *site) lab() error {
	fmt.Fprintln(s.progress, "warpbook: building JupyterLite and the kernel's extension")
	venv := filepath.Join(s.work, "venv")
	if err := s.run(s.work, "python3", "-m", "venv", venv); err != nil {
		return err
	}
	requirements, err := filepath.Abs(filepath.Join(s.root, "kernel/lite/requirements.txt"))
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	if err := s.run(s.work, s.python("pip"), "install", "--quiet", "--disable-pip-version-check", "-r", requirements); err != nil {
		return err
	}
	built, err := s.extension(venv)
	if err != nil {
		return err
	}
	if err := copyFolder(built, filepath.Join(venv, "share/jupyter/labextensions/warpbook-lite")); err != nil {
		return err
	}
	contents := filepath.Join(s.work, "contents")
	if err := copyFolder(filepath.Join(s.root, "notebooks"), contents); err != nil {
		return err
	}
	lab := filepath.Join(s.work, "lab")
	if err := os.Mkdir(lab, 0o755); err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	if err := s.run(lab, s.python("jupyter-lite"), "build", "--output-dir", s.dir, "--contents", contents, "--apps", "lab", "--no-sourcemaps", "--no-unused-shared-packages", fmt.Sprint("--source-date-epoch=", fileTime.Unix())); err != nil {
		return err
	}
	if err := s.guardLab(); err != nil {
		return err
	}
	return s.configure()
}

// extension builds the JupyterLab extension and returns its folder.
func (s *site) extension(venv string) (string, error) {
	dir := filepath.Join(s.work, "extension")
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json", "webpack.config.js", ".npmrc", "src/index.ts"} {
		if err := copyFile(filepath.Join(s.root, "kernel/lite/extension", name), filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	core, err := filepath.Glob(filepath.Join(venv, "lib/python3*/site-packages/jupyterlab/staging/package.json"))
	if err != nil || len(core) != 1 {
		return "", fmt.Errorf("lite: site: %d package.json of JupyterLab in %s, expected one", len(core), venv)
	}
	for _, args := range [][]string{
		{"npm", "install", "--no-save"}, // npm ci wants the lock to name the compiler's binaries of all platforms
		{"node", "node_modules/typescript/bin/tsc"},
		{"node", "node_modules/@jupyter/builder/lib/build-labextension.js", "--core-package-file", core[0], "."},
	} {
		if err := s.run(dir, args[0], args[1:]...); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "labextension"), nil
}

// noWorker is JupyterLite's own service worker, which unregisters others; the extension
// registers that of the site.
const noWorker = "@jupyterlite/application-extension:service-worker-manager"

// configure makes Go the kernel of new notebooks.
func (s *site) configure() error {
	text, err := os.ReadFile(s.path("jupyter-lite.json"))
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("lite: site: jupyter-lite.json: %w", err)
	}
	config, ok := all["jupyter-config-data"].(map[string]any)
	if !ok {
		return fmt.Errorf("lite: site: jupyter-lite.json: no jupyter-config-data, expected that of JupyterLite 0.8")
	}
	config["defaultKernelName"] = "warpbook"
	disabled, _ := config["disabledExtensions"].([]any)
	config["disabledExtensions"] = append(disabled, noWorker)
	if text, err = json.MarshalIndent(all, "", " "); err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	return write(s.path("jupyter-lite.json"), text)
}

// packer compresses a file by libdeflate at its highest level: 0.5 % less than level 10.
const packer = `import deflate, sys
with open(sys.argv[1], "rb") as f: data = f.read()
with open(sys.argv[2], "wb") as f: f.write(deflate.gzip_compress(data, 12))`

// program builds the cells program and puts the worker's scripts beside it.
func (s *site) program() error {
	loader, err := Loader(s.ctx, s.root)
	if err != nil {
		return err
	}
	if err := copyFile(loader, s.path("program", "wasm_exec.js")); err != nil {
		return err
	}
	for _, name := range programScripts {
		if err := s.script(name, s.path("program", name)); err != nil {
			return err
		}
	}
	unpacked := filepath.Join(s.work, "cells.wasm")
	if err := Program(s.ctx, s.root, unpacked, s.progress); err != nil {
		return err
	}
	packed := s.path("program", "cells.wasm.gz")
	if err := s.run(s.work, s.python("python3"), "-c", packer, unpacked, packed); err != nil {
		return err
	}
	info, err := os.Stat(packed)
	if err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	fmt.Fprintf(s.progress, "warpbook: cells program for the browser: %.1f MB compressed\n", float64(info.Size())/1e6)
	return s.cellFiles()
}

// cellFiles lists the files that cells of the notebooks open.
func (s *site) cellFiles() error {
	files := []string{}
	err := fs.WalkDir(os.DirFS(s.path("files")), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".ptx") || strings.HasSuffix(path, ".run")) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	text, err := json.Marshal(files)
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	return write(s.path("program", "files.json"), text)
}

func (s *site) pages() error {
	for _, name := range pages {
		if err := s.script(name, s.path(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) script(name, to string) error {
	text, err := scripts.ReadFile(name)
	if err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	return write(to, bytes.ReplaceAll(text, []byte("{{POLICY}}"), []byte(policy)))
}

// reports renders the executed notebooks of each GPU, with a link to the notebook in this site.
func (s *site) reports() error {
	paths, err := filepath.Glob(filepath.Join(s.root, "notebooks/results/*/*.ipynb"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("lite: site: no executed notebook in notebooks/results, expected some in a folder for each GPU")
	}
	for _, path := range paths {
		nb, err := nbformat.Read(path)
		if err != nil {
			return fmt.Errorf("lite: site: %w", err)
		}
		var page bytes.Buffer
		if err := report.Render(&page, nb, report.Origin{}); err != nil {
			return fmt.Errorf("lite: site: %w", err)
		}
		text := page.Bytes()
		name, gpu := strings.TrimSuffix(filepath.Base(path), ".ipynb"), filepath.Base(filepath.Dir(path))
		link := `<p><a href="../../lab/index.html?path=` + name + `.ipynb">Run this notebook here, in the browser</a> (on the emulator; this report is of an ` + strings.ToUpper(gpu) + `)</p>`
		at := bytes.Index(text, []byte("<main"))
		end := bytes.IndexByte(text[max(at, 0):], '>')
		if at < 0 || end < 0 {
			return fmt.Errorf("lite: site: %s: no <main>, expected a report of warpbook", path)
		}
		if err := write(s.path("reports", gpu, name+".html"), slices.Concat(text[:at+end+1], []byte(link), text[at+end+1:])); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file and makes its folder.
func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	return nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	return write(to, text)
}

func copyFolder(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	return nil
}
