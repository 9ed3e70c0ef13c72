package compile

import (
	"context"
	"fmt"
	"os"
	"strings"

	"warpbook/gpu/compile/compiler"
)

// CompilerVariable is the environment variable with the compiler of cells that name none.
const CompilerVariable = "WARPBOOK_COMPILER"

// The compilers that Options and CompilerVariable name.
const (
	nvrtc = "nvrtc"
	llvm  = "clang"
)

// runner compiles a request.
type runner func(context.Context, compiler.Request) (compiler.Reply, error)

// run compiles a request with the chosen compiler. Without a choice it is NVRTC where
// that is found. Elsewhere the committed PTX of exactly this text serves, else clang. A
// debug build is clang's where that is found, else the committed one, else NVRTC's.
func (o Options) run(ctx context.Context, text string, request compiler.Request) (reply compiler.Reply, err error) {
	choice, err := o.compiler()
	if err != nil {
		return reply, err
	}
	if o.Debug && choice == "" {
		if reply, err = runClang(ctx, request, reply); err != nil || !reply.Missing {
			return reply, err
		}
		if o.Committed != "" {
			if committed, err := o.committed(request.Name, text); err == nil {
				return committed, nil
			}
		}
	}
	var stale error // why the committed PTX does not serve
	if choice != llvm {
		reply, err = compiler.Run(ctx, request)
		if ctx.Err() != nil || err == nil && !reply.Missing {
			return reply, err
		}
		if o.Committed != "" {
			var committed compiler.Reply
			if committed, stale = o.committed(request.Name, text); stale == nil {
				return committed, nil
			}
		}
	}
	if err == nil && choice != nvrtc {
		reply, err = runClang(ctx, request, reply)
	}
	if err == nil && reply.Missing && stale != nil {
		err = fmt.Errorf("%w: %s", stale, reply.Error)
	}
	return reply, err
}

// note says that clang compiled a cell; a debug build is always clang's. Counters that a notebook quotes are those of the
// committed PTX, which is NVRTC's.
func (o Options) note(reply compiler.Reply) string {
	if !strings.HasPrefix(reply.Compiler, llvm) || o.Debug {
		return ""
	}
	text := "compiled by " + reply.Compiler
	if reply.Newer {
		text += ", a newer version than those that warpbook was tried with"
	}
	if o.Committed != "" {
		text += "; counters that this notebook quotes are of NVRTC's code and may differ"
	}
	return text
}

// compiler is the chosen compiler, "" for none.
func (o Options) compiler() (string, error) {
	choice, where := o.Compiler, ""
	if choice == "" {
		choice, where = strings.ToLower(os.Getenv(CompilerVariable)), " in "+CompilerVariable
	}
	switch choice {
	case "", nvrtc, llvm:
		return choice, nil
	}
	return "", &OptionError{"compiler", choice + where + ": no compiler, expected nvrtc or clang"}
}
