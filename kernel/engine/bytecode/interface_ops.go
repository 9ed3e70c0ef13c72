package bytecode

import "unsafe"

// ofInterface executes an operation of interfaces, and returns false if its check fails.
func (in *instr) ofInterface(c *code, r *registers, p *pointers) bool {
	a, b := in.a, in.b
	switch in.op {
	case opLoadI:
		if p[b] == nil {
			return false
		}
		p[a], p[a+1] = loadInterface(p[b], in.imm != 0)
	case opStoreE:
		if p[a] == nil {
			return false
		}
		*(*eface)(p[a]) = eface{p[b], p[b+1]}
	case opStoreI:
		if p[a] == nil {
			return false
		}
		storeInterface(c.news[in.imm], p[a], eface{p[b], p[b+1]})
	case opBoxN:
		p[a], p[a+1] = c.news[in.imm], numberData(r[b])
	case opBoxP:
		p[a], p[a+1] = c.news[in.imm], p[b]
	case opBoxH:
		p[a], p[a+1] = c.news[in.imm], unsafe.Pointer(&sliceHeader{p[b], r[b], r[b+1]})
	case opBoxT:
		p[a], p[a+1] = c.news[in.imm], unsafe.Pointer(&stringHeader{p[b], r[b]})
	case opHashable:
		return eface{p[b], p[b+1]}.hashable()
	case opAssert:
		return c.assertions[in.imm].assert(r, p)
	}
	return true
}
