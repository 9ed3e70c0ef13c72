// Package lazyregexp compiles regular expressions at their first use. Compiling a
// hundred at program start takes 3 ms. Its only function is New; any package may call
// it. It imports only the standard library.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the pattern's regular expression, and panics if
// the pattern is invalid. Several goroutines may call it.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
