//go:build !windows

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"warpbook/ops"
	"warpbook/ops/peers"
)

// done are the lines of a run that ended midway, as many as each name and size has:
// the parts that a resumed run skips.
type done struct {
	lines map[string]int
	all   []peers.Figure
}

// readDone reads the lines of a file; none for "". The last line may have been cut off.
func readDone(name string) (d done, err error) {
	d.lines = map[string]int{}
	if name == "" {
		return d, nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("--resume %s: no such file, expected the lines of a run", name)
	}
	if err != nil {
		return d, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var x peers.Figure
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			if !lines.Scan() {
				break
			}
			return d, fmt.Errorf("--resume %s: line %d: %w", name, n, err)
		}
		if x.Verdict == ops.Pass && x.MedianNS > 0 {
			d.lines[key(x.Name, x.Size)]++
			d.all = append(d.all, x)
		}
	}
	return d, lines.Err()
}

func key(name string, size []int) string { return fmt.Sprint(name, size) }

// count is how many lines a name has at a size.
func (d done) count(name string, size []int) int { return d.lines[key(name, size)] }

// peers reports whether a peer, a name that is no rung of any operator, has its line
// of every turn at a size.
func (d done) peers(size []int, turns int) bool {
	for _, x := range d.all {
		o, err := ops.Find(x.Operator)
		if err != nil || !slices.Equal(x.Size, size) {
			continue
		}
		if _, err := o.Variant(x.Name); err != nil && d.count(x.Name, size) >= turns {
			return true
		}
	}
	return false
}

// peerSizes are the sizes at which peers still have to be timed.
func (o options) peerSizes() (sizes []ops.Size) {
	for _, size := range o.sizes {
		if !o.done.peers(size, o.turns) {
			sizes = append(sizes, size)
		}
	}
	return sizes
}
