// Package copyengine is the copy engine of the emulator: tensor maps and the tiles that they
// name, reductions, and the copies under way of cp.async and cp.async.bulk. Package engine,
// which it must not import, lowers the instructions, checks the memory that they access,
// orders copies with mbarriers and reports faults.
package copyengine
