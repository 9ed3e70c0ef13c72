package results

import (
	"slices"
	"strings"
	"warpbook/ops/ladder"
)

// published reports whether a row has figures of the founding notes.
func (l *Latencies) published() bool {
	return slices.ContainsFunc(l.all(), func(r Latency) bool { return len(l.comparable(r)) > 0 })
}

// nearSize is the factor within which a published size is near that of this run.
const nearSize = 4

// comparable are the published figures of a row that may stand beside its time: those
// of a size near this one, and times whose size the notes do not say.
func (l *Latencies) comparable(r Latency) (near []ladder.Figure) {
	for _, f := range r.Published {
		far := len(f.Size) == 0 && f.Unit == ""
		for i, n := range f.Size {
			ratio := float64(n) / float64(max(1, l.Size[i]))
			far = far || ratio > nearSize || ratio < 1./nearSize
		}
		if !far {
			near = append(near, f)
		}
	}
	return near
}

// publishedAt says for which sizes and devices figures were published: where most
// were, and of which variants elsewhere.
func (l *Latencies) publishedAt() string {
	var places []string
	names := map[string][]string{}
	for _, r := range l.Rows {
		published := l.comparable(r)
		if len(published) == 0 {
			continue
		}
		_, at := figures(published)
		if names[at] == nil {
			places = append(places, at)
		}
		names[at] = append(names[at], r.Name)
	}
	slices.SortStableFunc(places, func(a, b string) int { return len(names[b]) - len(names[a]) })
	text := ""
	for i, at := range places {
		if text += "; "; i > 0 {
			text += strings.Join(names[at], ", ") + ": "
		}
		text += "for " + at
	}
	return text
}

// figures joins the published figures of a variant, with their sizes and devices.
func figures(published []ladder.Figure) (values, at string) {
	var v, a []string
	for _, f := range published {
		if text := f.String(); !slices.Contains(v, text) { // the notes print some at two places
			v = append(v, text)
		}
		place := f.At() + ", " + f.On()
		if len(a) == 0 || a[len(a)-1] != place {
			a = append(a, place)
		}
	}
	if len(v) == 0 {
		return "-", "-"
	}
	return strings.Join(v, " or "), strings.Join(a, "; ")
}
