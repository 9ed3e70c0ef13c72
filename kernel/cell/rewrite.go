package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// rewriter changes checked code so that it can be interrupted and so that a
// panic in one of its goroutines does not end the process:
//
//   - functions, loops and gotos look at the interrupt flag;
//   - channel operations also wait for the kill channel;
//   - go statements start a goroutine that recovers and reports;
//   - functions handed to compiled code recover on goroutines of that code;
//   - a compiled call that waits ends the cell if the cell was stopped meanwhile;
//   - a statement of the cell that drops an error warns of it;
//   - print and println write to standard error;
//   - recover sees neither interrupts nor the ends of cells;
//   - panic(nil) panics with a runtime.PanicNilError.
//
// The outcome is type-checked again, if it differs; no node may appear in it
// twice.
type rewriter struct {
	info        *types.Info
	interpreted func(*types.Func) bool
	compiled    func(*types.Package) bool
	inSelect    map[ast.Node]bool // channel operations that are cases of a select
	inCell      map[ast.Node]bool // expressions that are statements of the cell, not of a function
	before      map[ast.Node]bool // statements that wait
	names       int
	reenters    bool // the cell may call itself
	changed     bool // something had to be rewritten
}

func (r *rewriter) file(f *ast.File) {
	r.inSelect, r.inCell, r.before = map[ast.Node]bool{}, map[ast.Node]bool{}, map[ast.Node]bool{}
	for _, d := range f.Decls {
		ast.Inspect(d, r.markSelect)
		ast.Inspect(d, r.markWaits)
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.Name == bodyName {
			ast.Inspect(fd, r.markCell)
		}
		astutil.Apply(d, nil, func(c *astutil.Cursor) bool {
			if r.before[c.Node()] { // a stop has ended what waits by now, and would not end what begins to
				c.InsertBefore(checkFlag(c.Node().Pos()))
				r.changed = true
			}
			r.node(c)
			return true
		})
	}
}

func (r *rewriter) markSelect(n ast.Node) bool {
	if cc, ok := n.(*ast.CommClause); ok {
		switch s := cc.Comm.(type) {
		case *ast.SendStmt:
			r.inSelect[s] = true
		case *ast.ExprStmt:
			r.inSelect[ast.Unparen(s.X)] = true
		case *ast.AssignStmt:
			r.inSelect[ast.Unparen(s.Rhs[0])] = true
		}
	}
	return true
}

// markWaits finds the statements of a list in which a call waits, apart from
// the statements inside of them.
func (r *rewriter) markWaits(n ast.Node) bool {
	var list []ast.Stmt
	switch n := n.(type) {
	case *ast.BlockStmt:
		list = n.List
	case *ast.CaseClause:
		list = n.Body
	case *ast.CommClause:
		list = n.Body
	}
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt, *ast.FuncLit, *ast.CaseClause, *ast.CommClause:
				return false
			case *ast.CallExpr:
				r.before[s] = r.before[s] || r.waits(n.Fun)
			}
			return true
		})
	}
	return true
}

func (r *rewriter) markCell(n ast.Node) bool {
	if x, ok := n.(*ast.ExprStmt); ok {
		r.inCell[x] = true
	}
	_, literal := n.(*ast.FuncLit)
	return !literal
}

