package main

import (
	"encoding/json"
	"fmt"
	"io"

	"warpbook/gpu/compile/compiler"
)

// serve compiles the one request in in. Errors of the source stand in the reply; serve
// returns an error only if it cannot read the request or write the reply.
func serve(in io.Reader, out io.Writer, dir string) error {
	var request compiler.Request
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return fmt.Errorf("nvrtc: read request: %w", err)
	}
	if err := json.NewEncoder(out).Encode(answer(request, dir)); err != nil {
		return fmt.Errorf("nvrtc: write reply: %w", err)
	}
	return nil
}

func answer(request compiler.Request, dir string) compiler.Reply {
	lib, err := open(folders(dir), "")
	if err != nil {
		return compiler.Reply{Error: err.Error(), Missing: true}
	}
	reply := compiler.Reply{Compiler: "NVRTC " + lib.release, Release: lib.release}
	var options []string
	for _, folder := range lib.headers {
		options = append(options, "--include-path="+folder)
	}
	program := program{name: request.Name, text: request.Text, options: append(options, request.Options...), names: request.Names, headers: request.Headers}
	done, err := lib.run(program)
	reply.Log = done.log
	if err != nil {
		reply.Error = "nvrtc: compile " + request.Name + ": " + err.Error()
		return reply
	}
	reply.PTX, reply.Lowered = stripFolders(done.ptx), done.lowered
	return reply
}
