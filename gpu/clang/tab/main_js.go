// The tab program compiles CUDA C++ in a browser together with a clang that makes
// intermediate code, such as that of the npm package @yowasp/clang. It sets two functions
// for the page's worker, kernel/lite/compiler.js, which runs clang between them:
// warpbookPrepare takes a request of package compiler as JSON and returns clang's
// arguments, the source and the headers; warpbookFinish takes the request, the
// intermediate code and clang's messages, and returns the reply as JSON. Where they cannot,
// both return a reply with an error. It is built for js/wasm with the tag tab, apart from the
// cells program, and loads with the compiler.
package main

import (
	"encoding/json"
	"fmt"
	"syscall/js"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/compile/include"
)

// headers is their folder in the files of clang.
const headers = "/cuda"

// prepared is what clang needs for a request.
type prepared struct {
	Args    []string
	Source  string
	Headers map[string]string
}

func main() {
	export("warpbookPrepare", func(job *clang.Job, _ []js.Value) any {
		return prepared{Args: job.Args, Source: job.Source, Headers: include.Texts()}
	})
	export("warpbookFinish", func(job *clang.Job, args []js.Value) any {
		return job.Reply(args[0].String(), args[1].String())
	})
	select {}
}

// export gives the page a function of a request. A panic would end the program, which all
// later cells need: it is a reply with an error.
func export(name string, step func(job *clang.Job, args []js.Value) any) {
	js.Global().Set(name, js.FuncOf(func(_ js.Value, args []js.Value) (reply any) {
		defer func() {
			if r := recover(); r != nil {
				reply = text(compiler.Reply{Error: fmt.Sprintf("compile: mistake of warpbook in %s: %v", name, r)})
			}
		}()
		job, err := jobOf(args[0])
		if err != nil {
			return text(compiler.Reply{Error: err.Error()})
		}
		return text(step(job, args[1:]))
	}))
}

func jobOf(request js.Value) (*clang.Job, error) {
	var r compiler.Request
	if err := json.Unmarshal([]byte(request.String()), &r); err != nil {
		return nil, err
	}
	return clang.NewJob(r, headers), nil
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers, strings and maps of strings
	}
	return string(b)
}
