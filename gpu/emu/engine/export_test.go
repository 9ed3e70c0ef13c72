package engine

// Suspect sets when blocks are watched for an endless wait: after some instructions, and
// after some turns of polling. It returns what was set before.
func Suspect(instructions uint64, visits int) (uint64, int) {
	before, beforeVisits := suspectAfter, suspectVisits
	suspectAfter, suspectVisits = instructions, visits
	return before, beforeVisits
}

// LimitMarks bounds the bytes of marks of searches for races between blocks, and returns
// the bound before.
func LimitMarks(bytes int64) (before int64) {
	before, mostMarks = mostMarks, bytes
	return before
}
