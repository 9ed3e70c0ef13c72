package magic

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/cellproto"
)

var history = &Magic{
	Name: "history", Line: true, Args: "[RANGE...]",
	Short: "Print cells that have been run, with their numbers: those of this session, or as asked.",
	Long: `A RANGE is 3, 2-5 or 2- of this session, ~1/2-5 of the session before this one,
~2/ of all the one before that. Cells of other sessions have their session
before their number. Headless runs know no other sessions.`,
	Flags: []Flag{
		{Name: "n", Value: "CELLS", Help: "only the last so many, of all sessions"},
		{Name: "g", Value: "PATTERN", Help: "those of all sessions that contain it; * and ? stand for any text and any letter"},
	},
	Run: func(c *Call) error {
		cells, err := c.chosen()
		if err != nil {
			return err
		}
		for _, x := range cells {
			number := strings.TrimPrefix(cellproto.CellName(x.Number), "cell ")
			if x.Session != 0 {
				number = fmt.Sprintf("%d/%s", x.Session, number)
			}
			text := strings.ReplaceAll(strings.TrimRight(x.Source, "\n"), "\n", "\n      ")
			if _, err := fmt.Fprintf(c.Out, "%4s  %s\n", number, text); err != nil {
				return err
			}
		}
		return nil
	},
}

// Past holds the cells of all sessions that are remembered. A cell of this session has
// the session 0.
type Past interface {
	// Tail returns the last n cells.
	Tail(n int) ([]Cell, error)
	// Range returns the cells from start to before stop (nil for all) of a session; 0 is
	// this one, and -1 the one before it.
	Range(session, start int, stop *int) ([]Cell, error)
	// Search returns the cells that match a whole pattern.
	Search(pattern string) ([]Cell, error)
}

var errNoPast = errors.New("only the cells of this session are known: no history file is used")

// chosen are the cells that the call selects, oldest first; ranges keep the order of the
// call.
func (c *Call) chosen() (cells []Cell, err error) {
	n, err := c.count("n")
	if err != nil {
		return nil, err
	}
	past := c.Session.Past()
	pattern, search := c.Flags["g"]
	switch {
	case past == nil && search:
		return nil, c.Errorf(c.flagAt["g"], "%v", errNoPast)
	case search:
		cells, err = past.Search("*" + strings.Trim(pattern, "*") + "*")
	case c.Rest != "":
		cells, err = c.ranges()
	case n > 0 && past != nil:
		cells, err = past.Tail(n)
		cells = joined(cells, c.Session.Cells())
	default:
		cells, err = c.span(0, 1, nil)
	}
	if err != nil {
		return nil, c.Errorf(c.RestAt, "%v", strings.TrimPrefix(err.Error(), "history: "))
	}
	cells = once(cells)
	if n > 0 {
		cells = cells[max(len(cells)-n, 0):]
	}
	return cells, nil
}

// ranges are the cells of the ranges in the call.
func (c *Call) ranges() (cells []Cell, err error) {
	for _, word := range strings.Fields(c.Rest) {
		session, start, stop, err := parseRange(word)
		if err != nil {
			return nil, err
		}
		more, err := c.span(session, start, stop)
		if err != nil {
			return nil, err
		}
		cells = append(cells, more...)
	}
	return cells, nil
}

// span is a range of cells of one session. The file may lack the last cells of this
// session.
func (c *Call) span(session, start int, stop *int) (cells []Cell, err error) {
	if past := c.Session.Past(); past != nil {
		cells, err = past.Range(session, start, stop)
	} else if session != 0 {
		return nil, errNoPast
	}
	if session == 0 {
		cells = joined(cells, slices.DeleteFunc(c.Session.Cells(), func(x Cell) bool {
			n := cellproto.CellCount(x.Number)
			return n < start || stop != nil && n >= *stop
		}))
	}
	return cells, err
}

// joined are the cells of the file and then those of this session, each once. The file
// may contain some of these.
func joined(file, known []Cell) []Cell {
	return append(slices.DeleteFunc(file, func(x Cell) bool {
		return x.Session == 0 && slices.ContainsFunc(known, func(y Cell) bool { return y.Number == x.Number })
	}), known...)
}

// once removes duplicates: ranges may overlap.
func once(cells []Cell) (list []Cell) {
	seen := map[[2]int]bool{}
	for _, x := range cells {
		if k := [2]int{x.Session, x.Number}; !seen[k] {
			seen[k] = true
			list = append(list, x)
		}
	}
	return list
}

// parseRange reads 3, 2-5, 2-, ~1/3 or ~1/.
func parseRange(word string) (session, start int, stop *int, err error) {
	wrong := fmt.Errorf("%s: expected a range, as in 2-5 or ~1/2-5", word)
	rest := word
	if before, ok := strings.CutPrefix(word, "~"); ok {
		number, lines, ok := strings.Cut(before, "/")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 1 {
			return 0, 0, nil, wrong
		}
		if session, rest = -n, lines; rest == "" {
			return session, 1, nil, nil
		}
	}
	from, to, open := strings.Cut(rest, "-")
	start, err = strconv.Atoi(from)
	if err != nil || start < 1 {
		return 0, 0, nil, wrong
	}
	last := start
	if open && to == "" {
		return session, start, nil, nil
	} else if open {
		if last, err = strconv.Atoi(to); err != nil || last < start {
			return 0, 0, nil, wrong
		}
	}
	last++
	return session, start, &last, nil
}
