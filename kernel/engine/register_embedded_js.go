package engine

import (
	"errors"

	"warpbook/kernel/engine/rewrite"
)

// registerEmbedded offers no files: a page adds no packages.
func (e *host) registerEmbedded() {
	e.external(rewrite.RuntimePath+".Embedded", func(string) string { panic(errors.ErrUnsupported) })
	e.external(rewrite.RuntimePath+".EmbeddedFS", func(string, ...string) any { panic(errors.ErrUnsupported) })
}
