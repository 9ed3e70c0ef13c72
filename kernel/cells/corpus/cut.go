package corpus

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"

	"warpbook/kernel/cells/corpus/twin"
)

// Cut cuts a program into cells: its imports, each declaration after those that it uses,
// and a call of main. Declarations that use each other are one cell. A declaration that uses
// a type, but for types and methods of that type, uses its methods too, because a value
// must have them before it is converted to an interface.
func Cut(src string) (cells []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("corpus: cut: %w", err)
	}
	p := program{file: testFile{src, fset, f}, byName: map[string][]int{}, methods: map[string][]int{}}
	for _, s := range f.Imports {
		cells = append(cells, "import "+p.file.cut(s.Pos(), s.End()))
	}
	cells = []string{strings.Join(cells, "\n")}
	for _, d := range f.Decls {
		p.add(d)
	}
	for _, group := range p.groups() {
		slices.Sort(group)
		var text []string
		for _, i := range group {
			text = append(text, p.file.cut(p.decls[i].Pos(), p.decls[i].End()))
		}
		cells = append(cells, strings.Join(text, "\n"))
	}
	return append(cells, "main()"), nil
}

// program is the declarations of a file: byName by the names that they declare, and methods
// by the names of their types.
type program struct {
	file            testFile
	decls           []ast.Decl
	byName, methods map[string][]int
}

func (p *program) add(d ast.Decl) {
	if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
		return
	}
	i := len(p.decls)
	p.decls = append(p.decls, d)
	if m, typ := p.method(i); m != nil {
		p.methods[typ] = append(p.methods[typ], i)
		return
	}
	for _, name := range twin.Declared(d) {
		p.byName[name] = append(p.byName[name], i)
	}
}

func isType(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return ok && g.Tok == token.TYPE
}

// uses are the declarations that one uses, in the order of the source.
func (p *program) uses(i int) []int {
	found, types := map[int]bool{}, map[string]bool{}
	method, own := p.method(i)
	var mention func(d ast.Decl)
	mention = func(d ast.Decl) {
		for name := range namesIn(d) {
			for _, j := range p.byName[name] {
				found[j] = true
				if isType(p.decls[j]) && !isType(p.decls[i]) && !types[name] {
					types[name] = true
					mention(p.decls[j]) // methods are promoted from the types that it embeds
					if name != own {
						p.addMethods(found, name, nil)
					}
				}
			}
		}
	}
	mention(p.decls[i])
	if method != nil && method.Type.Results == nil { // a result may be an interface
		p.addMethods(found, own, namesIn(method))
	} else if method != nil {
		p.addMethods(found, own, nil)
	}
	delete(found, i)
	return slices.Sorted(maps.Keys(found))
}

// method is a declaration as a method, and its type; nil if it is none.
func (p *program) method(i int) (*ast.FuncDecl, string) {
	if f, ok := p.decls[i].(*ast.FuncDecl); ok && f.Recv != nil {
		return f, twin.Receiver(f)
	}
	return nil, ""
}

// addMethods adds the methods of a type, if names is set only those with one of the names.
func (p *program) addMethods(found map[int]bool, typ string, names map[string]bool) {
	for _, m := range p.methods[typ] {
		if f, _ := p.method(m); names == nil || names[f.Name.Name] {
			found[m] = true
		}
	}
}

// groups are the declarations in an order in which each group uses only itself and those
// before it (Tarjan's strongly connected components). Functions that run as the program
// starts are last.
func (p *program) groups() (groups [][]int) {
	index, low, on := map[int]int{}, map[int]int{}, map[int]bool{}
	var stack []int
	var visit func(i int)
	visit = func(i int) {
		index[i], low[i], on[i] = len(index)+1, len(index)+1, true
		stack = append(stack, i)
		for _, j := range p.uses(i) {
			if index[j] == 0 {
				visit(j)
			}
			if on[j] {
				low[i] = min(low[i], low[j])
			}
		}
		if low[i] == index[i] {
			at := slices.Index(stack, i)
			group := slices.Clone(stack[at:])
			for _, j := range group {
				on[j] = false
			}
			stack = stack[:at]
			groups = append(groups, group)
		}
	}
	order := make([]int, len(p.decls))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.rank(a), p.rank(b)) })
	for _, i := range order {
		if index[i] == 0 {
			visit(i)
		}
	}
	return groups
}

func (p *program) rank(i int) int {
	if f, ok := p.decls[i].(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
		return 1
	}
	return 0
}
