package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"

	"warpbook/kernel/edited"
)

// checkTypes checks packages, and all that they import, for the platform of GOOS and GOARCH
// in the module at root. It finds what a compiler finds in their Go, in a tenth of the time,
// and functions that are declared for assembly that the platform has not. A first pattern
// -unedited is a flag: the packages are those without tags and corrections.
func checkTypes(ctx context.Context, root string, patterns ...string) error {
	config := &packages.Config{Context: ctx, Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: root}
	if len(patterns) > 0 && patterns[0] == "-unedited" {
		patterns = patterns[1:]
	} else {
		list, err := edited.Command(ctx, root, "list")
		if err != nil {
			return err
		}
		config.Env, config.BuildFlags = list.Env, list.Args[2:] // after go list
	}
	checked, err := packages.Load(config, patterns...)
	if err != nil {
		return fmt.Errorf("edited/go: types: %w", err)
	}
	if len(checked) == 0 {
		return fmt.Errorf("edited/go: types: no package matches %q, expected one", patterns)
	}
	var all []error
	packages.Visit(checked, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			all = append(all, err)
		}
		if p.Module != nil { // the standard library has functions that the compiler knows
			all = append(all, undefined(p)...)
		}
	})
	return errors.Join(all...)
}

// undefined returns an error for each function of p without a body that neither assembly
// nor another package defines. Assembly of other modules has macros for its names, so there
// any assembly counts.
func undefined(p *packages.Package) (all []error) {
	assembly := ""
	for _, name := range p.OtherFiles {
		if !strings.HasSuffix(name, ".s") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			all = append(all, err)
		}
		assembly += string(text)
	}
	for _, file := range p.Syntax {
		linked := map[string]bool{} // the names of go:linkname
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if words := strings.Fields(comment.Text); len(words) > 2 && words[0] == "//go:linkname" {
					linked[words[1]] = true
				}
			}
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body != nil || linked[f.Name.Name] {
				continue
			}
			if assembly == "" || p.Module.Main && !strings.Contains(assembly, "·"+f.Name.Name+"(") {
				all = append(all, fmt.Errorf("%s: %s has no body, and %s no assembly for it", p.Fset.Position(f.Pos()), f.Name.Name, p.PkgPath))
			}
		}
	}
	return all
}