// node rewrites one node; those below it are done.
func (r *rewriter) node(c *astutil.Cursor) {
	switch n := c.Node().(type) {
	case *ast.FuncDecl:
		if n.Body != nil {
			r.enter(n.Body, n.Name.Name != bodyName || r.reenters, true)
		}
	case *ast.FuncLit:
		r.enter(n.Body, true, false)
	case *ast.ForStmt:
		r.prepend(n.Body, checkFlag(n.For))
	case *ast.RangeStmt:
		if r.isChan(n.X) {
			n.X = rtCall(n.X.Pos(), "Iter", n.X)
		}
		r.prepend(n.Body, checkFlag(n.For))
	case *ast.BranchStmt:
		if n.Tok == token.GOTO {
			r.replace(c, block(n.Pos(), checkFlag(n.Pos()), n))
		}
	case *ast.UnaryExpr:
		r.receive(c, n)
	case *ast.SendStmt:
		if !r.inSelect[n] {
			r.replace(c, &ast.SelectStmt{Select: n.Pos(), Body: block(n.Pos(),
				&ast.CommClause{Case: n.Pos(), Comm: n, Colon: n.Pos()}, killCase(n.Pos()))})
		}
	case *ast.SelectStmt:
		r.selectStmt(c, n)
	case *ast.CallExpr:
		if r.isBuiltin(n, "recover") {
			r.replace(c, rtCall(n.Pos(), "Recovered", n))
			return
		}
		if r.isBuiltin(n, "panic") && r.maybeNil(n.Args[0]) {
			n.Args[0], r.changed = rtCall(n.Args[0].Pos(), "NotNil", n.Args[0]), true
		}
		r.call(n)
		r.waited(c, n)
	case *ast.CompositeLit:
		r.composite(n)
	case *ast.AssignStmt:
		r.assign(n)
	case *ast.ExprStmt:
		r.dropped(c, n)
	case *ast.GoStmt:
		r.replace(c, r.goStmt(n))
	}
}

func (r *rewriter) replace(c *astutil.Cursor, n ast.Node) {
	c.Replace(n)
	r.changed = true
}

func (r *rewriter) prepend(b *ast.BlockStmt, s ast.Stmt) {
	b.List = append([]ast.Stmt{s}, b.List...)
	r.changed = true
}

// enter begins a function. One that calls interpreted functions calls one that
// does nothing first: the engine uses the frames of calls again and does not
// clear their links to the frames below, and when a panic finds such a link
// that has become a circle, it never ends.
// Only the function that holds a cell's statements need not look at the flag.
//
// A declared function that defers calls defers one that does nothing before it
// looks at the flag: the engine compiles a call of a function that it knows no
// deferred calls of as one that needs no recovery, and would be in the middle of
// this function when it meets a call of it in its body.
func (r *rewriter) enter(b *ast.BlockStmt, check, declared bool) {
	calls := r.callsInterpreted(b)
	if check {
		r.prepend(b, checkFlag(b.Lbrace))
	}
	if calls {
		r.prepend(b, &ast.ExprStmt{X: rtCall(b.Lbrace, "Enter")})
	}
	if defersInRange(b) || declared && defers(b) {
		r.prepend(b, &ast.DeferStmt{Defer: b.Lbrace, Call: rtCall(b.Lbrace, "Enter")})
	}
}

// defers says whether a function defers calls, those of its literals apart.
func defers(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, literal := n.(*ast.FuncLit)
		_, is := n.(*ast.DeferStmt)
		found = found || is
		return !literal && !found
	})
	return found
}

// defersInRange says whether a function defers calls in the body of a range
// loop. Where that becomes a function of its own, the engine runs them only if
// the function defers another call itself.
func defersInRange(b *ast.BlockStmt) (found bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.RangeStmt:
			found = found || defers(n.Body)
		}
		return !found
	})
	return found
}

func (r *rewriter) callsInterpreted(b *ast.BlockStmt) bool {
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it has frames of its own
		case *ast.RangeStmt:
			_, iterator := types.Unalias(r.info.TypeOf(n.X)).(*types.Signature)
			found = found || iterator
		case *ast.CallExpr:
			found = found || !r.leaf(n)
		}
		return !found
	})
	return found
}

// leaf says whether a call makes no frame, or one that calls nothing.
func (r *rewriter) leaf(n *ast.CallExpr) bool {
	if r.info.Types[n.Fun].IsType() || r.info.Types[n.Fun].IsBuiltin() {
		return true
	}
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == runtimeName {
			return true
		}
		if s := r.info.Selections[sel]; s != nil && types.IsInterface(s.Recv()) {
			return false
		}
	}
	return r.compiledFunc(n.Fun) != nil
}

func (r *rewriter) receive(c *astutil.Cursor, n *ast.UnaryExpr) {
	if n.Op != token.ARROW || r.inSelect[n] || !r.isChan(n.X) {
		return
	}
	name := "Recv"
	if _, ok := r.info.TypeOf(n).(*types.Tuple); ok {
		name = "Recv2"
	}
	r.replace(c, rtCall(n.OpPos, name, n.X))
}

