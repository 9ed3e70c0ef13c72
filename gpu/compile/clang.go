//go:build !js

package compile

import (
	"context"
	"os/exec"
	"strings"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// runClang compiles a request with clang, after the reply of a compiler that is missing.
func runClang(ctx context.Context, request compiler.Request, _ compiler.Reply) (compiler.Reply, error) {
	reply, err := clang.Run(ctx, request)
	if reply.Missing {
		reply.Error = Remedy(ctx)
	}
	return reply, err
}

// Remedy is one command that gives this machine a compiler, as the end of an error.
func Remedy(ctx context.Context) string {
	const install = "install ziglang==" + clang.Version
	python, err := exec.LookPath("python3")
	if err != nil {
		return "no compiler for CUDA C++, neither NVRTC nor clang: install Python 3, and run `python3 -m pip " + install + "`"
	}
	command := "python3 -m pip " + install
	// A system's Python may refuse pip outside of a virtual environment.
	const managed = "import os, sys, sysconfig; print(sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED')))"
	if out, err := exec.CommandContext(ctx, python, "-c", managed).Output(); err == nil && strings.TrimSpace(string(out)) == "True" {
		command = "python3 -m pip install --user --break-system-packages ziglang==" + clang.Version
	}
	return "no compiler for CUDA C++, neither NVRTC nor clang: run `" + command + "`"
}
