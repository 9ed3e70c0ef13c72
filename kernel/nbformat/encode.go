package nbformat

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"warpbook/kernel/leaf/atomicfile"
)

// Write checks the notebook and replaces the file with it as a whole, or leaves the
// file unchanged.
func (nb *Notebook) Write(path string) error {
	return atomicfile.Write(path, nb.EncodeTo)
}

// EncodeTo checks the notebook and writes it.
func (nb *Notebook) EncodeTo(w io.Writer) error {
	data, err := nb.Encode()
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// Encode checks the notebook and returns it in the form that Jupyter writes.
func (nb *Notebook) Encode() ([]byte, error) {
	if err := nb.Validate(); err != nil {
		return nil, err
	}
	cells := make([]any, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = c.tree()
	}
	tree := copyOf(nb.Extra)
	tree["nbformat"] = Format
	tree["nbformat_minor"] = nb.Minor
	tree["metadata"] = copyOf(nb.Metadata)
	tree["cells"] = cells
	var buf bytes.Buffer
	if err := writeJSON(&buf, tree, 0); err != nil {
		return nil, fmt.Errorf("nbformat: encode %s: %w", nb.Name, err)
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}

func (c *Cell) tree() map[string]any {
	tree := copyOf(c.Extra)
	tree["id"] = c.ID
	tree["cell_type"] = c.Type
	tree["metadata"] = copyOf(c.Metadata)
	tree["source"] = splitLines(c.Source)
	if c.Attachments != nil {
		attachments := map[string]any{}
		for name, data := range c.Attachments {
			attachments[name] = splitBundle(data)
		}
		tree["attachments"] = attachments
	}
	if c.Type == Code {
		outputs := make([]any, len(c.Outputs))
		for i, o := range c.Outputs {
			outputs[i] = o.tree()
		}
		tree["outputs"] = outputs
		tree["execution_count"] = c.ExecutionCount
	}
	return tree
}

func (o *Output) tree() map[string]any {
	tree := copyOf(o.Extra)
	tree["output_type"] = o.Type
	switch o.Type {
	case Stream:
		tree["name"] = o.Name
		tree["text"] = splitLines(o.Text)
	case Result:
		tree["execution_count"] = o.ExecutionCount
		fallthrough
	case Display:
		tree["data"] = splitBundle(o.Data)
		tree["metadata"] = copyOf(o.Metadata)
	case Error:
		tree["ename"] = o.ErrorName
		tree["evalue"] = o.ErrorValue
		traceback := make([]any, len(o.Traceback))
		for i, line := range o.Traceback {
			traceback[i] = line
		}
		tree["traceback"] = traceback
	}
	return tree
}

// copyOf copies the top level of a map; for nil it returns an empty map.
func copyOf(m map[string]any) map[string]any {
	c := make(map[string]any, len(m)+6)
	for key, value := range m {
		c[key] = value
	}
	return c
}

// splitBundle splits the texts that Jupyter splits into lines: text, not base64.
func splitBundle(data map[string]any) map[string]any {
	split := copyOf(data)
	for mime, value := range split {
		text, ok := value.(string)
		if ok && (strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml") {
			split[mime] = splitLines(text)
		}
	}
	return split
}

// splitLines splits after each line end, as Python's str.splitlines(True) does:
// a progress bar drawn with carriage returns is many lines.
func splitLines(text string) []any {
	lines := []any{}
	start, afterCR := 0, false
	for i, r := range text {
		if afterCR && r != '\n' {
			lines = append(lines, text[start:i])
			start = i
		}
		afterCR = r == '\r'
		if !afterCR && endsLine(r) {
			end := i + len(string(r))
			lines = append(lines, text[start:end])
			start = end
		}
	}
	if start < len(text) {
		lines = append(lines, text[start:])
	}
	return lines
}

func endsLine(r rune) bool {
	switch r {
	case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}
