package corpus

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/cells/corpus/twin"
)

// twins is a compiled program that runs one twin of many, and the reasons why others have none.
type twins struct {
	root, dir string
	packages  map[int]bool      // by number
	arguments map[string]string // the number of the package, and of its functions in the order in which they run, by key
	left      map[string]string // by key
	refused   map[string]string // runs that compiled Go refuses, by key
}

// key is the name of a notebook that runs in an order.
func key(n Notebook, order Order) string { return string(order) + " " + n.Name }

// twinFolder is where twins are packages of this module. There is no such folder.
const twinFolder = "kernel/cells/corpus/twins"

// answers runs the twins of notebooks.
func (t twins) answers(all []Notebook, orders []Order, jobs int) map[string]twinAnswers {
	found := map[string]twinAnswers{}
	for i, answers := range Each(all, jobs, func(n Notebook) twinAnswers {
		answers := twinAnswers{}
		for _, order := range orders {
			answers[order] = t.answer(n, order)
		}
		return answers
	}) {
		found[all[i].Name] = answers
	}
	return found
}

// failedPackage begins the errors of a package that does not compile.
var failedPackage = regexp.MustCompile(`(?m)^# warpbook/` + twinFolder + `/p(\d+)\n(.*)`)

// compileTwins compiles the twins of notebooks as packages of this module, whose files lie in a
// folder.
func compileTwins(dir string, all []Notebook, orders []Order) (t twins, err error) {
	if len(all) == 0 {
		return t, nil
	}
	if t.root, err = moduleRoot(); err != nil {
		return t, err
	}
	if t.dir, err = os.MkdirTemp(dir, "twins"); err != nil {
		return t, err
	}
	t.packages, t.arguments, t.left, t.refused = map[int]bool{}, map[string]string{}, map[string]string{}, map[string]string{}
	if err := t.write(all, orders); err != nil {
		return t, err
	}
	for {
		out, err := t.build()
		if err == nil {
			return t, nil
		}
		failed := failedPackage.FindAllStringSubmatch(out, -1) // the errors tell which are no programs
		if len(failed) == 0 {
			return t, fmt.Errorf("corpus: build the compiled twins: %w: %.2000s", err, out)
		}
		for _, m := range failed {
			i, _ := strconv.Atoi(m[1])
			delete(t.packages, i)
			for key, arguments := range t.arguments {
				if strings.HasPrefix(arguments, m[1]+" ") {
					t.left[key] = "does not compile: " + m[2]
				}
			}
		}
	}
}

// moduleRoot is the folder of this module.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("corpus: go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// write writes the twins of notebooks, each text once.
func (t twins) write(all []Notebook, orders []Order) error {
	var paths []string
	for _, n := range all {
		paths = append(paths, twin.Imports(n.Cells)...)
	}
	slices.Sort(paths)
	imports, err := exported(t.root, slices.Compact(paths))
	if err != nil {
		return err
	}
	written := map[string]int{}
	for _, n := range all {
		for _, order := range orders {
			one, err := twin.New(n.Cells, order.runs(len(n.Cells)), imports)
			if err != nil {
				t.left[key(n, order)] = err.Error()
				continue
			}
			t.refused[key(n, order)] = fmt.Sprint(one.Refusals())
			src, runs := one.Source("warpbook/" + twinFolder + "/run")
			i, known := written[src]
			if !known {
				i = len(written)
				if err := os.WriteFile(t.file(i), []byte(src), 0o666); err != nil {
					return err
				}
				written[src], t.packages[i] = i, true
			}
			t.arguments[key(n, order)] = strings.NewReplacer("[", "", "]", "").Replace(fmt.Sprint(i, runs))
		}
	}
	return nil
}

// file is that of a package.
func (t twins) file(i int) string { return filepath.Join(t.dir, fmt.Sprintf("p%d.go", i)) }

func (t twins) binary() string { return filepath.Join(t.dir, "twins") }

