package history

import (
	"os"
	"strconv"
	"strings"
)

// environment is the variable by which a program that runs cells finds the
// history of the session that it runs them for: a session and a path.
const environment = "WARPBOOK_HISTORY"

// Environment is what a child that calls Inherit is to find in its environment:
// that of this process, and where the history is.
func (h *History) Environment() []string {
	return append(os.Environ(), environment+"="+strconv.Itoa(h.session)+":"+h.path)
}

// Inherit returns the history of the parent, to be read and not added to, nil
// if there is none in a file. What this process starts inherits nothing.
func Inherit() *History {
	number, path, ok := strings.Cut(os.Getenv(environment), ":")
	os.Unsetenv(environment)
	session, err := strconv.Atoi(number)
	if !ok || err != nil || path == "" {
		return nil
	}
	return &History{path: path, session: session}
}
