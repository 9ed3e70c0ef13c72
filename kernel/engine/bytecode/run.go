package bytecode

import "unsafe"

// run executes the call at the top of the machine from an instruction on, and then its
// callers, until that at the bottom returns. It panics as the engine would, with the
// engine's frames in order.
//
// It is one switch, a table with an entry an operation: the registers and the next
// instruction stay in the processor's registers, which a call for each operation would
// spill. That makes it longer than any other function. Its helpers are inlined, but for leave,
// whose operations are the engine's.
//
// If a check fails, the engine executes the instruction and panics with its own message
// and place.
//
//go:nocheckptr
func (m *machine) run(c *code, ip unsafe.Pointer) {
	base := unsafe.Pointer(&c.instrs[0])
	flag := c.flag
	r, p := m.registers()
	for {
		in := (*instr)(ip)
		ip = unsafe.Add(ip, unsafe.Sizeof(instr{}))
		switch in.op {
		case opMov, opMovNum:
			r[in.a] = r[in.b]
		case opMovP:
			p[in.a] = p[in.b]
		case opMovH:
			p[in.a], r[in.a], r[in.a+1] = p[in.b], r[in.b], r[in.b+1]
		case opMovI:
			p[in.a], p[in.a+1] = p[in.b], p[in.b+1]
		case opConst:
			r[in.a] = uint64(in.imm)
		case opNilP:
			p[in.a] = nil
		case opNilH:
			p[in.a], r[in.a], r[in.a+1] = nil, 0, 0
		case opMovCap:
			r[in.a] = r[in.b+1]

		case opAdd:
			r[in.a] = r[in.b] + r[in.c]
		case opSub:
			r[in.a] = r[in.b] - r[in.c]
		case opMul:
			r[in.a] = r[in.b] * r[in.c]
		case opAnd:
			r[in.a] = r[in.b] & r[in.c]
		case opOr:
			r[in.a] = r[in.b] | r[in.c]
		case opXor:
			r[in.a] = r[in.b] ^ r[in.c]
		case opAndNot:
			r[in.a] = r[in.b] &^ r[in.c]
		case opShl:
			m.check(c, ip, int64(r[in.c]) >= 0)
			r[in.a] = r[in.b] << r[in.c]
		case opShlU:
			r[in.a] = r[in.b] << r[in.c]
		case opShr:
			m.check(c, ip, int64(r[in.c]) >= 0)
			r[in.a] = r[in.b] >> r[in.c]
		case opShrU:
			r[in.a] = r[in.b] >> r[in.c]
		case opSar:
			m.check(c, ip, int64(r[in.c]) >= 0)
			r[in.a] = uint64(int64(r[in.b]) >> r[in.c])
		case opSarU:
			r[in.a] = uint64(int64(r[in.b]) >> r[in.c])
		case opDivS:
			m.check(c, ip, r[in.c] != 0)
			r[in.a] = uint64(int64(r[in.b]) / int64(r[in.c]))
		case opDivU:
			m.check(c, ip, r[in.c] != 0)
			r[in.a] = r[in.b] / r[in.c]
		case opRemS:
			m.check(c, ip, r[in.c] != 0)
			r[in.a] = uint64(int64(r[in.b]) % int64(r[in.c]))
		case opRemU:
			m.check(c, ip, r[in.c] != 0)
			r[in.a] = r[in.b] % r[in.c]
		case opAddI:
			r[in.a] = r[in.b] + uint64(in.imm)
		case opMulI:
			r[in.a] = r[in.b] * uint64(in.imm)
		case opAndI:
			r[in.a] = r[in.b] & uint64(in.imm)
		case opShlI:
			r[in.a] = r[in.b] << (uint64(in.imm) & 63)
		case opShrI:
			r[in.a] = r[in.b] >> (uint64(in.imm) & 63)
		case opSarI:
			r[in.a] = uint64(int64(r[in.b]) >> (uint64(in.imm) & 63))
		case opMulAdd:
			r[in.a] = r[in.b]*r[in.c] + r[uint16(in.imm)]
		case opNeg:
			r[in.a] = -r[in.b]
		case opCom:
			r[in.a] = ^r[in.b]
		case opNot:
			r[in.a] = r[in.b] ^ 1

		case opS8:
			r[in.a] = uint64(int8(r[in.b]))
		case opS16:
			r[in.a] = uint64(int16(r[in.b]))
		case opS32:
			r[in.a] = uint64(int32(r[in.b]))
		case opU8:
			r[in.a] = uint64(uint8(r[in.b]))
		case opU16:
			r[in.a] = uint64(uint16(r[in.b]))
		case opU32:
			r[in.a] = uint64(uint32(r[in.b]))

		case opFAdd:
			r[in.a] = b64(f64(r[in.b]) + f64(r[in.c]))
		case opFSub:
			r[in.a] = b64(f64(r[in.b]) - f64(r[in.c]))
		case opFMul:
			r[in.a] = b64(f64(r[in.b]) * f64(r[in.c]))
		case opFDiv:
			r[in.a] = b64(f64(r[in.b]) / f64(r[in.c]))
		case opFNeg:
			r[in.a] = b64(-f64(r[in.b]))
		case opFAdd32:
			r[in.a] = b32(f32(r[in.b]) + f32(r[in.c]))
		case opFSub32:
			r[in.a] = b32(f32(r[in.b]) - f32(r[in.c]))
		case opFMul32:
			r[in.a] = b32(f32(r[in.b]) * f32(r[in.c]))
		case opFDiv32:
			r[in.a] = b32(f32(r[in.b]) / f32(r[in.c]))
		case opFNeg32:
			r[in.a] = b32(-f32(r[in.b]))

		case opEq:
			r[in.a] = truth(r[in.b] == r[in.c])
		case opNe:
			r[in.a] = truth(r[in.b] != r[in.c])
		case opLtS:
			r[in.a] = truth(int64(r[in.b]) < int64(r[in.c]))
		case opLeS:
			r[in.a] = truth(int64(r[in.b]) <= int64(r[in.c]))
		case opLtU:
			r[in.a] = truth(r[in.b] < r[in.c])
		case opLeU:
			r[in.a] = truth(r[in.b] <= r[in.c])
		case opFEq:
			r[in.a] = truth(f64(r[in.b]) == f64(r[in.c]))
		case opFNe:
			r[in.a] = truth(f64(r[in.b]) != f64(r[in.c]))
		case opFLt:
			r[in.a] = truth(f64(r[in.b]) < f64(r[in.c]))
		case opFLe:
			r[in.a] = truth(f64(r[in.b]) <= f64(r[in.c]))
		case opFEq32:
			r[in.a] = truth(f32(r[in.b]) == f32(r[in.c]))
		case opFNe32:
			r[in.a] = truth(f32(r[in.b]) != f32(r[in.c]))
		case opFLt32:
			r[in.a] = truth(f32(r[in.b]) < f32(r[in.c]))
		case opFLe32:
			r[in.a] = truth(f32(r[in.b]) <= f32(r[in.c]))
		case opPEq:
			r[in.a] = truth(p[in.b] == p[in.c])
		case opPNe:
			r[in.a] = truth(p[in.b] != p[in.c])
		case opHEq:
			r[in.a] = truth(text(r, p, in.b) == text(r, p, in.c))
		case opHNe:
			r[in.a] = truth(text(r, p, in.b) != text(r, p, in.c))
		case opHLt:
			r[in.a] = truth(text(r, p, in.b) < text(r, p, in.c))
		case opHLe:
			r[in.a] = truth(text(r, p, in.b) <= text(r, p, in.c))

		case opItoF:
			r[in.a] = b64(float64(int64(r[in.b])))
		case opFtoI:
			r[in.a] = uint64(int64(f64(r[in.b])))
		case opF32to64:
			r[in.a] = b64(float64(f32(r[in.b])))
		case opF64to32:
			r[in.a] = b32(float32(f64(r[in.b])))
		case opItoF32:
			r[in.a] = b32(float32(int64(r[in.b])))
		case opConvert:
			r[in.a] = conversions[in.imm](r[in.b])

		case opLoad8:
			m.check(c, ip, p[in.b] != nil)
			r[in.a] = uint64(*(*uint8)(unsafe.Add(p[in.b], in.imm)))
		case opLoadS8:
			m.check(c, ip, p[in.b] != nil)
			r[in.a] = uint64(*(*int8)(unsafe.Add(p[in.b], in.imm)))
		case opLoad16:
			m.check(c, ip, p[in.b] != nil)
			r[in.a] = uint64(*(*uint16)(unsafe.Add(p[in.b], in.imm)))
		case opLoadS16:
			m.check(c, ip, p[in.b] != nil)
			r[in.a] = uint64(*(*int16)(unsafe.Add(p[in.b], in.imm)))
		case opLoad32:
			m.check(c, ip, p[in.b] != nil)
			r[in.a] = uint64(*(*uint32)(unsafe.Add(p[in.b], in.imm)))
		case opLoadS32:
			m.check(c, ip, p[in.b] != nil)
			r[in.a] = uint64(*(*int32)(unsafe.Add(p[in.b], in.imm)))
		case opLoad64:
			m.check(c, ip, p[in.b] != nil)
			r[in.a] = *(*uint64)(unsafe.Add(p[in.b], in.imm))
		case opLoadP:
			m.check(c, ip, p[in.b] != nil)
			p[in.a] = *(*unsafe.Pointer)(unsafe.Add(p[in.b], in.imm))
		case opLoadH:
			m.check(c, ip, p[in.b] != nil)
			h := (*sliceHeader)(unsafe.Add(p[in.b], in.imm))
			p[in.a], r[in.a], r[in.a+1] = h.data, h.len, h.cap
		case opLoadT:
			m.check(c, ip, p[in.b] != nil)
			h := (*stringHeader)(unsafe.Add(p[in.b], in.imm))
			p[in.a], r[in.a], r[in.a+1] = h.data, h.len, h.len
		case opStore8:
			m.check(c, ip, p[in.a] != nil)
			*(*uint8)(unsafe.Add(p[in.a], in.imm)) = uint8(r[in.b])
		case opStore16:
			m.check(c, ip, p[in.a] != nil)
			*(*uint16)(unsafe.Add(p[in.a], in.imm)) = uint16(r[in.b])
		case opStore32:
			m.check(c, ip, p[in.a] != nil)
			*(*uint32)(unsafe.Add(p[in.a], in.imm)) = uint32(r[in.b])
		case opStore64:
			m.check(c, ip, p[in.a] != nil)
			*(*uint64)(unsafe.Add(p[in.a], in.imm)) = r[in.b]
		case opStoreP:
			m.check(c, ip, p[in.a] != nil)
			*(*unsafe.Pointer)(unsafe.Add(p[in.a], in.imm)) = p[in.b]
		case opStoreH:
			m.check(c, ip, p[in.a] != nil)
			*(*sliceHeader)(unsafe.Add(p[in.a], in.imm)) = sliceHeader{p[in.b], r[in.b], r[in.b+1]}
		case opStoreT:
			m.check(c, ip, p[in.a] != nil)
			*(*stringHeader)(unsafe.Add(p[in.a], in.imm)) = stringHeader{p[in.b], r[in.b]}

		case opLoadR:
			m.check(c, ip, p[in.b] != nil)
			p[in.a] = copied(c.news[in.imm], p[in.b])
		case opStoreR:
			m.check(c, ip, p[in.a] != nil)
			typedmemmove(c.news[in.imm], p[in.a], p[in.b])
		case opLoadI, opStoreE, opStoreI, opBoxN, opBoxP, opBoxH, opBoxT, opHashable, opAssert:
			m.check(c, ip, in.ofInterface(c, r, p))

		case opIndex8:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			r[in.a] = uint64(*(*uint8)(unsafe.Add(p[in.b], i)))
		case opIndexS8:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			r[in.a] = uint64(*(*int8)(unsafe.Add(p[in.b], i)))
		case opIndex16:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			r[in.a] = uint64(*(*uint16)(unsafe.Add(p[in.b], i*2)))
		case opIndexS16:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			r[in.a] = uint64(*(*int16)(unsafe.Add(p[in.b], i*2)))
		case opIndex32:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			r[in.a] = uint64(*(*uint32)(unsafe.Add(p[in.b], i*4)))
		case opIndexS32:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			r[in.a] = uint64(*(*int32)(unsafe.Add(p[in.b], i*4)))
		case opIndex64:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			r[in.a] = *(*uint64)(unsafe.Add(p[in.b], i*8))
		case opIndexP:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			p[in.a] = *(*unsafe.Pointer)(unsafe.Add(p[in.b], i*8))
		case opIndexH:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			h := (*sliceHeader)(unsafe.Add(p[in.b], i*24))
			p[in.a], r[in.a], r[in.a+1] = h.data, h.len, h.cap
		case opIndexT:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			h := (*stringHeader)(unsafe.Add(p[in.b], i*16))
			p[in.a], r[in.a], r[in.a+1] = h.data, h.len, h.len
		case opSet8:
			i := r[in.b]
			m.check(c, ip, i < r[in.a])
			*(*uint8)(unsafe.Add(p[in.a], i)) = uint8(r[in.c])
		case opSet16:
			i := r[in.b]
			m.check(c, ip, i < r[in.a])
			*(*uint16)(unsafe.Add(p[in.a], i*2)) = uint16(r[in.c])
		case opSet32:
			i := r[in.b]
			m.check(c, ip, i < r[in.a])
			*(*uint32)(unsafe.Add(p[in.a], i*4)) = uint32(r[in.c])
		case opSet64:
			i := r[in.b]
			m.check(c, ip, i < r[in.a])
			*(*uint64)(unsafe.Add(p[in.a], i*8)) = r[in.c]
		case opSetP:
			i := r[in.b]
			m.check(c, ip, i < r[in.a])
			*(*unsafe.Pointer)(unsafe.Add(p[in.a], i*8)) = p[in.c]

		case opIndexAddr:
			i := r[in.c]
			m.check(c, ip, i < r[in.b])
			p[in.a] = unsafe.Add(p[in.b], i*uint64(in.imm))
		case opArrayAddr:
			size, length := in.targets()
			i := r[in.c]
			if i >= uint64(length) || p[in.b] == nil { // check would get both as a value in a register
				m.fail(c, ip)
			}
			p[in.a] = unsafe.Add(p[in.b], i*uint64(size))
		case opFieldAddr:
			m.check(c, ip, p[in.b] != nil)
			p[in.a] = unsafe.Add(p[in.b], in.imm)
		case opSlice:
			m.check(c, ip, c.slices[in.imm].slice(r, p, in.a, in.b))
		case opMapGet:
			a := &c.accesses[in.imm]
			a.get(r, p, m.stackFor(a.mapType), &m.maps)
		case opMapSet:
			a := &c.accesses[in.imm]
			m.check(c, ip, p[uint16(a.m)] != nil)
			a.set(r, p, m.stackFor(a.mapType), &m.maps)
		case opMapDelete:
			a := &c.accesses[in.imm]
			a.remove(r, p, m.stackFor(a.mapType), &m.maps)
		case opMapLen:
			r[in.a] = size(p[in.b])
		case opRange:
			c.ranges[in.imm].begin(p)
		case opNext:
			g := &c.ranges[in.imm]
			g.next(r, p, m.stackFor(g.mapType))
		case opNextRune:
			c.ranges[in.imm].nextRune(r, p)

		case opNew:
			p[in.a] = unsafeNew(c.news[in.imm])
		case opAppend:
			a := &c.appends[in.imm]
			a.append(r, p, m.stackForPart(&a.elem))
		case opAppend64:
			if n := r[in.b]; n < r[in.b+1] {
				*(*uint64)(unsafe.Add(p[in.b], n*8)) = r[in.c]
				r[in.a] = n + 1
				if in.a != in.b { // the write barrier of a pointer takes longer than the append
					p[in.a], r[in.a+1] = p[in.b], r[in.b+1]
				}
			} else {
				c.appends[in.imm].append(r, p, nil)
			}
		case opCopy:
			r[in.a] = uint64(typedslicecopy(c.news[in.imm], headerAt(r, p, in.b), headerAt(r, p, in.c)))
		case opSelect:
			m.choose(c, &c.selections[in.imm], r, p)
		case opReceive:
			r[in.a] = truth(!raised(flag) && m.receive(c, &c.selections[in.imm], r, p))

		case opJump:
			ip = unsafe.Add(base, in.imm)
		case opBranch:
			ip = in.branch(base, r[in.a]&1 != 0)
		case opBrEq:
			ip = in.branch(base, r[in.a] == r[in.b])
		case opBrNe:
			ip = in.branch(base, r[in.a] != r[in.b])
		case opBrLtS:
			ip = in.branch(base, int64(r[in.a]) < int64(r[in.b]))
		case opBrLeS:
			ip = in.branch(base, int64(r[in.a]) <= int64(r[in.b]))
		case opBrLtU:
			ip = in.branch(base, r[in.a] < r[in.b])
		case opBrLeU:
			ip = in.branch(base, r[in.a] <= r[in.b])
		case opBrEqI:
			ip = in.branch(base, r[in.a] == uint64(int16(in.c)))
		case opBrNeI:
			ip = in.branch(base, r[in.a] != uint64(int16(in.c)))
		case opBrLtI:
			ip = in.branch(base, int64(r[in.a]) < int64(int16(in.c)))
		case opBrLeI:
			ip = in.branch(base, int64(r[in.a]) <= int64(int16(in.c)))
		case opBrGtI:
			ip = in.branch(base, int64(r[in.a]) > int64(int16(in.c)))
		case opBrGeI:
			ip = in.branch(base, int64(r[in.a]) >= int64(int16(in.c)))
		case opBrFEq:
			ip = in.branch(base, f64(r[in.a]) == f64(r[in.b]))
		case opBrFNe:
			ip = in.branch(base, f64(r[in.a]) != f64(r[in.b]))
		case opBrFLt:
			ip = in.branch(base, f64(r[in.a]) < f64(r[in.b]))
		case opBrFLe:
			ip = in.branch(base, f64(r[in.a]) <= f64(r[in.b]))
		case opBrFEq32:
			ip = in.branch(base, f32(r[in.a]) == f32(r[in.b]))
		case opBrFNe32:
			ip = in.branch(base, f32(r[in.a]) != f32(r[in.b]))
		case opBrFLt32:
			ip = in.branch(base, f32(r[in.a]) < f32(r[in.b]))
		case opBrFLe32:
			ip = in.branch(base, f32(r[in.a]) <= f32(r[in.b]))
		case opBrNil:
			ip = in.branch(base, p[in.a] == nil)
		case opArmed:
			ip = in.branch(base, c.flags[in.a] != 0)
		case opPoll:
			if raised(flag) {
				ip = unsafe.Add(base, in.imm)
			}
		case opLoop:
			ip = in.turn(base, flag, true)
		case opLoopEq:
			ip = in.turn(base, flag, r[in.a] == r[in.b])
		case opLoopNe:
			ip = in.turn(base, flag, r[in.a] != r[in.b])
		case opLoopLtS:
			ip = in.turn(base, flag, int64(r[in.a]) < int64(r[in.b]))
		case opCountLtS:
			i := int64(r[in.a]) + int64(int16(in.c))
			r[in.a] = uint64(i)
			ip = in.turn(base, flag, i < int64(r[in.b]))
		case opLoopLeS:
			ip = in.turn(base, flag, int64(r[in.a]) <= int64(r[in.b]))
		case opLoopLtU:
			ip = in.turn(base, flag, r[in.a] < r[in.b])
		case opLoopLeU:
			ip = in.turn(base, flag, r[in.a] <= r[in.b])
		case opLoopEqI:
			ip = in.turn(base, flag, r[in.a] == uint64(int16(in.c)))
		case opLoopNeI:
			ip = in.turn(base, flag, r[in.a] != uint64(int16(in.c)))
		case opLoopLtI:
			ip = in.turn(base, flag, int64(r[in.a]) < int64(int16(in.c)))
		case opLoopLeI:
			ip = in.turn(base, flag, int64(r[in.a]) <= int64(int16(in.c)))
		case opLoopGtI:
			ip = in.turn(base, flag, int64(r[in.a]) > int64(int16(in.c)))
		case opLoopGeI:
			ip = in.turn(base, flag, int64(r[in.a]) >= int64(int16(in.c)))

		case opCall:
			c, ip = m.call(c, &c.calls[in.imm], ip)
			base = unsafe.Pointer(&c.instrs[0])
			r, p = m.registers()
		case opReturn1:
			v := r[in.a]
			if m.depth() == 1 {
				if m.called {
					m.word, m.returned = v, true
					return
				}
				m.giveBack(c, &c.returns[in.imm])
				return
			}
			var to *call
			c, ip, to = m.pop()
			base = unsafe.Pointer(&c.instrs[0])
			r, p = m.registers()
			if len(to.results) > 0 { // else it was deferred
				r[to.results[0].reg] = v
			}
		case opReturn0, opReturn:
			if m.depth() == 1 {
				m.giveBack(c, &c.returns[in.imm])
				return
			}
			from, list, fp := r, &c.returns[in.imm], p
			var to *call
			c, ip, to = m.pop()
			base = unsafe.Pointer(&c.instrs[0])
			r, p = m.registers()
			for i := range to.results {
				list.values[i].copyTo(&to.results[i], from, fp, r, p)
			}
		case opPanic:
			c, ip = m.panics(c, &c.escapes[in.imm], eface{p[in.a], p[in.a+1]})
			base = unsafe.Pointer(&c.instrs[0])
			r, p = m.registers()
		case opDefer:
			m.defers(c, &c.deferrals[in.imm])
		case opRecover:
			ip = m.recover(c, in, ip)
		case opRunDefers:
			c, ip = m.runDefers(c, &c.ends[in.imm], ip)
			base = unsafe.Pointer(&c.instrs[0])
			r, p = m.registers()
		case opMath1:
			r[in.a] = b64(c.math1[in.imm](f64(r[in.b])))
		case opMath2:
			r[in.a] = b64(c.math2[in.imm](f64(r[in.b]), f64(r[in.c])))

		default:
			m.leave(c, in)
		}
	}
}
