package history

import (
	"os"
	"strconv"
	"strings"
)

// environment is the variable that passes a history, as a session and a path, to a
// child program that runs cells.
const environment = "WARPBOOK_HISTORY"

// Environment returns the environment for a child that calls Inherit: that of this
// process, and the location of the history.
func (h *History) Environment() []string {
	return append(os.Environ(), environment+"="+strconv.Itoa(h.session)+":"+h.path)
}

// Inherit returns the parent's history for reading only, nil if the parent keeps no
// file. Children of this process inherit nothing.
func Inherit() *History {
	number, path, ok := strings.Cut(os.Getenv(environment), ":")
	os.Unsetenv(environment)
	session, err := strconv.Atoi(number)
	if !ok || err != nil || path == "" {
		return nil
	}
	return &History{path: path, session: session}
}
