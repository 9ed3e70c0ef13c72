//go:build ignore

package ixgo

// setResults copies the results of a call into the register of its tuple. The
// frame of the callee goes back to a pool, so a tuple must not alias its stack:
// another goroutine that calls the same function would overwrite the results.
// The tuple of an earlier execution of the same call is reused. Only Extract
// instructions of this frame read it, and they read it as a register.
func (fr *frame) setResults(ir register, results []value) {
	if t, ok := fr.stack[ir].(tuple); ok && len(t) == len(results) {
		copy(t, results)
		return
	}
	fr.stack[ir] = append(tuple(nil), results...)
}