func (r *rewriter) selectStmt(c *astutil.Cursor, n *ast.SelectStmt) {
	if len(n.Body.List) == 0 {
		r.replace(c, &ast.ForStmt{For: n.Pos(), Body: block(n.Pos(), &ast.ExprStmt{X: rtCall(n.Pos(), "Block")})})
		return
	}
	for _, cl := range n.Body.List {
		if cl.(*ast.CommClause).Comm == nil { // it has a default and never waits
			return
		}
	}
	n.Body.List, r.changed = append(n.Body.List, killCase(n.Pos())), true
}

func (r *rewriter) isBuiltin(n *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(n.Fun).(*ast.Ident)
	return ok && r.info.Uses[id] == types.Universe.Lookup(name)
}

// maybeNil says whether an expression is an interface, or nil.
func (r *rewriter) maybeNil(x ast.Expr) bool {
	tv := r.info.Types[x]
	return tv.IsNil() || tv.Type != nil && types.IsInterface(tv.Type)
}

func (r *rewriter) call(n *ast.CallExpr) {
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
		if b, ok := r.info.Uses[id].(*types.Builtin); ok && (b.Name() == "println" || b.Name() == "print") {
			n.Fun, r.changed = rtFun(n.Pos(), strings.ToUpper(b.Name()[:1])+b.Name()[1:]), true
			return
		}
	}
	if r.info.Types[n.Fun].IsType() {
		if r.keeps(r.info.TypeOf(n.Fun)) {
			r.hand(&n.Args[0])
		}
		return
	}
	if fn := r.compiledFunc(n.Fun); fn == nil || callsBackAtOnce[fn.Pkg().Path()] && fn.FullName() != groupGo {
		return
	}
	for i := range n.Args {
		r.hand(&n.Args[i])
	}
}

// composite hands over the functions in a literal of a compiled type.
func (r *rewriter) composite(n *ast.CompositeLit) {
	if !r.keeps(r.info.TypeOf(n)) {
		return
	}
	for i, x := range n.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			r.hand(&kv.Value)
		} else {
			r.hand(&n.Elts[i])
		}
	}
}

// assign hands over the functions that become fields of compiled types.
func (r *rewriter) assign(n *ast.AssignStmt) {
	for i, l := range n.Lhs {
		sel, ok := ast.Unparen(l).(*ast.SelectorExpr)
		if ok && len(n.Lhs) == len(n.Rhs) && r.info.Selections[sel] != nil && r.keeps(r.info.TypeOf(sel.X)) {
			r.hand(&n.Rhs[i])
		}
	}
}

// keeps says whether compiled code may call, on any goroutine, the functions
// that values of a type hold: the type is one of a compiled package.
func (r *rewriter) keeps(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && !callsBackAtOnce[n.Obj().Pkg().Path()] && r.compiled(n.Obj().Pkg())
}

// hand guards an expression that is handed to compiled code, if it is a
// function. A literal also takes note of the frames in which it panics: of a
// fault that the Go runtime finds, nobody outside of it knows them.
func (r *rewriter) hand(at *ast.Expr) {
	x := *at
	tv := r.info.Types[x]
	if tv.Type == nil || tv.IsNil() || isTypeParam(tv.Type) {
		return
	}
	if _, ok := tv.Type.Underlying().(*types.Signature); !ok {
		return
	}
	pos := x.Pos()
	if lit, ok := ast.Unparen(x).(*ast.FuncLit); ok {
		r.prepend(lit.Body, deferred(pos, "Traced"))
	}
	*at, r.changed = rtCall(pos, "W", x, number(pos)), true
	r.info.Types[*at] = tv
}

// waiting are compiled packages, beside warpbook's, whose calls may end because
// a stop ends what they wait for: a subprocess, a line of input.
var waiting = map[string]bool{"bufio": true, "io": true, "net": true, "net/http": true, "os": true, "os/exec": true}

// waits says whether what a call names is compiled and may take long.
func (r *rewriter) waits(x ast.Expr) bool {
	path, name := "", ""
	if fn := r.compiledFunc(x); fn != nil {
		path, name = fn.Pkg().Path(), fn.Name()
	} else if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok && r.info.Selections[sel] != nil {
		// The methods of compiled interfaces know no package.
		if n, ok := types.Unalias(r.info.TypeOf(sel.X)).(*types.Named); ok && types.IsInterface(n) && n.Obj().Pkg() != nil && r.compiled(n.Obj().Pkg()) {
			path = n.Obj().Pkg().Path()
		}
	}
	return waiting[path] || strings.HasPrefix(path, "warpbook/") || path == "fmt" && strings.HasPrefix(name, "Scan")
}

