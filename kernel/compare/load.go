package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"warpbook/kernel/runs"
)

// Set is the runs that one argument names.
type Set struct {
	Name string
	Runs []runs.Run
}

// Load reads the runs that an argument names: a file, all files of runs below a
// folder, or those in the folder store whose device (device:TEXT) or commit
// (commit:HASH) has that text.
func Load(argument, store string) (Set, error) {
	set := Set{Name: argument}
	for _, kind := range []string{"device", "commit"} {
		text, ok := strings.CutPrefix(argument, kind+":")
		if !ok {
			continue
		}
		all, err := runs.ReadFolder(store)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return set, err
		}
		set.Runs = slices.DeleteFunc(all, func(r runs.Run) bool { return text == "" || !r.Says(kind, text) })
		if len(set.Runs) == 0 {
			return set, fmt.Errorf("compare: %s: no run in %s has that %s, see warpbook history", argument, store, kind)
		}
		return set, nil
	}
	info, err := os.Stat(argument)
	if err != nil {
		return set, fmt.Errorf("compare: %w, expected a file of a run, a folder, device:NAME or commit:HASH", err)
	}
	if !info.IsDir() {
		run, err := runs.Read(argument)
		set.Runs = []runs.Run{run}
		return set, err
	}
	set.Runs, err = runs.ReadFolder(argument)
	if err == nil && len(set.Runs) == 0 {
		err = fmt.Errorf("compare: %s: no run in this folder, %w", argument, runs.ErrNoRun)
	}
	return set, err
}
