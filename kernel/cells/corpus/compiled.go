package corpus

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// twins is a compiled program that runs one twin of many, and the reasons why others have none.
type twins struct {
	binary string
	number map[string]int
	left   map[string]string
}

// answers runs the twins of notebooks.
func (t twins) answers(all []Notebook, orders []Order, jobs int) map[string]twinAnswers {
	found := map[string]twinAnswers{}
	for i, answers := range Each(all, jobs, func(n Notebook) twinAnswers {
		if t.left[n.Name] != "" {
			return noAnswers(t.left[n.Name])
		}
		answers := twinAnswers{}
		for _, order := range orders {
			answers[order] = t.run(n, order)
		}
		return answers
	}) {
		found[all[i].Name] = answers
	}
	return found
}

// failedPackage begins the errors of a package that does not compile.
var failedPackage = regexp.MustCompile(`(?m)^# twins/p(\d+)\n(.*)`)

// compileTwins compiles the twins of notebooks, below a folder.
func compileTwins(dir string, all []Notebook) (t twins, err error) {
	if dir, err = os.MkdirTemp(dir, "twins"); err != nil {
		return t, err
	}
	t = twins{filepath.Join(dir, "twins"), map[string]int{}, map[string]string{}}
	if err := t.write(dir, all); err != nil || len(t.number) == 0 {
		return t, err
	}
	for {
		if err := t.writeMain(dir); err != nil {
			return t, err
		}
		out, err := goBuild(dir, "-o", t.binary, ".")
		if err == nil {
			return t, nil
		}
		failed := failedPackage.FindAllStringSubmatch(out, -1) // the errors tell which are no programs
		if len(failed) == 0 {
			return t, fmt.Errorf("corpus: build the compiled twins: %w: %.2000s", err, out)
		}
		for _, m := range failed {
			var i int
			fmt.Sscan(m[1], &i)
			t.left[all[i].Name] = "does not compile: " + m[2]
			delete(t.number, all[i].Name)
		}
	}
}

// writeMain writes the program that runs one of the twins.
func (t twins) writeMain(dir string) error {
	var imports, cases strings.Builder
	for _, i := range t.number {
		fmt.Fprintf(&imports, "import p%d \"twins/p%d\"\n", i, i)
		fmt.Fprintf(&cases, "\tcase \"%d each\":\n\t\tp%d.Each()\n\tcase \"%d all\":\n\t\tp%d.All()\n", i, i, i, i)
	}
	text := "package main\n\nimport \"os\"\n" + imports.String() + "\nfunc main() {\n\tswitch os.Args[1] {\n" + cases.String() + "\t}\n}\n"
	return os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o666)
}

// write writes the twins of notebooks as packages of a module.
func (t twins) write(dir string, all []Notebook) error {
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module twins\n\ngo 1.26\n"), 0o666); err != nil {
		return err
	}
	root, err := GoRoot()
	if err != nil {
		return err
	}
	for i, n := range all {
		src, reason := twinOf(root, n.Cells)
		if reason != "" {
			t.left[n.Name] = reason
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("p%d", i))
		if err := os.Mkdir(path, 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(path, "p.go"), []byte(src), 0o666); err != nil {
			return err
		}
		t.number[n.Name] = i
	}
	return nil
}

func goBuild(dir string, args ...string) (string, error) {
	// Nothing is optimised, because most twins run for a millisecond.
	c := exec.Command("go", append([]string{"build", "-gcflags=twins/...=-N -l", "-ldflags=-s -w"}, args...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := c.CombinedOutput()
	return string(out), err
}

// ofTwin are names of types of a twin, which print as those of package main in a cell.
var ofTwin = regexp.MustCompile(`\b(twin|twins/p\d+)\b`)

// run runs the twin of a notebook.
func (t twins) run(n Notebook, order Order) twinAnswer {
	ctx, cancel := context.WithTimeout(context.Background(), twinLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, t.binary, fmt.Sprint(t.number[n.Name], " ", order))
	c.Dir, c.Stdout, c.Stderr, c.Env = n.Dir, &stdout, &stderr, append(os.Environ(), timeZone)
	if err := c.Run(); err != nil {
		return twinAnswer{reason: "the compiled program fails when each statement runs twice: " + err.Error() + ": " + firstLine(stderr.String())}
	}
	return twinAnswer{text: ofTwin.ReplaceAllString(stdout.String(), "main")}
}
