package magic

import "strings"

// Set is the magics of a session, in the order in which %help lists them.
type Set []*Magic

// Names are the completions of a typed prefix, such as "%ti".
func (s Set) Names(typed string) (names []string) {
	for _, m := range s {
		for _, sign := range m.signs() {
			if strings.HasPrefix(sign+m.Name, typed) || strings.HasPrefix("%"+m.Name, typed) {
				names = append(names, sign+m.Name)
			}
		}
	}
	return names
}

// Find is the magic of that name, nil if there is none.
func (s Set) Find(name string) *Magic {
	for _, m := range s {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// nearest is the magic with the closest name.
func (s Set) nearest(name string) *Magic {
	for _, m := range s {
		if len(name) > 1 && (strings.HasPrefix(m.Name, name[:2]) || strings.HasPrefix(name, m.Name)) {
			return m
		}
	}
	return nil
}
