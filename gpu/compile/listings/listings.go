// Package listings holds the CUDA listings of the founding notes as they are printed, each
// with what package compile answers to it. Tests of package compile and the command
// ops/cmd/listings use it. It imports nothing of the project.
package listings

import (
	_ "embed"
	"fmt"
	"strings"
)

// Listing is one listing of the notes.
type Listing struct {
	Note   string // its number, such as "000"
	Line   int    // of the note, before the first line of the listing
	Source string
	Answer string // of a %%cuda cell with the listing
}

// Name is the note and the line, such as "000:83".
func (l Listing) Name() string { return fmt.Sprintf("%s:%d", l.Note, l.Line) }

//go:embed listings.txt
var text string

// File is the file of the listings, in this package's folder.
const File = "listings.txt"

// All are the listings in the order of the notes, and the head of their file.
func All() (head string, list []Listing) {
	head, rest, _ := strings.Cut(text, "@@ note ")
	for part := range strings.SplitSeq(rest, "@@ note ") {
		title, body, _ := strings.Cut(part, "\n")
		var l Listing
		l.Source, l.Answer, _ = strings.Cut(body, "@@ answer\n")
		var line string
		l.Note, line, _ = strings.Cut(title, ", line ")
		fmt.Sscan(line, &l.Line) // a test finds each listing by its line
		list = append(list, l)
	}
	return head, list
}

// Text is the file that All reads.
func Text(head string, list []Listing) string {
	var b strings.Builder
	b.WriteString(head)
	for _, l := range list {
		fmt.Fprintf(&b, "@@ note %s, line %d\n%s@@ answer\n%s", l.Note, l.Line, l.Source, l.Answer)
	}
	return b.String()
}