// build builds the program.
func (t twins) build() (output string, err error) {
	main, run := filepath.Join(t.dir, "main.go"), filepath.Join(t.dir, "run.go")
	place := filepath.Join(t.root, filepath.FromSlash(twinFolder))
	replace := map[string]string{filepath.Join(place, "main.go"): main, filepath.Join(place, "run", "run.go"): run}
	var imports, cases strings.Builder
	for _, i := range slices.Sorted(maps.Keys(t.packages)) {
		replace[filepath.Join(place, fmt.Sprint("p", i), "p.go")] = t.file(i)
		fmt.Fprintf(&imports, "import p%d \"warpbook/%s/p%d\"\n", i, twinFolder, i)
		fmt.Fprintf(&cases, "\tcase %d:\n\t\trun.Run(p%d.Cells%s, order[1:]...)\n", i, i, twin.Dot)
	}
	text := "package main\n\nimport \"fmt\"\nimport \"os\"\nimport \"warpbook/" + twinFolder + "/run\"\n" + imports.String() + `
func main() {
	order := make([]int, len(os.Args)-1)
	for i := range order {
		fmt.Sscan(os.Args[i+1], &order[i])
	}
	os.Args = os.Args[:1]
	switch order[0] {
` + cases.String() + "\t}\n}\n"
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	for file, text := range map[string]string{main: text, run: twinRun, filepath.Join(t.dir, "overlay.json"): string(overlay)} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	// Nothing is optimised, because most twins run for a millisecond.
	c := exec.Command("go", "build", "-overlay", filepath.Join(t.dir, "overlay.json"), "-gcflags=warpbook/"+twinFolder+"/...=-N -l", "-ldflags=-s -w", "-o", t.binary(), "./"+twinFolder)
	c.Dir = t.root
	out, err := c.CombinedOutput()
	return string(out), err
}

//go:embed run.go.txt
var twinRun string

// answer runs the twin of a notebook.
func (t twins) answer(n Notebook, order Order) twinAnswer {
	if reason := t.left[key(n, order)]; reason != "" {
		return twinAnswer{reason: reason}
	}
	root, err := goRoot()
	if err != nil {
		return twinAnswer{reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), twinLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	arguments := strings.Fields(t.arguments[key(n, order)])
	c := exec.CommandContext(ctx, t.binary(), arguments...)
	c.Dir, c.Stdout, c.Stderr, c.Env = n.Dir, &stdout, &stderr, append(os.Environ(), timeZone, "GOROOT="+root)
	if err := c.Run(); err != nil {
		return twinAnswer{reason: "the compiled program fails: " + err.Error() + ": " + firstLine(stderr.String())}
	}
	if runs := strings.Count(stdout.String(), "\x02"); runs != len(arguments)-1 {
		return twinAnswer{reason: fmt.Sprintf("the compiled program ends with run %d of %d", runs, len(arguments)-1)}
	}
	return twinAnswer{text: plain(stdout.String()), refused: t.refused[key(n, order)]}
}

// What differs between sessions and compiled programs: names of types that were declared anew,
// and of the package of a twin, addresses of memory and of listeners, bytes that are no UTF-8,
// and what the session advises when a flag is defined again.
var differences = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`[·` + twin.Dot + `]\d+`), ""},
	{regexp.MustCompile(`\b(warpbook/` + twinFolder + `/p\d+|twin)\b`), "main"},
	{regexp.MustCompile(` \(types of different cells\)`), ""},
	{regexp.MustCompile(`\b0xc[0-9a-f]{8,}\b`), "0xc#"},
	{regexp.MustCompile(`\b127\.0\.0\.1:\d+\b`), "127.0.0.1:#"},
	{regexp.MustCompile(`\x{FFFD}`), ""},
	{regexp.MustCompile(`panic: \S+ (flag redefined: \w+)(: set it with flag.Set, or use a flag.NewFlagSet of the cell, which can run again)?`), "panic: $1"},
}

// plain is an output without these.
func plain(out string) string {
	out = strings.ToValidUTF8(out, "")
	for _, d := range differences {
		out = d.pattern.ReplaceAllString(out, d.text)
	}
	return out
}

// exported is an importer of packages that the go command has compiled.
func exported(root string, paths []string) (types.Importer, error) {
	c := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "--"}, paths...)...)
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("corpus: go list: %w", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }), nil
}
