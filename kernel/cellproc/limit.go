package cellproc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"warpbook/kernel/cellproto"
)

// OutputEnv and LinesEnv name the environment variables that set how many bytes and
// lines of a cell's streams are delivered; 0 is no limit.
const (
	OutputEnv = "WARPBOOK_OUTPUT_BYTES"
	LinesEnv  = "WARPBOOK_OUTPUT_LINES"
)

// Tab is how much of a cell a tab of a browser is given by default. Jupyter's server
// drops more bytes without a notice; PROTOCOL.md has the measurement of lines.
var Tab = Limit{Bytes: 2_000_000, Lines: 10_000}

// restBytes is the largest file of the rest of a cell's output.
const restBytes = 256 << 20

// Limit is how much of a cell's streams is delivered; 0 is no limit.
type Limit struct{ Bytes, Lines int64 }

// OutputLimit reads the limit from the environment. Without the variables it is the usual
// one.
func OutputLimit(usual Limit) (l Limit, err error) {
	if l.Bytes, err = fromEnv(OutputEnv, "bytes", usual.Bytes); err != nil {
		return Limit{}, err
	}
	if l.Lines, err = fromEnv(LinesEnv, "lines", usual.Lines); err != nil {
		return Limit{}, err
	}
	return l, nil
}

func fromEnv(name, unit string, usual int64) (int64, error) {
	text := os.Getenv(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("cellproc: %s=%s: expected a number of %s, or 0 for no limit", name, text, unit)
	}
	return n, nil
}

// cellOutput is the stream output of one execute. The child's mu guards it.
type cellOutput struct {
	number int      // of the cell
	dir    string   // folder of the file with the rest; "": the system's folder for temporary files
	until  string   // when that file is removed, in words
	shown  int64    // bytes delivered since the cell's output was cleared
	lines  int64    // ends of lines among them
	full   bool     // the limit is reached: no more bytes are delivered
	path   string   // of the file with the rest; "" until the file exists
	rest   *os.File // that file, open while the cell runs
	saved  int64    // bytes in it
	lost   bool     // a write to the file failed
}

// limit returns the part of a text to deliver, and a notice about the rest for the
// user.
func (o *cellOutput) limit(text string, most Limit) (shown, notice string) {
	cut, excess, name := 0, "", ""
	if !o.full {
		cut, excess, name = o.cut(text, most)
		o.shown += int64(cut)
		o.lines += int64(strings.Count(text[:cut], "\n"))
		if excess == "" {
			return text, ""
		}
	}
	wasFull, wasLost := o.full, o.lost
	o.full = true
	err := o.save(text[cut:])
	o.lost = o.lost || err != nil
	switch {
	case o.lost && !(wasLost && wasFull):
		notice = fmt.Sprintf("warpbook: later output of %s is lost: %v\n", cellproto.CellName(o.number), err)
	case !wasFull:
		notice = fmt.Sprintf("warpbook: %s wrote more than %s; the rest is in %s until %s (%s sets the limit, 0 is none)\n",
			cellproto.CellName(o.number), excess, o.path, o.until, name)
	}
	return text[:cut], notice
}

// cut returns where the limit cuts a text and, if it does, what the cell has exceeded and
// the variable that sets it.
func (o *cellOutput) cut(text string, most Limit) (cut int, excess, name string) {
	cut = len(text)
	if left := most.Bytes - o.shown; most.Bytes > 0 && int64(cut) > left {
		cut, excess, name = lineEnd(text, int(left)), fmt.Sprintf("%d bytes", most.Bytes), OutputEnv
	}
	if most.Lines > 0 {
		if end := afterLines(text, most.Lines-o.lines); end < cut {
			cut, excess, name = end, fmt.Sprintf("%d lines", most.Lines), LinesEnv
		}
	}
	return cut, excess, name
}

// afterLines returns where the first n lines of a text end.
func afterLines(text string, n int64) int {
	end := 0
	for ; n > 0; n-- {
		next := strings.IndexByte(text[end:], '\n')
		if next < 0 {
			return len(text)
		}
		end += next + 1
	}
	return end
}

// lineEnd returns where to cut a text that is longer than n bytes: after the last line
// that fits or, if no line fits, after at most n bytes of the first.
func lineEnd(text string, n int) int {
	if end := strings.LastIndexByte(text[:n], '\n'); end >= 0 {
		return end + 1
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

var errLost = errors.New("its file took no more")

// save appends to the file, which only this user can read.
func (o *cellOutput) save(text string) (err error) {
	switch {
	case o.lost:
		return errLost
	case o.saved+int64(len(text)) > restBytes:
		return fmt.Errorf("%s holds %d bytes, at most %d", o.path, o.saved, restBytes)
	case o.path == "":
		if o.rest, err = os.CreateTemp(o.dir, "warpbook-cell-"+cellproto.CellMark(o.number)+"-*.txt"); err != nil {
			return err
		}
		o.path = o.rest.Name()
	case o.rest == nil: // after the cell
		if o.rest, err = os.OpenFile(o.path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return err
		}
	}
	n, err := o.rest.WriteString(text)
	o.saved += int64(n)
	return err
}

// close closes the file; late output opens it again.
func (o *cellOutput) close() {
	if o.rest != nil {
		o.rest.Close()
		o.rest = nil
	}
}

func (c *child) newOutput(cell int) *cellOutput {
	o := &cellOutput{number: cell, until: "this kernel ends"}
	if c.config.folder != nil {
		o.dir = c.config.folder.Path
	}
	if c.config.KeepFiles {
		o.until = "warpbook starts again"
	}
	return o
}

// outputOf returns the output of a request; id 0 is the time before the first request.
// The caller holds mu.
func (c *child) outputOf(id uint64) *cellOutput {
	if c.outputs[id] == nil {
		c.outputs[id] = c.newOutput(0)
	}
	return c.outputs[id]
}

// deliver passes on an event, and shortens streams to the limit. The caller holds mu.
func (c *child) deliver(e cellproto.Event) {
	out := c.outputOf(e.ID)
	notice := ""
	switch e.Type {
	case cellproto.Stream:
		if e.Text, notice = out.limit(e.Text, c.config.Output); e.Text != "" {
			c.hand(e)
		}
		if notice != "" {
			c.hand(cellproto.Event{ID: e.ID, Type: cellproto.Stream, Name: "stderr", Text: notice})
		}
		return
	case cellproto.Clear:
		out.shown, out.lines, out.full = 0, 0, false
	}
	c.hand(e)
}
