package server

import (
	"strings"
	"unicode/utf8"

	"warpbook/kernel/cellproto"
)

// position is the place that a client asks about.
type position struct {
	Code   string `json:"code"`
	Cursor *int   `json:"cursor_pos"` // in code points; absent: the end
}

// cursor returns the position within the code. Positions outside are moved to its ends.
func (p position) cursor() int {
	end := utf8.RuneCountInString(p.Code)
	if p.Cursor == nil {
		return end
	}
	return min(max(*p.Cursor, 0), end)
}

type completeReply struct {
	Matches  []string         `json:"matches"`
	Start    int              `json:"cursor_start"`
	End      int              `json:"cursor_end"`
	Metadata completeMetadata `json:"metadata"`
}

// completeMetadata gives JupyterLab the kind of each match.
type completeMetadata struct {
	Types []matchType `json:"_jupyter_types_experimental"`
}

type matchType struct {
	Text      string `json:"text"`
	Type      string `json:"type"`
	Signature string `json:"signature,omitempty"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
}

func complete(c *call, q position) (*completeReply, error) {
	done, err := c.query(cellproto.Request{Type: cellproto.Complete, Code: q.Code, Cursor: q.cursor()})
	if err != nil {
		return nil, err
	}
	return completions(done), nil
}

func completions(done cellproto.Event) *completeReply {
	reply := &completeReply{
		Matches: []string{}, Start: done.Start, End: done.End,
		Metadata: completeMetadata{Types: []matchType{}},
	}
	for _, m := range done.Matches {
		reply.Matches = append(reply.Matches, m.Text)
		reply.Metadata.Types = append(reply.Metadata.Types,
			matchType{Text: m.Text, Type: shownType(m), Signature: m.Type, Start: done.Start, End: done.End})
	}
	return reply
}

// shownRunes is the longest signature that JupyterLab's list has room for.
const shownRunes = 60

// shownType is the text beside a match in JupyterLab's list, which does not show the
// field signature: the Go type, or else the kind. JupyterLab takes the mark of the match
// from the first letter.
func shownType(m cellproto.Match) string {
	if m.Type == "" {
		return m.Kind
	}
	shown := []rune(strings.ReplaceAll(m.Type, " ", "\u00a0")) // the list breaks a line at a space
	if len(shown) > shownRunes {
		shown = append(shown[:shownRunes-1], '…')
	}
	return string(shown)
}
