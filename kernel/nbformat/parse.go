package nbformat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Read reads and checks the notebook in a file.
func Read(path string) (*Notebook, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("nbformat: %w", expected(path, err))
	}
	return Parse(path, data)
}

// largest is the size of a notebook that is read.
const largest = 512 << 20

// readFile reads a file or a pipe: a device may have no end.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if m := info.Mode(); !m.IsRegular() && !m.IsDir() && m&os.ModeNamedPipe == 0 {
		return nil, fmt.Errorf("%s: it is a device, expected a file or a pipe", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, largest+1))
	if len(data) > largest {
		return nil, fmt.Errorf("%s: more than %d MB, expected at most that", path, largest>>20)
	}
	return data, err
}

// expected adds to the error of reading a file what was expected.
func expected(path string, err error) error {
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("%s: it is a directory, expected a Jupyter notebook (.ipynb)", path)
	}
	for _, name := range []string{path + ".ipynb", strings.TrimSuffix(path, ".") + ".ipynb"} {
		if _, statErr := os.Stat(name); statErr == nil {
			return fmt.Errorf("%w, expected a Jupyter notebook: there is %s", err, name)
		}
	}
	return fmt.Errorf("%w, expected a Jupyter notebook (.ipynb)", err)
}

// Parse reads and checks a notebook. The name stands for the file in errors.
func Parse(name string, data []byte) (*Notebook, error) {
	tree, err := parseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("nbformat: %s:%w", name, err)
	}
	nb, err := decodeNotebook(name, tree)
	if err != nil {
		return nil, fmt.Errorf("nbformat: %s: %w", name, err)
	}
	addMissingIDs(nb.Cells)
	return nb, nb.Validate()
}

// parseJSON returns errors that start with line:column.
func parseJSON(data []byte) (any, error) {
	if i := invalidUTF8(data); i >= 0 {
		return nil, jsonError(data, i, "byte 0x%02x is not UTF-8", data[i])
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	err := decoder.Decode(&tree)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, jsonError(data, int(syntax.Offset)-1, "%v", err)
	case err != nil: // io.EOF, io.ErrUnexpectedEOF
		return nil, jsonError(data, len(data), "the file ends too early")
	}
	end := int(decoder.InputOffset())
	if _, err := decoder.Token(); err != io.EOF {
		return nil, jsonError(data, end, "more text after the notebook's end")
	}
	return tree, nil
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

func jsonError(data []byte, offset int, format string, args ...any) error {
	before := data[:max(0, min(offset, len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%d:%d: not JSON: %s, expected a Jupyter notebook (.ipynb)",
		line, column, fmt.Sprintf(format, args...))
}

func decodeNotebook(name string, tree any) (*Notebook, error) {
	o := newObject("notebook", tree)
	if o.err != nil || o.rest["nbformat"] == nil {
		return nil, errors.New("not a notebook: no nbformat member, expected a Jupyter notebook (.ipynb)")
	}
	major := o.count("nbformat")
	minor := o.count("nbformat_minor")
	if o.err != nil {
		return nil, o.err
	}
	if err := checkFormat(name, *major); err != nil {
		return nil, err
	}
	nb := &Notebook{Name: name, Minor: Minor, Metadata: o.object("metadata")}
	if minor != nil {
		nb.Minor = max(*minor, Minor)
	}
	if _, ok := o.rest["cells"]; !ok {
		o.fail("has no cells")
	}
	for i, value := range o.list("cells") {
		cell, err := decodeCell(fmt.Sprintf("cell %d", i+1), value)
		if err != nil {
			return nil, err
		}
		nb.Cells = append(nb.Cells, cell)
	}
	nb.Extra = o.unknown()
	return nb, o.err
}

func checkFormat(name string, major int) error {
	switch {
	case major < Format:
		return fmt.Errorf("nbformat %d, expected %d: convert it with: jupyter nbconvert --to notebook --inplace %q",
			major, Format, name)
	case major > Format:
		return fmt.Errorf("nbformat %d, expected %d: save it in the older format, or use a newer warpbook", major, Format)
	}
	return nil
}

func decodeCell(place string, value any) (*Cell, error) {
	o := newObject(place, value)
	c := &Cell{
		Type:     o.text("cell_type"),
		Metadata: o.object("metadata"),
		Source:   o.lines("source"),
	}
	if _, ok := o.rest["id"]; ok {
		if c.ID = o.text("id"); c.ID == "" {
			o.fail("id is empty, expected 1 to 64 of a-z A-Z 0-9 - _")
		}
	}
	if _, ok := o.rest["attachments"]; ok {
		c.Attachments = decodeAttachments(o)
	}
	if c.Type == Code {
		c.ExecutionCount = o.count("execution_count")
		for i, value := range o.list("outputs") {
			output, err := decodeOutput(fmt.Sprintf("%s, output %d", place, i+1), value)
			if err != nil {
				return nil, err
			}
			c.Outputs = append(c.Outputs, output)
		}
	}
	c.Extra = o.unknown()
	return c, o.err
}

func decodeAttachments(o *object) map[string]map[string]any {
	attachments := map[string]map[string]any{}
	for name, value := range o.object("attachments") {
		data, ok := value.(map[string]any)
		if !ok {
			o.fail("attachment %q is %s, expected a MIME bundle", name, kind(value))
			continue
		}
		joinBundle(o, data)
		attachments[name] = data
	}
	return attachments
}

func decodeOutput(place string, value any) (*Output, error) {
	o := newObject(place, value)
	out := &Output{Type: o.text("output_type")}
	switch out.Type {
	case Stream:
		out.Name = o.text("name")
		out.Text = o.lines("text")
	case Result:
		out.ExecutionCount = o.count("execution_count")
		fallthrough
	case Display:
		out.Data = o.bundle("data")
		out.Metadata = o.object("metadata")
	case Error:
		out.ErrorName = o.text("ename")
		out.ErrorValue = o.text("evalue")
		for _, line := range o.list("traceback") {
			text, ok := line.(string)
			if !ok {
				o.fail("traceback holds %s, expected strings", kind(line))
			}
			out.Traceback = append(out.Traceback, text)
		}
	}
	out.Extra = o.unknown()
	return out, o.err
}
