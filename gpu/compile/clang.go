//go:build !js

package compile

import (
	"context"
	"errors"
	"os"
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

// Remedy is one command that gives this machine a compiler, as the end of an error, and why
// a clang that is there does not serve.
func Remedy(ctx context.Context) string {
	const missing = "no compiler for CUDA C++, neither NVRTC nor clang: "
	install, why := "python3 -m pip install ", ""
	if _, err := clang.Find(ctx); errors.Is(err, clang.ErrUnfit) {
		install, why = install+"--force-reinstall ", ": "+err.Error()
	}
	folder := os.Getenv(clang.FolderVariable) // the only one that is searched
	python, err := exec.LookPath("python3")
	switch {
	case folder != "":
		install += "--target " + folder + " "
	case err == nil && managed(ctx, python):
		install += "--user --break-system-packages "
	}
	command := "run `" + install + "ziglang==" + clang.Version + "`"
	if err != nil {
		command = "install Python 3, and " + command
	}
	return missing + command + why
}

// managed reports whether a system's Python refuses pip outside of a virtual environment.
func managed(ctx context.Context, python string) bool {
	const ask = "import os, sys, sysconfig; print(sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED')))"
	out, err := exec.CommandContext(ctx, python, "-c", ask).Output()
	return err == nil && strings.TrimSpace(string(out)) == "True"
}
