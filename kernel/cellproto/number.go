package cellproto

import (
	"fmt"
	"strconv"
)

// ofShell is the number of cell numbers that each shell has.
const ofShell = 1_000_000_000

// CellNumber returns the number of the count-th cell of a shell, which no cell of
// another shell has. In shell 0, the parent shell, the number equals the count.
func CellNumber(shell, count int) int { return shell*ofShell + count }

// CellShell and CellCount return the shell and the count of a number.
func CellShell(number int) int { return number / ofShell }
func CellCount(number int) int { return number % ofShell }

// CellName returns the name of a cell in messages: "cell 3", or "subshell 2, cell 3".
func CellName(number int) string {
	name := fmt.Sprintf("cell %d", CellCount(number))
	if shell := CellShell(number); shell > 0 {
		name = fmt.Sprintf("subshell %d, %s", shell, name)
	}
	return name
}

// CellMark returns the mark of a cell in other names: "3", or "2-3".
func CellMark(number int) string {
	mark := strconv.Itoa(CellCount(number))
	if shell := CellShell(number); shell > 0 {
		mark = strconv.Itoa(shell) + "-" + mark
	}
	return mark
}
