package history

import (
	"regexp"
	"slices"
	"strings"
)

// Tail returns the last n cells of all sessions, or all for n <= 0.
func (h *History) Tail(n int) ([]Entry, error) {
	entries, err := h.all()
	return last(entries, n), err
}

// Range returns the cells of a session from line start up to, not including, stop; a
// stop of nil or 0 is the end. Negative lines count back from the end of the session, as
// in IPython. Session 0 is this one, negative sessions count back from it. Of this
// session it returns the cells of the given shell, of other sessions those of the parent
// shell.
func (h *History) Range(shell, session, start int, stop *int) ([]Entry, error) {
	if session <= 0 {
		session += h.session
	}
	if session != h.session {
		shell = 0
	}
	entries, err := h.all()
	entries = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Session != session || e.Shell != shell })
	end := 1
	for _, e := range entries {
		end = max(end, e.Line+1)
	}
	until := end
	if stop != nil && *stop != 0 {
		until = fromEnd(*stop, end)
	}
	start = fromEnd(start, end)
	return slices.DeleteFunc(entries, func(e Entry) bool { return e.Line < start || e.Line >= until }), err
}

// fromEnd returns a line that may be given as its distance from the end.
func fromEnd(line, end int) int {
	if line < 0 {
		line += end
	}
	return line
}

// Search returns the last n cells, or all for n <= 0, whose whole input matches a
// pattern with the wildcards * and ?. With unique, only the last of equal inputs is
// returned.
func (h *History) Search(pattern string, unique bool, n int) ([]Entry, error) {
	quoted := regexp.QuoteMeta(strings.ToValidUTF8(pattern, "\uFFFD"))
	quoted = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted)
	matches, err := regexp.Compile(`(?s)\A` + quoted + `\z`)
	if err != nil { // the pattern is far too long
		return nil, err
	}
	entries, err := h.all()
	seen := map[string]bool{}
	var found []Entry
	for _, e := range slices.Backward(entries) {
		if matches.MatchString(e.Input) && !(unique && seen[e.Input]) {
			seen[e.Input] = true
			found = append(found, e)
		}
	}
	slices.Reverse(found)
	return last(found, n), err
}

func last(entries []Entry, n int) []Entry {
	if n <= 0 || n > len(entries) {
		return entries
	}
	return entries[len(entries)-n:]
}
