// Package lazyregexp compiles regular expressions when they are first used. A
// program that compiles a hundred when it starts is 3 ms late.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the pattern's regular expression, and
// panics if it is none. It may be called by several goroutines.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