// waited looks at the flag behind a call that waits and may fail: what a stop
// makes fail is not for the code of the cell to handle. There are as many
// functions of the runtime as such calls have results.
func (r *rewriter) waited(c *astutil.Cursor, n *ast.CallExpr) {
	switch c.Parent().(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return
	}
	name := map[int]string{1: "Waited", 2: "Waited2", 3: "Waited3"}[results(r.info.TypeOf(n))]
	if name == "" || !r.waits(n.Fun) || !fails(r.info.TypeOf(n)) {
		return
	}
	w := rtCall(n.Pos(), name, n)
	r.info.Types[w] = r.info.Types[n]
	r.replace(c, w)
}

// dropped has a statement of the cell that drops an error warn of it: the last
// expression shows its own.
//
//	if _, err := f(); err != nil { rt.Dropped(position, err) }
func (r *rewriter) dropped(c *astutil.Cursor, n *ast.ExprStmt) {
	t := r.info.TypeOf(n.X)
	_, call := ast.Unparen(n.X).(*ast.CallExpr)
	if _, labelled := c.Parent().(*ast.LabeledStmt); !r.inCell[n] || !call || !fails(t) || prints(r.info, n.X) || c.Index() < 0 && !labelled {
		return
	}
	pos := n.Pos()
	as := &ast.AssignStmt{Tok: token.DEFINE, TokPos: pos, Rhs: []ast.Expr{n.X}}
	for range results(t) - 1 {
		as.Lhs = append(as.Lhs, ident(pos, "_"))
	}
	as.Lhs = append(as.Lhs, ident(pos, "__err"))
	r.replace(c, &ast.IfStmt{If: pos, Init: as,
		Cond: &ast.BinaryExpr{X: ident(pos, "__err"), OpPos: pos, Op: token.NEQ, Y: ident(pos, "nil")},
		Body: block(pos, &ast.ExprStmt{X: rtCall(pos, "Dropped", number(pos), ident(pos, "__err"))})})
}

// results is how many values an expression of a type has.
func results(t types.Type) int {
	switch t := t.(type) {
	case nil:
		return 0
	case *types.Tuple:
		return t.Len()
	}
	return 1
}

// fails says whether the last value of an expression is an error.
func fails(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// compiledFunc is the compiled function or method that an expression names.
func (r *rewriter) compiledFunc(x ast.Expr) *types.Func {
	var o types.Object
	switch f := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		o = r.info.Uses[f.Sel]
	case *ast.Ident:
		o = r.info.Uses[f]
	}
	fn, ok := o.(*types.Func)
	if !ok || fn.Pkg() == nil || r.interpreted(fn) {
		return nil
	}
	return fn
}

// callsBackAtOnce are packages that call functions only on the goroutine that
// handed them over, where a panic finds its way by itself.
var callsBackAtOnce = map[string]bool{
	"bytes": true, "errors": true, "fmt": true, "iter": true, "maps": true, "path/filepath": true, "regexp": true,
	"slices": true, "sort": true, "strings": true, "sync": true, "unicode": true, runtimePath: true,
}

