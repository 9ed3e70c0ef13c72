//go:build !edited

package failure

import "github.com/goplus/ixgo"

func later(fr *ixgo.Frame) func() []Place { return Known(Callers(fr)) }
