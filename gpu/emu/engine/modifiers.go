package engine

import (
	"slices"
	"strings"

	"warpbook/gpu/ptx"
)

// words are the modifiers of an instruction that are not handled yet; a word that is
// left at the end is not supported.
type words []string

func wordsOf(src *ptx.Instruction) words { return slices.Clone(src.Modifiers) }

// take removes and returns the first of the choices that is present, "" if none is.
func (w *words) take(choices ...string) string {
	for i, m := range *w {
		if slices.Contains(choices, m) {
			*w = slices.Delete(*w, i, i+1)
			return m
		}
	}
	return ""
}

// has removes a word and reports whether it was present.
func (w *words) has(word string) bool { return w.take(word) != "" }

// drop removes words that have no effect in the emulator.
func (w *words) drop(choices ...string) {
	*w = slices.DeleteFunc(*w, func(m string) bool {
		return slices.Contains(choices, m) || strings.HasPrefix(m, "L1::") || strings.HasPrefix(m, "L2::")
	})
}

// last removes the type, which stands at the end.
func (w *words) last() ptx.Type {
	n := len(*w)
	if n == 0 {
		return ""
	}
	t := (*w)[n-1]
	*w = (*w)[:n-1]
	return ptx.Type(t)
}

// are reports whether exactly these words are left.
func (w words) are(all ...string) bool { return slices.Equal(w, all) }

// rest names the words that are left.
func (w words) rest() string { return "." + strings.Join(w, ".") }
