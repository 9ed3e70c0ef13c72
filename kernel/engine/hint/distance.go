package hint

import (
	"cmp"
	"slices"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/spelling"
)

// Nearest returns a few paths that a misspelt path may mean: their spelling, or that of
// their last name, is close to it.
func Nearest(path string, all []string) []string {
	name := packageName(path)
	near := slices.DeleteFunc(all, func(p string) bool {
		return spelling.Distance(path, p) > 1+len(path)/4 && spelling.Distance(name, packageName(p)) > len(name)/4
	})
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(spelling.Distance(path, a), spelling.Distance(path, b)) })
	return near[:min(3, len(near))]
}

// swapped reports whether b is a with two adjacent letters swapped.
func swapped(a, b string) bool {
	for i := 0; len(a) == len(b) && i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

var majorVersion = lazyregexp.New(`/v\d+$`)

// packageName is the likely package name of a path.
func packageName(path string) string {
	path = majorVersion().ReplaceAllString(path, "")
	return path[strings.LastIndexByte(path, '/')+1:]
}
