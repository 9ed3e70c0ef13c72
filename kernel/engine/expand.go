package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/stop"
)

// expand returns the Go of a cell: the cell itself, or, for one in another language such
// as %%cuda, the declarations of its compiled form. It compiles while Mu is unlocked,
// and ctx ends it. The compiled form is kept until forget.
func (e *Engine) expand(ctx context.Context, n int, src string) (text string, forget func(), fail *cellproto.Error) {
	defer failure.Rescue("expand", &fail)
	c, at := e.Declares(src)
	if c == nil {
		return src, func() {}, nil
	}
	body := at + c.BodyAt
	c.Number, c.BodyRow, c.Out, c.Show = n, strings.Count(src[:body], "\n")+1, e.stdout, e.config.Show
	list, err := c.Declare(ctx, c)
	if errors.Is(err, magic.ErrInterrupted) {
		return "", nil, failure.Stopped()
	}
	if err != nil {
		return "", nil, e.foreignFailure(n, src, at, err)
	}
	id := int(check.LastCall.Add(1))
	e.calls.Store(id, list)
	return declarations(id, list), func() { e.calls.Delete(id) }, nil
}

// declarations is the Go that declares the variables of a cell in another language.
func declarations(id int, list []magic.Declaration) string {
	var imports, vars strings.Builder
	for i, d := range list {
		t, name := reflect.TypeOf(d.Value).Elem(), fmt.Sprintf("%s%d", check.DeclaredName, i)
		fmt.Fprintf(&imports, "import %s %q\n", name, t.PkgPath())
		fmt.Fprintf(&vars, "var %s = %s.Declared(%d, %d).(*%s.%s)\n", d.Name, rewrite.RuntimeName, id, i, name, t.Name())
	}
	return imports.String() + vars.String()
}

// declared is the compiled value of a name.
func (e *host) declared(id, i int) any {
	list, ok := e.calls.Load(id)
	if !ok { // the cell was abandoned
		panic(stop.Interrupted{})
	}
	return list.([]magic.Declaration)[i].Value
}

// foreignFailure reports the errors of a cell that is not Go.
func (e *Engine) foreignFailure(n int, src string, at int, err error) *cellproto.Error {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.Sources[n] = strings.Split(src, "\n")
	e.remember(n, src)
	var wrong magic.Diagnostics
	if !errors.As(err, &wrong) {
		s := &check.Source{Cell: n, Src: src}
		return e.CompileFailure([]failure.Diagnostic{s.MagicDiagnostic(at, err)})
	}
	var diags []failure.Diagnostic
	for _, d := range wrong {
		diags = append(diags, failure.Diagnostic{Cell: n, Line: d.Line, Col: d.Col, Msg: d.Text})
	}
	return e.CompileFailure(diags)
}
