// Package notebooks holds the definitions of the words that the notebooks use, for pages that
// are read without them. It knows no notebook and must import nothing of the project.
package notebooks

import _ "embed"

// Definitions are the tables of definitions.md: a word and its meaning in each row.
//
//go:embed definitions.md
var Definitions string

// ChineseDefinitions are those of definitions.zh.md.
//
//go:embed definitions.zh.md
var ChineseDefinitions string
