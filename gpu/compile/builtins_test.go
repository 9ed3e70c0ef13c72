package compile

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var signature = regexp.MustCompile(`^[\w ]+\*? \w+\((.*)\)$`)

// use is a statement with a builtin in it: a call with values of its parameters' types.
func (b Builtin) use() string {
	m := signature.FindStringSubmatch(b.Declaration)
	switch {
	case strings.Contains(b.Declaration, "..."): // printf
		return b.Name + `("");`
	case b.Name == "assert":
		return "assert(true);"
	case m == nil && b.Header != "" && !strings.Contains(b.Declaration, " "): // a type
		return fmt.Sprintf("(void)sizeof(%s);", b.Name)
	case m == nil && strings.Contains(b.Declaration, " ") && !strings.HasPrefix(b.Declaration, "__"): // a variable
		return fmt.Sprintf("(void)(%s);", b.Name)
	case m == nil: // a qualifier
		return ""
	}
	var args []string
	for _, p := range parameters(m[1]) {
		args = append(args, fmt.Sprintf("make<%s>()", p.typ))
	}
	return fmt.Sprintf("%s(%s);", b.Name, strings.Join(args, ", "))
}

// TestBuiltins: the compiler knows each name of the table by its declaration, and in the
// header that the table names.
func TestBuiltins(t *testing.T) {
	needNVRTC(t, "")
	var b strings.Builder
	seen := map[string]bool{}
	for _, x := range builtins() {
		if x.Header != "" && !seen[x.Header] && x.Header != "curand_kernel.h" { // of another wheel
			fmt.Fprintf(&b, "#include <%s>\n", x.Header)
		}
		seen[x.Header] = true
		if seen[x.Name] || x.Short == "" || !strings.HasSuffix(x.Short, ".") {
			t.Errorf("%s: twice, or without a sentence", x.Name)
		}
		seen[x.Name] = true
	}
	b.WriteString("template <class T> __device__ T make() { return T(); }\n__global__ void f() {\n")
	for _, x := range builtins() {
		if x.Header != "curand_kernel.h" {
			fmt.Fprintln(&b, x.use())
		}
	}
	b.WriteString("}\n")
	if _, err := CUDA(context.Background(), "x.cu", b.String(), Options{Arch: "sm_90"}); err != nil {
		for _, d := range diagnostics(t, nil, err) {
			t.Errorf("%s: %s", strings.Split(b.String(), "\n")[d.Line-1], d.Text)
		}
	}
}
