package nbformat

import (
	"crypto/sha256"
	"fmt"
)

// addMissingIDs gives every cell without an ID one derived from its content, so that
// the same notebook always gets the same IDs.
func addMissingIDs(cells []*Cell) {
	used := map[string]bool{}
	for _, c := range cells {
		used[c.ID] = true
	}
	for _, c := range cells {
		for n := 0; c.ID == ""; n++ {
			if id := contentID(c, n); !used[id] {
				c.ID, used[id] = id, true
			}
		}
	}
}

// contentID returns the n-th ID for a cell with this content.
func contentID(c *Cell, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", c.Type, n, c.Source))
	return fmt.Sprintf("%x", sum[:4])
}
