package ops

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of a package of this project.
const module = "warpbook/"

// operators are the folders of ops that hold an operator.
func folders() (names []string) {
	for _, o := range Operators() {
		if !slices.Contains(names, o.Folder) {
			names = append(names, o.Folder)
		}
	}
	return names
}

// listed are the packages of this project that each package of a pattern needs,
// itself and those of its tests included.
func listed(t *testing.T, pattern string) map[string][]string {
	t.Helper()
	c := exec.Command("go", "list", "-test", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", "./"+pattern)
	c.Dir = ".."
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pattern, err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name := strings.TrimSuffix(words[0], ".test") // of the program of tests, without the brackets behind it
		for _, dep := range words[1:] {
			if strings.HasPrefix(dep, module) && !slices.Contains(all[name], dep) {
				all[name] = append(all[name], dep)
			}
		}
	}
	return all
}

// Imports point one way: an operator imports the model and no bench; the bench and
// the suite know no operator; no operator knows another; gpu knows nothing of ops. The
// tests of a package may import the suite and the bench, and no other operator.
func TestLayout(t *testing.T) {
	operators := folders()
	none := func(names ...string) []string { return append(names, operators...) }
	rules := map[string][]string{
		"gpu/...":        {"ops"},
		"ops/ladder/...": none("ops/bench", "ops/optest", "ops/peers", "ops/results"),
		"ops/peers":      none("ops/bench", "ops/optest", "ops/ladder", "ops/results"),
		"ops/run":        none("ops/optest", "ops/peers", "ops/bench/monitor", "ops/results"),
		"ops/results":    none("ops/optest", "ops/run"),
		"ops/bench/...":  none(),
		"ops/optest/...": none(),
	}
	for _, folder := range operators { // a program that imports one operator links no other
		rules[folder] = slices.DeleteFunc(slices.Clone(operators), func(other string) bool { return other == folder })
	}
	for pattern, forbidden := range rules {
		for name, deps := range listed(t, pattern) {
			for _, dep := range deps {
				for _, folder := range forbidden {
					if dep == module+folder || strings.HasPrefix(dep, module+folder+"/") {
						t.Errorf("%s needs %s", name, dep)
					}
				}
			}
		}
	}
}

// A program that calls an operator, such as gemm.Multiply with a handle of package run,
// links no measurement: neither the bench and its results, nor peers, nor a monitor.
func TestCallersLinkNoMeasurement(t *testing.T) {
	args := []string{"list", "-deps", "./ops/run", "./gpu/device"}
	for _, folder := range folders() {
		args = append(args, "./"+folder)
	}
	c := exec.Command("go", args...)
	c.Dir = ".."
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"ops/gemm") {
		t.Fatalf("go %s lists %d packages without ops/gemm", strings.Join(args, " "), len(deps))
	}
	for _, dep := range deps {
		for _, folder := range []string{"ops/bench", "ops/results", "ops/peers", "ops/optest"} {
			if dep == module+folder || strings.HasPrefix(dep, module+folder+"/") {
				t.Errorf("a call of an operator links %s", dep)
			}
		}
	}
}

// roles are the Go files that folders of operators have: what the operators compute,
// their rungs, launches, references and data, the calls for programs, and the embedded
// files.
var roles = []string{"op.go", "rungs.go", "plan.go", "reference.go", "cases.go", "call.go", "files.go"}

// ownFiles are Go files of other names, with what they are for.
var ownFiles = map[string]string{
	"ops/copyif/judge.go":    "results in any order",
	"ops/gelu/errors.go":     "errors on every float16",
	"ops/gemm/auto.go":       "times that a rung is chosen by",
	"ops/gemm/sweep.go":      "rungs of other shapes, for notebooks",
	"ops/reduce/tree.go":     "additions of v0 to v2, for a picture",
	"ops/sort/block.go":      "block_radix.cu and block_buckets.cu",
	"ops/sparse/csr.go":      "matrices on the host",
	"ops/triangles/graph.go": "graphs on the host",
	"ops/triangles/part.go":  "parts of a graph for several devices",
}

