package magic

import "strings"

// All are the magics, in the order in which %help lists them.
var All = []*Magic{timeOnce, timeit, who, reset, env, cd, load, history, cuda, ptx, ncu, sanitize, bash, pkg, help}

// Names are the magics that what is typed, such as "%ti", can become.
func Names(typed string) (names []string) {
	for _, m := range All {
		for _, sign := range m.signs() {
			if strings.HasPrefix(sign+m.Name, typed) || strings.HasPrefix("%"+m.Name, typed) {
				names = append(names, sign+m.Name)
			}
		}
	}
	return names
}
