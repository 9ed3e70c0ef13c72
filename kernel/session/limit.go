package session

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"warpbook/kernel/frame"
)

// OutputEnv names the environment variable that says how many bytes of a
// cell's streams are delivered; 0 is no limit.
const OutputEnv = "WARPBOOK_OUTPUT_BYTES"

const (
	outputBytes = 2_000_000 // by default; Jupyter's server drops more without a word
	restBytes   = 256 << 20 // of the file that takes the rest
)

// OutputLimit is what the environment says of Config.OutputBytes.
func OutputLimit() (int64, error) {
	text := os.Getenv(OutputEnv)
	if text == "" {
		return outputBytes, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("session: %s=%s: expected a number of bytes, or 0 for no limit", OutputEnv, text)
	}
	return n, nil
}

// cellOutput is the stream output of one execute. The child's mu guards it.
type cellOutput struct {
	number int      // of the cell
	shown  int64    // bytes delivered since the cell's output was cleared
	full   bool     // no more are
	path   string   // of the file that takes the rest; "" until there is one
	rest   *os.File // it, while the cell runs
	saved  int64    // bytes in it
	lost   bool     // it took no more
}

// limit returns what of a text is to be delivered, and what the user must be
// told of the rest.
func (o *cellOutput) limit(text string, most int64) (shown, notice string) {
	if most == 0 || !o.full && o.shown+int64(len(text)) <= most {
		o.shown += int64(len(text))
		return text, ""
	}
	cut := 0
	if !o.full {
		cut = lineEnd(text, int(most-o.shown))
	}
	wasFull, wasLost := o.full, o.lost
	o.full = true
	err := o.save(text[cut:])
	o.lost = o.lost || err != nil
	switch {
	case o.lost && !(wasLost && wasFull):
		notice = fmt.Sprintf("warpbook: what %s writes from here on is lost: %v\n", frame.CellName(o.number), err)
	case !wasFull:
		notice = fmt.Sprintf("warpbook: %s wrote more than %d bytes; the rest is in %s (%s sets the limit, 0 is none)\n",
			frame.CellName(o.number), most, o.path, OutputEnv)
	}
	return text[:cut], notice
}

// lineEnd is the place to cut a text that is longer than n bytes: after the
// last line that fits, or within it where there is none.
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

// save writes to the file, which is made for nobody else to read.
func (o *cellOutput) save(text string) (err error) {
	switch {
	case o.lost:
		return errLost
	case o.saved+int64(len(text)) > restBytes:
		return fmt.Errorf("%s holds %d bytes, at most %d", o.path, o.saved, restBytes)
	case o.path == "":
		if o.rest, err = os.CreateTemp("", "warpbook-cell-"+frame.CellMark(o.number)+"-*.txt"); err != nil {
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

// close gives the file back; late output opens it again.
func (o *cellOutput) close() {
	if o.rest != nil {
		o.rest.Close()
		o.rest = nil
	}
}

// outputOf is the output of a request, or of the time before the first. The
// caller holds mu.
func (c *child) outputOf(id uint64) *cellOutput {
	if c.outputs[id] == nil {
		c.outputs[id] = &cellOutput{}
	}
	return c.outputs[id]
}

// deliver hands on an event, of the streams no more than the limit. The caller
// holds mu.
func (c *child) deliver(e frame.Event) {
	out := c.outputOf(e.ID)
	notice := ""
	switch e.Type {
	case frame.Stream:
		if e.Text, notice = out.limit(e.Text, c.config.OutputBytes); e.Text != "" {
			c.hand(e)
		}
		if notice != "" {
			c.hand(frame.Event{ID: e.ID, Type: frame.Stream, Name: "stderr", Text: notice})
		}
		return
	case frame.Clear:
		out.shown, out.full = 0, false
	}
	c.hand(e)
}