// The folders of operators look alike: a Go file has the name of its role, or of the CUDA
// source whose rungs it launches.
func TestFoldersLookAlike(t *testing.T) {
	seen := map[string]bool{}
	files := map[string]fs.FS{}
	for _, o := range Operators() {
		files[o.Folder] = o.Files
	}
	for _, folder := range folders() {
		names, err := filepath.Glob("../" + folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, must := range []string{"op.go", "rungs.go", "cases.go", "files.go"} {
			if !slices.Contains(names, filepath.Join("..", folder, must)) && folder != "ops/sparse" {
				t.Errorf("%s has no %s", folder, must)
			}
		}
		example, err := os.ReadFile("../" + folder + "/example_test.go")
		if _, missing := os.Stat("../" + folder + "/call.go"); missing != nil || err != nil || !strings.Contains(string(example), "func Example() {") {
			t.Errorf("%s: expected call.go, with functions on buffers of the caller's, and example_test.go with the package's Example", folder)
		}
		for _, name := range names {
			base, file := filepath.Base(name), path.Join(folder, filepath.Base(name))
			_, embeds := fs.Stat(files[folder], base)
			if (embeds == nil) == strings.HasSuffix(base, "_test.go") {
				t.Errorf("%s: embedded %v, expected sources without tests: see files.go", file, embeds == nil)
			}
			_, err := os.Stat(strings.TrimSuffix(name, ".go") + ".cu")
			switch {
			case strings.HasSuffix(base, "_test.go"), slices.Contains(roles, base), err == nil:
			case ownFiles[file] != "":
				seen[file] = true
			default:
				t.Errorf("%s: expected the name of a role (%s), of a CUDA source, or a line in ownFiles", file, strings.Join(roles, ", "))
			}
		}
	}
	for file := range ownFiles {
		if !seen[file] {
			t.Errorf("%s has a line in ownFiles and is not there", file)
		}
	}
}

// mostMethods are ceilings of types that have more than 25 methods: they only fall.
var mostMethods = map[string]int{"ops/gemm.Options": 45, "ops/conv1d.Options": 27}

// The types of an operator stay small enough to read: a rung's plan and refusal are methods
// of the rung, not of the options that all rungs have.
func TestTypesHaveFewMethods(t *testing.T) {
	method := regexp.MustCompile(`(?m)^func \(\w+ \*?(\w+)\) `)
	methods := map[string]int{}
	for _, folder := range folders() {
		names, err := filepath.Glob("../" + folder + "/*.go")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d sources, %v", folder, len(names), err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range method.FindAllStringSubmatch(string(text), -1) {
				methods[folder+"."+m[1]]++
			}
		}
	}
	for name, n := range methods {
		if most := max(25, mostMethods[name]); n > most {
			t.Errorf("%s has %d methods, expected at most %d", name, n, most)
		} else if n < mostMethods[name] {
			t.Errorf("%s has %d methods: lower its ceiling of %d", name, n, mostMethods[name])
		}
	}
}

// entry is the first line of an entry in PTX.
var entry = regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`)

// owners are the folders of the operators by the names of their rungs and entries. The
// rungs of compiled Go have names that operators share.
func owners(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, o := range Operators() {
		for _, v := range o.Variants {
			if v.Host == nil {
				all[v.Name] = o.Folder
			}
		}
		for _, module := range o.Modules() {
			files, err := o.PTXFiles(module)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				for _, m := range entry.FindAllStringSubmatch(f.Text, -1) {
					all[m[1]] = o.Folder
				}
			}
		}
	}
	for _, o := range Operators() {
		delete(all, o.Name) // the name of an operator, which is a rung's too
	}
	return all
}

// mayName are the files and folders that name rungs of operators, with the reason.
var mayName = map[string]string{
	"gpu/emu/RATIONALE.md":                "counters of rungs beside the profiler's",
	"ops/clang.md":                        "times of rungs by two compilers",
	"ops/figures.md":                      "the figures of rungs, made from their committed runs",
	"ops/relations.json":                  "sentences of texts that quote figures of rungs",
	"ops/cmd/measured/headlines.go":       "the rungs of README's rows of figures",
	"ops/cmd/measured/headlines_test.go":  "the same",
	"ops/headlines":                       "lines of benches on GPUs",
	"ops/published":                       "quotes of the founding notes, which use some of the names",
	"ops/optest/suites.h100.txt":          "the log of suites on a GPU",
	"ops/optest/suites.h200.txt":          "the log of suites on a GPU",
	"ops/touch_test.go":                   "a test of pictures, whose shape the sources of rungs say",
	"kernel/messages/zh-CN.json":          "translations of what cells print",
	"kernel/engine/symbols":               "generated from the operators' doc comments",
	"gpu/compile/listings/listings.txt":   "listings of the founding notes, which use some of the names",
	"ops/cmd/listings":                    "the founding notes' listings and their mains, which use some of the names",
	"kernel/warpbook/lessons_test.go":     "a test of what notebook 01 says of rungs",
	"kernel/warpbook/main.go":             "an example in the help of a command",
	"kernel/report/testdata/reduce.ipynb": "an executed notebook, which reports are made from",
}

// Nothing outside an operator's folder names its rungs or entries: neither the model,
// the bench, the commands and the devices, nor their tests. So a rung is renamed, and
// an operator removed, in one folder. gpu names no folder of an operator either.
func TestEntriesNamedInOwnFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	owner := owners(t)
	if len(owner) < 100 {
		t.Fatalf("%d entries, expected those of every operator", len(owner))
	}
	used := map[string]bool{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && !strings.Contains(name, "/") && name != "." && !slices.Contains([]string{"gpu", "install", "kernel", "ops"}, name) {
			return fs.SkipDir // notebooks, documents and reports name rungs
		}
		if _, may := mayName[name]; may {
			used[name] = true
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || !strings.Contains(name, "/") || slices.Contains(folders(), path.Dir(name)) && path.Ext(name) != ".go" || !d.Type().IsRegular() {
			return nil // CUDA C++ of an operator launches nothing, and may have functions of any name
		}
		text, err := os.ReadFile("../" + name)
		if err != nil {
			return err
		}
		for number, line := range strings.Split(string(text), "\n") {
			for _, word := range strings.FieldsFunc(line, func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			}) {
				if folder := owner[word]; folder != "" && !strings.HasPrefix(name, folder+"/") {
					t.Errorf("%s:%d: names %s of %s: use an entry of the test's own, or take one from the catalogue", name, number+1, word, folder)
				}
			}
			for _, folder := range folders() {
				if strings.HasPrefix(name, "gpu/") && strings.Contains(line, folder+"/") {
					t.Errorf("%s:%d: names %s", name, number+1, folder)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range mayName {
		if !used[name] {
			t.Errorf("%s is excepted and is not there", name)
		}
	}
}
