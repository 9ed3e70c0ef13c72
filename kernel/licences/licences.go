// Package licences collects the licences of what programs of this module are made of: this
// module, Go, and the modules that are linked. Whoever passes a program on has to pass them
// on, too: the wheel and the site do.
package licences

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/kernel/edited"
)

// Licence is the licence of a part of a program.
type Licence struct {
	Name    string // such as github.com/google/uuid@v1.6.0
	Text    []byte // ends with our changes, where there are some
	Changed bool   // by package edited
}

// File is a name for the file of a licence.
func (l Licence) File() string {
	return strings.NewReplacer("/", "_", "@", "_").Replace(l.Name) + ".txt"
}

// Of returns the licences of programs, given by flags of go list and the folders of their
// packages, which are built in the module at root with the environment env, such as GOOS=js.
// The first two are those of this module and of Go.
func Of(ctx context.Context, root string, env []string, programs ...string) ([]Licence, error) {
	own, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, fmt.Errorf("licences: %w", err)
	}
	golang, err := ofGo(ctx, root)
	if err != nil {
		return nil, err
	}
	all := []Licence{{Name: "warpbook", Text: own}, {Name: "Go", Text: golang}}
	modules, err := linked(ctx, root, env, programs)
	if err != nil {
		return nil, err
	}
	changes := edited.Changes()
	for _, m := range modules {
		text, err := in(m[1])
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(m[0], "@")
		why := changes[name]
		if len(why) > 0 {
			text = append(text, "\n\nThis copy was changed by warpbook (kernel/edited):\n- "+strings.Join(why, "\n- ")+"\n"...)
		}
		all = append(all, Licence{Name: m[0], Text: text, Changed: len(why) > 0})
	}
	return all, nil
}

// ofGo is the licence of the toolchain, whose runtime and standard library are in each program.
func ofGo(ctx context.Context, root string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", "env", "GOROOT")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("licences: go env GOROOT: %w", err)
	}
	goroot := strings.TrimSpace(string(out))
	for _, dir := range []string{goroot, filepath.Dir(goroot)} { // packages of distributions have it above
		if text, err := os.ReadFile(filepath.Join(dir, "LICENSE")); err == nil {
			return text, nil
		}
	}
	return nil, fmt.Errorf("licences: no LICENSE in %s, expected that of Go: install Go from go.dev", goroot)
}

// linked are the modules of the programs: path@version and folder.
func linked(ctx context.Context, root string, env, programs []string) (list [][2]string, err error) {
	const module = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}"
	c, err := edited.Command(ctx, root, "list", slices.Concat([]string{"-deps", "-f", module}, programs)...)
	if err != nil {
		return nil, err
	}
	c.Env = append(c.Env, env...)
	var log bytes.Buffer
	c.Stderr = &log
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("licences: go list: %w: %s", err, bytes.TrimSpace(log.Bytes()))
	}
	for line := range strings.Lines(string(out)) {
		name, dir, found := strings.Cut(strings.TrimSpace(line), "\t")
		if m := [2]string{name, dir}; found && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("licences: no modules, expected those that the programs link")
	}
	return list, nil
}

// in is the text of the licences in a module's folder.
func in(dir string) ([]byte, error) {
	var texts [][]byte
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("licences: %w", err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("licences: %w", err)
			}
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("licences: no LICENSE in %s, expected one: the module may not be passed on", dir)
	}
	return bytes.Join(texts, []byte("\n\n")), nil
}
