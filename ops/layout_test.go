package ops

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
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
		"ops/ladder/...": none("ops/bench", "ops/optest", "ops/peers"),
		"ops/peers":      none("ops/bench", "ops/optest", "ops/ladder"),
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
	"ops/published":                       "quotes of the founding notes, which use some of the names",
	"ops/optest/h200.txt":                 "the log of the suite on a GPU",
	"kernel/engine/symbols":               "generated from the operators' doc comments",
	"gpu/compile/testdata/listings.txt":   "listings of the founding notes, which use some of the names",
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
