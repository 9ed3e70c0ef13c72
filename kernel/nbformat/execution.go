package nbformat

import "strings"

// ClearOutputs marks every code cell as not executed, and forgets the states of widgets.
func (nb *Notebook) ClearOutputs() {
	delete(nb.Metadata, "widgets")
	for _, c := range nb.Cells {
		if c.Type == Code {
			c.Outputs, c.ExecutionCount, c.clearNext = nil, nil, false
		}
	}
}

// Start marks the cell as executing, with its count.
func (c *Cell) Start(count int) {
	c.Outputs, c.ExecutionCount, c.clearNext = nil, &count, false
}

// Clear removes the cell's outputs: at once, or when the next one is added.
func (c *Cell) Clear(wait bool) {
	c.clearNext = wait
	if !wait {
		c.Outputs = nil
	}
}

func (c *Cell) add(o *Output) {
	if c.clearNext {
		c.Clear(false)
	}
	c.Outputs = append(c.Outputs, o)
}

// AddStream appends text to the last output if that has the same stream name, otherwise
// to a new output. Carriage returns are kept: the program that shows the text obeys
// them.
func (c *Cell) AddStream(name, text string) {
	if n := len(c.Outputs); n > 0 && !c.clearNext {
		if last := c.Outputs[n-1]; last.Type == Stream && last.Name == name {
			last.grow(text)
			return
		}
	}
	c.add(&Output{Type: Stream, Name: name, Text: text})
}

// mostStream bounds the text of a stream in bytes, so that a program that prints gigabytes
// leaves a notebook that can be written and read.
const mostStream = 16 << 20

// full ends a stream that has reached its bound.
const full = "\n[the output is longer than 16 MiB: the rest is not kept]\n"

// grow adds to a stream's text without copying it: a loop may print for hours.
func (o *Output) grow(text string) {
	if strings.HasSuffix(o.Text, full) {
		return
	}
	if room := mostStream - len(o.Text); len(text) > room {
		text = strings.ToValidUTF8(text[:max(0, room)], "") + full
	}
	if o.growing == nil || o.growing.Len() != len(o.Text) {
		o.growing = &strings.Builder{}
		o.growing.WriteString(o.Text)
	}
	o.growing.WriteString(text)
	o.Text = o.growing.String()
}

// AddDisplay adds a MIME bundle. UpdateDisplay finds it by its displayID, unless that
// is empty; the file does not hold the displayID.
func (c *Cell) AddDisplay(displayID string, data, metadata map[string]any) {
	c.add(&Output{Type: Display, Data: data, Metadata: metadata, displayID: displayID})
}

// UpdateDisplay replaces every display with this displayID, in all cells, and returns
// the number of displays.
func (nb *Notebook) UpdateDisplay(displayID string, data, metadata map[string]any) int {
	if displayID == "" {
		return 0
	}
	replaced := 0
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if o.displayID == displayID {
				o.Data, o.Metadata = data, metadata
				replaced++
			}
		}
	}
	return replaced
}

// AddResult adds the value of the cell's last expression.
func (c *Cell) AddResult(data, metadata map[string]any) {
	c.add(&Output{Type: Result, Data: data, Metadata: metadata, ExecutionCount: c.ExecutionCount})
}

// AddError adds the error that ended the cell.
func (c *Cell) AddError(name, value string, traceback []string) {
	c.add(&Output{Type: Error, ErrorName: name, ErrorValue: value, Traceback: traceback})
}
