package namespace

import "slices"

// Journal notes the changes that a cell makes to the session before it begins, so that
// all of them can be undone if the cell is stopped, does not compile, or this program's
// own code panics.
type Journal struct {
	undo  []func()
	first [8]func() // the first changes: most cells need no more
}

// Note adds a function that undoes a change.
func (j *Journal) Note(undo func()) {
	if j.undo == nil {
		j.undo = j.first[:0]
	}
	j.undo = append(j.undo, undo)
}

// Undo undoes all changes, the last first.
func (j *Journal) Undo() {
	for _, f := range slices.Backward(j.undo) {
		f()
	}
	j.undo = nil
}

// Set is m[key] = value, until j.Undo.
func Set[K comparable, V any](j *Journal, m map[K]V, key K, value V) {
	noteKey(j, m, key)
	m[key] = value
}

// Delete deletes a key, until j.Undo.
func Delete[K comparable, V any](j *Journal, m map[K]V, key K) {
	if _, ok := m[key]; ok {
		noteKey(j, m, key)
		delete(m, key)
	}
}

func noteKey[K comparable, V any](j *Journal, m map[K]V, key K) {
	before, had := m[key]
	j.Note(func() {
		if had {
			m[key] = before
		} else {
			delete(m, key)
		}
	})
}