func (r *rewriter) isChan(x ast.Expr) bool {
	t := r.info.TypeOf(x)
	if t == nil || isTypeParam(t) {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// goStmt evaluates the function and its arguments, then starts a goroutine
// that reports a panic to its cell:
//
//	{ f, a := f, a; c := rt.GoStart(); go func() { defer func() { rt.GoEnd(recover()) }(); rt.GoRun(c); f(a) }() }
func (r *rewriter) goStmt(n *ast.GoStmt) ast.Stmt {
	pos := n.Pos()
	var list []ast.Stmt
	call := *n.Call
	call.Fun = r.keepFunc(&list, n.Call.Fun)
	call.Args = nil
	for _, a := range n.Call.Args {
		call.Args = append(call.Args, r.keepArg(&list, a)...)
	}
	cell := r.keep(&list, rtCall(pos, "GoStart"), 1)
	list = append(list,
		&ast.GoStmt{Go: pos, Call: callOf(pos, thunk(pos, deferred(pos, "GoEnd"), &ast.ExprStmt{X: rtCall(pos, "GoRun", cell...)}, &ast.ExprStmt{X: &call}))})
	return block(pos, list...)
}

// keep adds the assignment of x to n new variables and returns these.
func (r *rewriter) keep(list *[]ast.Stmt, x ast.Expr, n int) (vars []ast.Expr) {
	as := &ast.AssignStmt{TokPos: x.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{x}}
	for range n {
		r.names++
		name := fmt.Sprintf("__g%d", r.names)
		as.Lhs = append(as.Lhs, ident(x.Pos(), name))
		vars = append(vars, ident(x.Pos(), name))
	}
	*list = append(*list, as)
	return vars
}

func (r *rewriter) keepFunc(list *[]ast.Stmt, fun ast.Expr) ast.Expr {
	switch f := ast.Unparen(fun).(type) {
	case *ast.FuncLit, *ast.IndexExpr, *ast.IndexListExpr:
		return fun
	case *ast.Ident:
		switch r.info.Uses[f].(type) {
		case *types.Func, *types.Builtin:
			return fun
		}
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			if _, ok := r.info.Uses[x].(*types.PkgName); ok || x.Name == runtimeName {
				return fun
			}
		}
	}
	return r.keep(list, fun, 1)[0]
}

func (r *rewriter) keepArg(list *[]ast.Stmt, a ast.Expr) []ast.Expr {
	tv := r.info.Types[a]
	if _, lit := a.(*ast.FuncLit); lit || tv.Value != nil || tv.IsNil() || tv.IsType() {
		return []ast.Expr{a}
	}
	if t, ok := tv.Type.(*types.Tuple); ok {
		return r.keep(list, a, t.Len())
	}
	return r.keep(list, a, 1)
}

// checkFlag is: if rt.Intr != 0 { rt.Stop() }
func checkFlag(pos token.Pos) ast.Stmt {
	return &ast.IfStmt{If: pos, Body: block(pos, &ast.ExprStmt{X: rtCall(pos, "Stop")}),
		Cond: &ast.BinaryExpr{X: rtFun(pos, "Intr"), OpPos: pos, Op: token.NEQ, Y: &ast.BasicLit{Kind: token.INT, Value: "0", ValuePos: pos}}}
}

// killCase is: case <-rt.Kill(): for { rt.Killed() }
func killCase(pos token.Pos) *ast.CommClause {
	return &ast.CommClause{Case: pos, Colon: pos,
		Comm: &ast.ExprStmt{X: &ast.UnaryExpr{OpPos: pos, Op: token.ARROW, X: rtCall(pos, "Kill")}},
		Body: []ast.Stmt{&ast.ForStmt{For: pos, Body: block(pos, &ast.ExprStmt{X: rtCall(pos, "Killed")})}}}
}

// deferred is: defer func() { rt.name(recover()) }()
func deferred(pos token.Pos, name string) ast.Stmt {
	return &ast.DeferStmt{Defer: pos, Call: callOf(pos, thunk(pos,
		&ast.ExprStmt{X: rtCall(pos, name, callOf(pos, ident(pos, "recover")))}))}
}

// number is a position as code can hand it on.
func number(pos token.Pos) ast.Expr {
	return &ast.BasicLit{Kind: token.INT, Value: strconv.Itoa(int(pos)), ValuePos: pos}
}

func rtFun(pos token.Pos, name string) ast.Expr {
	return &ast.SelectorExpr{X: ident(pos, runtimeName), Sel: ident(pos, name)}
}

func rtCall(pos token.Pos, name string, args ...ast.Expr) *ast.CallExpr {
	return callOf(pos, rtFun(pos, name), args...)
}

func callOf(pos token.Pos, fun ast.Expr, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: fun, Lparen: pos, Args: args, Rparen: pos}
}

func thunk(pos token.Pos, list ...ast.Stmt) *ast.FuncLit {
	return &ast.FuncLit{Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{}}, Body: block(pos, list...)}
}

func block(pos token.Pos, list ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: pos, List: list, Rbrace: pos}
}
