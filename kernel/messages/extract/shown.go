package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"warpbook/kernel/nbformat"
)

var (
	codeOf  = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	englsh  = regexp.MustCompile(`\b[a-z]{2,}(?:,)? [a-z]{2,}(?:,)? [a-z]{2,}`)
	columns = regexp.MustCompile(` {2,}`)
)

// shown lists the English texts in the outputs of an executed notebook: lines with three
// English words in a row and without a Chinese one.
func shown(path string) ([]string, error) {
	nb, err := nbformat.Read(path)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			plain, _ := o.Data["text/plain"].(string)
			if markdown, ok := o.Data["text/markdown"].(string); ok {
				plain = codeOf.ReplaceAllString(markdown, "")
			}
			for line := range strings.Lines(plain + "\n" + o.Text) {
				for _, piece := range columns.Split(strings.TrimSpace(line), -1) {
					if englsh.MatchString(piece) && !strings.ContainsFunc(piece, func(r rune) bool { return unicode.Is(unicode.Han, r) }) && !slices.Contains(all, c.ID+": "+piece) {
						all = append(all, c.ID+": "+piece)
					}
				}
			}
		}
	}
	return all, nil
}
