// Package tabtest compiles CUDA C++ as a browser tab does, for tests: a built site's
// compiler runs in Node. Its main type is Tab. Tests of gpu and ops import it, programs must
// not.
package tabtest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// Variable is the environment variable with the folder of a site that install --site built.
const Variable = "WARPBOOK_SITE"

// Tab is a compiler of a site in Node. It belongs to the goroutine of its test.
type Tab struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// Open starts the compiler of the site in Variable, or skips the test.
func Open(t *testing.T) *Tab {
	t.Helper()
	site, zig := os.Getenv(Variable), os.Getenv(clang.FolderVariable)
	if site == "" || zig == "" {
		t.Skipf("needs %s, the folder of a built site, and %s: run go run ./install --site DIR and pip install --target DIR ziglang==%s", Variable, clang.FolderVariable, clang.Version)
	}
	_, file, _, _ := runtime.Caller(0)
	c := exec.CommandContext(t.Context(), "node", filepath.Join(filepath.Dir(file), "../../../kernel/lite/compiler_node.js"), site)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return &Tab{in, bufio.NewReader(out)}
}

// Reply is what a tab answers, with the intermediate code of its clang.
type Reply struct {
	Reply compiler.Reply
	Code  string
	// Starts is how often clang was started.
	Starts int
	Ms     int
}

// Compile compiles a source.
func (c *Tab) Compile(t *testing.T, request compiler.Request) (reply Reply) {
	t.Helper()
	if err := json.NewEncoder(c.in).Encode(request); err != nil {
		t.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatal("the compiler in Node ended: ", err)
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

// Both is the PTX that the tab makes of a source without mistakes, and the PTX that clang's
// own back end makes of the same intermediate code.
func (c *Tab) Both(t *testing.T, name, text string) (own, theirs string) {
	t.Helper()
	request := compiler.Request{Name: name, Text: text, Options: []string{"--gpu-architecture=compute_75", "--std=c++17", "--generate-line-info"}}
	reply := c.Compile(t, request)
	if reply.Reply.Error != "" {
		t.Fatalf("%s: %s\n%s", name, reply.Reply.Error, reply.Reply.Log)
	}
	theirs, err := clang.NewJob(request, "/cuda").Theirs(t.Context(), reply.Code)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reply.Reply.PTX, theirs
}
