package corpus

import (
	_ "embed"
	"maps"
)

//go:embed examples.txt
var leftExamples string

//go:embed examples-body.txt
var leftBody string // where the body is one cell or more

//go:embed examples-statements.txt
var leftStatements string

// LeftExamples are the examples that do not pass in a form, with their reasons.
func LeftExamples(form Form) map[string]string {
	left := Reasons(leftExamples)
	if form != Called {
		maps.Copy(left, Reasons(leftBody))
	}
	if form == Statements {
		maps.Copy(left, Reasons(leftStatements))
	}
	return left
}

//go:embed twice.txt
var leftTwice string

// LeftTwice are the notebooks that print something else than compiled Go when each cell
// runs twice, with their reasons.
func LeftTwice() map[string]string { return Reasons(leftTwice) }
