package compile

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"

	"warpbook/gpu/compile/compiler"
)

// runClang has the page's worker compile a request: it calls warpbookCompile with the
// request and a function for the reply, and gets a function that ends the compilation.
// Without one the reply of the compiler that is missing stays.
func runClang(ctx context.Context, request compiler.Request, missing compiler.Reply) (reply compiler.Reply, err error) {
	start := js.Global().Get("warpbookCompile")
	if start.Type() != js.TypeFunction {
		missing.Missing = true
		return missing, nil
	}
	text, err := json.Marshal(request)
	if err != nil {
		return reply, fmt.Errorf("compile: %s: %w", request.Name, err)
	}
	replies := make(chan string, 1)
	answer := js.FuncOf(func(_ js.Value, args []js.Value) any {
		replies <- args[0].String()
		return nil
	})
	defer answer.Release()
	stop := start.Invoke(string(text), answer)
	select {
	case <-ctx.Done():
		stop.Invoke()
		return reply, fmt.Errorf("compile: %s: %w", request.Name, ctx.Err())
	case text := <-replies:
		if err := json.Unmarshal([]byte(text), &reply); err != nil {
			return reply, fmt.Errorf("compile: %s: reply of the compiler: %w", request.Name, err)
		}
		return reply, nil
	}
}

// Remedy is how a browser gets a compiler, as the end of an error.
func Remedy(context.Context) string {
	return "no compiler for CUDA C++: load this page from a site that was built with one, or install the kernel"
}
