package cellproc

import (
	"bytes"
	"os"
	"strconv"
)

// oomCounter is the file in which Linux counts the processes that the out-of-memory
// killer has ended.
var oomCounter = "/proc/vmstat"

// oomKills returns that count; ok is false where the system does not provide it.
func oomKills() (n int, ok bool) {
	data, err := os.ReadFile(oomCounter)
	if err != nil {
		return 0, false
	}
	_, after, found := bytes.Cut(data, []byte("\noom_kill "))
	if !found {
		return 0, false
	}
	text, _, _ := bytes.Cut(after, []byte("\n"))
	n, err = strconv.Atoi(string(text))
	return n, err == nil
}

// killer reports whether the system killed the program, rather than this process.
// before is the count when the program started.
func killer(before int, known bool) string {
	now, ok := oomKills()
	switch {
	case !known || !ok:
		return " (by the system, if memory ran out)"
	case now > before:
		return " by the system, because memory ran out"
	}
	return " (not for lack of memory)"
}
