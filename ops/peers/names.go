package peers

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/lazyregexp"
)

// literal matches a string in a program's source that may be a figure's name, or a part of one.
var literal = lazyregexp.New(`"(\w+)"`)

// imported matches a module that a program in Python takes its figures from.
var imported = lazyregexp.New(`(?m)^import (\w+)$`)

// inner reports whether a string of a source is rather a key or a unit, such as "nan", than the
// name of a figure, such as torch_sum.
func inner(part string) bool {
	return strings.Trim(part, "_") == "" || !strings.Contains(strings.Trim(part, "_"), "_") && part != "triton"
}

// CheckNames refuses a name that no figure of the set can have: none is a string in the
// source of a program and the modules beside it, or made of two of them, as "cudnn_" + kind is. So it needs neither a
// GPU nor the libraries.
func (s Set) CheckNames(names []string) error {
	if len(names) == 0 {
		return nil
	}
	texts, err := s.texts()
	if err != nil {
		return err
	}
	parts := []string{every}
	for _, program := range s.Programs {
		source := texts[path.Base(program)]
		for _, module := range imported().FindAllSubmatch(source, -1) {
			source = append(source, texts[string(module[1])+".py"]...)
		}
		for _, m := range literal().FindAllSubmatch(source, -1) {
			parts = append(parts, string(m[1]))
		}
	}
	for _, name := range names {
		made := func(part string) bool {
			rest, found := strings.CutPrefix(name, part)
			return found && (rest == "" || strings.Trim(rest, "_") != "" && slices.Contains(parts, rest))
		}
		if !slices.ContainsFunc(parts, made) {
			return fmt.Errorf("peer %q: %w, %s", name, gpu.ErrNotFound, gpu.Nearest(name, slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(parts, inner))))))
		}
	}
	return nil
}
