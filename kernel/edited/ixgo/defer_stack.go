//go:build ignore

package ixgo

import "go/types"

// ofDeferStack is the text of a type that may be one of a defer stack, "" of others.
func ofDeferStack(typ types.Type) string {
	var p *types.Pointer
	switch t := typ.(type) {
	case *types.Signature:
		if t.Params().Len() == 0 && t.Results().Len() == 1 {
			p, _ = t.Results().At(0).Type().(*types.Pointer)
		}
	case *types.Pointer:
		p, _ = t.Elem().(*types.Pointer)
	}
	if p == nil {
		return ""
	}
	return typ.String()
}
