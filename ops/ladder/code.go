package ladder

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/lazyregexp"
)

// Code is CUDA C++ as a notebook shows it.
type Code struct {
	Language string // "cuda", or "diff" for one rung against another
	Text     string
	Folded   int // bytes at the end of Text that unfold on demand
}

// Excerpt is the CUDA C++ of a rung, as Code has it, of which the entries and the named
// functions and types are shown, in the order of the file, and the rest unfolds. A name that
// the rung does not use is an error.
func (o *Operator) Excerpt(variant string, names ...string) (Code, error) {
	all, err := o.declarations(variant)
	if err != nil {
		return Code{}, err
	}
	kernels, others := entries(all, variant)
	var chosen, rest []declaration
	found := map[string]bool{}
	for _, d := range others {
		named := false
		for _, name := range names {
			if slices.Contains(d.names, name) {
				named, found[name] = true, true
			}
		}
		if named {
			chosen = append(chosen, d)
		} else {
			rest = append(rest, d)
		}
	}
	for _, name := range names {
		if !found[name] {
			return Code{}, fmt.Errorf("ops: %s: excerpt of %s: %w: it uses nothing named %s", o.Name, variant, gpu.ErrNotFound, name)
		}
	}
	shown, folded := join(append(kernels, chosen...)), ""
	if len(rest) > 0 {
		folded = "\n// What else it uses:\n\n" + join(rest)
	}
	return Code{Language: "cuda", Text: shown + folded, Folded: len(folded)}, nil
}

// Code returns the CUDA C++ of a rung: its entries first, and then all that they
// use of our own, in the order of the file, as compiled for the newest GPU that there
// is PTX for: of #if and #else one branch. What the rungs in shown have, too,
// is left out, so that a notebook shows each function once.
func (o *Operator) Code(variant string, shown ...string) (Code, error) {
	all, err := o.declarations(variant)
	if err != nil {
		return Code{}, err
	}
	for _, name := range shown {
		before, err := o.declarations(name)
		if err != nil {
			return Code{}, err
		}
		all = without(all, before)
	}
	return Code{Language: "cuda", Text: kernelFirst(all, variant)}, nil
}

// kernelFirst is a rung's entries, and then what they use, in the order of the file.
func kernelFirst(all []declaration, variant string) string {
	kernels, others := entries(all, variant)
	if len(kernels) == 0 || len(others) == 0 {
		return join(all)
	}
	return join(kernels) + "\n// What it uses:\n\n" + join(others)
}

// Diff returns the entries of rung to, with the lines marked that differ
// from those of rung from, after the functions that only rung to has.
// What both have is left out.
func (o *Operator) Diff(from, to string) (Code, error) {
	before, err := o.declarations(from)
	if err != nil {
		return Code{}, err
	}
	after, err := o.declarations(to)
	if err != nil {
		return Code{}, err
	}
	old, _ := entries(before, from)
	now, others := entries(without(after, before), to)
	var text string
	if len(others) > 0 {
		text = diff(nil, lines(join(others)+"\n"))
	}
	return Code{Language: "diff", Text: text + diff(lines(join(old)), lines(join(now)))}, nil
}

// entries separates the entries of a rung from the declarations that they use.
func entries(all []declaration, variant string) (entries, others []declaration) {
	for _, d := range all {
		if d.of(variant) {
			entries = append(entries, d)
		} else {
			others = append(others, d)
		}
	}
	return entries, others
}

// declarations are the entries of a rung and what they use.
func (o *Operator) declarations(variant string) ([]declaration, error) {
	v, err := o.Variant(variant)
	if err != nil {
		return nil, err
	}
	if v.Own != nil {
		return []declaration{{names: []string{variant}, text: v.Own.Source() + "\n"}}, nil
	}
	source, err := o.ReadSource(o.ModuleOf(v) + ".cu")
	if err != nil {
		return nil, err
	}
	files, err := o.PTXFiles(o.ModuleOf(v))
	if err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	arch := 0 // as __CUDA_ARCH__ has it
	for _, f := range files {
		arch = max(arch, 100*f.Target.Major+10*f.Target.Minor)
	}
	all := used(declarationsOf(compiled(source, arch)), variant)
	if len(all) == 0 {
		return nil, fmt.Errorf("ops: %s: %s: %w in %s.cu, it runs on the CPU or picks another variant", o.Name, variant, gpu.ErrNotFound, o.ModuleOf(v))
	}
	return all, nil
}

// without is a less what b has, too.
func without(a, b []declaration) []declaration {
	return slices.DeleteFunc(slices.Clone(a), func(d declaration) bool {
		return slices.ContainsFunc(b, func(e declaration) bool { return d.text == e.text })
	})
}

func join(all []declaration) string {
	var texts []string
	for _, d := range all {
		texts = append(texts, d.text)
	}
	return strings.Join(texts, "\n")
}

var quoted = lazyregexp.New(`(?m)^#include "(\w+\.cuh)"\n`)

// ReadSource is CUDA C++ with our own headers where it includes them.
func (o *Operator) ReadSource(name string) (string, error) {
	text, err := fs.ReadFile(o.Files, name)
	if err != nil {
		return "", fmt.Errorf("ops: embedded sources: %w", err)
	}
	var missing error
	whole := quoted().ReplaceAllStringFunc(string(text), func(line string) string {
		header, err := o.ReadSource(quoted().FindStringSubmatch(line)[1])
		missing = errors.Join(missing, err)
		return header
	})
	return whole, missing
}

func lines(text string) []string { return strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") }

// diff is b as a whole, its new lines marked with + and the lines of a that it
// lost with -, by a longest common subsequence.
func diff(a, b []string) string {
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if same(a[i], b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out []string
	write := func(mark, line string) { out = append(out, mark+strings.TrimSuffix(line, "\n")+"\n") }
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && same(a[i], b[j]):
			write("  ", b[j])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			write("- ", a[i])
			i++
		default:
			write("+ ", b[j])
			j++
		}
	}
	return strings.Join(folded(out), "")
}

// context is how many unchanged lines stand on each side of a change.
const context = 4

// folded replaces runs of unchanged lines far from a change by their number.
func folded(lines []string) (short []string) {
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && strings.HasPrefix(lines[end], "  ") {
			end++
		}
		if end == i { // a change
			short = append(short, lines[i])
			i++
			continue
		}
		before, after := context, context // lines that stay after the last change, and before the next
		if i == 0 {
			before = 0
		}
		if end == len(lines) {
			after = 0
		}
		if hidden := end - i - before - after; hidden > 2 {
			short = append(short, lines[i:i+before]...)
			short = append(short, fmt.Sprintf("  ... %d unchanged lines\n", hidden))
			short = append(short, lines[end-after:end]...)
		} else {
			short = append(short, lines[i:end]...)
		}
		i = end
	}
	return short
}

func same(a, b string) bool { return strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n") }
