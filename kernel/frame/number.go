package frame

import (
	"fmt"
	"strconv"
)

// ofShell is how many numbers the cells of a shell have.
const ofShell = 1_000_000_000

// CellNumber is the number of the count-th cell of a shell, which no cell of
// another shell has. Shell 0 is the parent shell: its cells have their counts.
func CellNumber(shell, count int) int { return shell*ofShell + count }

// CellShell and CellCount are what a number was made of.
func CellShell(number int) int { return number / ofShell }
func CellCount(number int) int { return number % ofShell }

// CellName is how messages name a cell: "cell 3", or "subshell 2, cell 3".
func CellName(number int) string {
	name := fmt.Sprintf("cell %d", CellCount(number))
	if shell := CellShell(number); shell > 0 {
		name = fmt.Sprintf("subshell %d, %s", shell, name)
	}
	return name
}

// CellMark is how other names are marked with that of a cell: "3", or "2-3".
func CellMark(number int) string {
	mark := strconv.Itoa(CellCount(number))
	if shell := CellShell(number); shell > 0 {
		mark = strconv.Itoa(shell) + "-" + mark
	}
	return mark
}
