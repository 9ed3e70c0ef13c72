package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// A wait for a clock is a loop that reads it and does nothing else, as courses keep a kernel busy
// for two thousand million cycles: one instruction reads it so many times, with few instructions
// and no access to shared or global memory, barrier or shuffle between two reads. From then on
// time passes faster, in steps that double.
const (
	waitReads        = 4096
	waitInstructions = 32 // most between two reads
	waitDoubling     = 64 // reads of one step
	mostDoublings    = 20
)

// clock is the state of a block's clock.
type clock struct {
	reads        uint64           // which advance the time
	by           *ptx.Instruction // that read it last
	instructions uint64           // at that read
	others       uint64           // accesses, barriers and shuffles at that read
	waits        uint64           // reads with little else between them
	skipped      uint64           // cycles that waits did not take
}

// now is the time in cycles that an instruction reads: instructions of the block, and reads of the
// clock, so that no two reads are equal.
func (c *clock) now(in *ptx.Instruction, cnt *gpu.Counters) uint64 {
	done := cnt.WarpInstructions
	others := accesses(cnt) + cnt.Barriers + cnt.WarpSyncs + cnt.Shuffles
	if c.by != in || others != c.others || done-c.instructions > waitInstructions {
		c.waits = 0
	}
	c.by, c.instructions, c.others = in, done, others
	c.reads++
	if c.waits++; c.waits > waitReads {
		c.skipped += 1 << min((c.waits-waitReads)/waitDoubling, mostDoublings)
	}
	return done + c.reads + c.skipped
}
