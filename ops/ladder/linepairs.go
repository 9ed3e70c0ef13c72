package ladder

import "strings"

// LinePair is a row of two sources side by side. A line that only one of them has is
// marked - on the left and + on the right.
type LinePair struct{ Left, Right string }

// LinePairs is Diff with the rungs beside each other: unchanged lines in one row, and
// the lines of a change in as many rows as the longer side has.
func (o *Operator) LinePairs(left, right string) ([]LinePair, error) {
	d, err := o.Diff(left, right)
	if err != nil {
		return nil, err
	}
	return pairs(d.Text), nil
}

// pairs sets the lines of a diff side by side.
func pairs(diff string) (rows []LinePair) {
	var lost, added []string
	flush := func() {
		for i := range max(len(lost), len(added)) {
			var row LinePair
			if i < len(lost) {
				row.Left = lost[i]
			}
			if i < len(added) {
				row.Right = added[i]
			}
			rows = append(rows, row)
		}
		lost, added = nil, nil
	}
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "- "):
			if len(added) > 0 {
				flush()
			}
			lost = append(lost, line)
		case strings.HasPrefix(line, "+ "):
			added = append(added, line)
		default:
			flush()
			rows = append(rows, LinePair{line, line})
		}
	}
	flush()
	return rows
}
