package magic

import "slices"

// Builtin returns the magics that need no GPU, followed by further ones.
func Builtin(further ...*Magic) Set {
	return slices.Concat(Set{timeOnce, timeit, who, reset, env, cd, lang, load, history}, further, Set{bash, pkg, help})
}
