package bytecode

import "unsafe"

// invoking is the method that a call through an interface calls.
type invoking struct {
	name string
	met  lookups[*Function] // nil if the engine has to call it
}

// method is the method of a value of a type, nil if the engine has to call it.
func (v *invoking) method(c *code, typ unsafe.Pointer) *Function {
	if f, ok := v.met.find(typ); ok {
		return f
	}
	if typ == nil {
		return nil
	}
	f := c.functions[methodsOf(c.pfn.Interp, typeOf(typ))[v.name]]
	if f != nil && (len(f.fn.Params) == 0 || !f.callable()) {
		f = nil
	}
	v.met.add(typ, f)
	return f
}
