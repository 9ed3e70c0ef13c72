package compile

import (
	"context"
	"slices"
	"strings"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/leaf/lazyregexp"
)

// newer are the architectures that a source may need, the oldest first.
var newer = []string{"sm_80", "sm_90", "sm_100"}

// lacking matches messages about names and operators that a newer architecture may have.
var lacking = lazyregexp.New(`error: (?:identifier "__\w+" is undefined|namespace "\w+" has no member|no operator |no instance of |no suitable |static assertion|#error)`)

const archFlag = "--gpu-architecture=compute_"

// newerArch is the oldest architecture for which the source compiles, if that may be why it
// failed for an older one; "" if none.
func (s *source) newerArch(ctx context.Context, run runner, request compiler.Request, failed compiler.Reply) string {
	if failed.Error == "" || !lacking().MatchString(failed.Log) {
		return ""
	}
	known := func(name string) bool { return remedy(name) != "" }
	types := func(in inclusion) bool { return strings.HasPrefix(in.header, "cuda_") } // whose functions an architecture may lack
	if slices.ContainsFunc(unknownNames(failed.Log), known) && !slices.ContainsFunc(s.inclusions(), types) {
		return ""
	}
	at := slices.IndexFunc(request.Options, func(o string) bool { return strings.HasPrefix(o, archFlag) })
	request.Options = slices.Clone(request.Options)
	for _, arch := range newer {
		flag := archFlag + strings.TrimPrefix(arch, "sm_")
		if !olderFlag(request.Options[at], flag) {
			continue
		}
		request.Options[at] = flag
		if reply, err := s.compile(ctx, run, request); err == nil && reply.Error == "" {
			return arch
		}
	}
	return ""
}

// olderFlag reports whether a is an older architecture than b: compute_75 than compute_100.
func olderFlag(a, b string) bool {
	return len(a) < len(b) || len(a) == len(b) && a < b
}
