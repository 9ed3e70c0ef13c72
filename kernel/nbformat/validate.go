package nbformat

import (
	"fmt"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

var idForm = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// Validate checks the requirements of the format that the types do not enforce, and
// returns the place of the first violation. Parse and Encode call it.
func (nb *Notebook) Validate() error {
	if err := nb.validate(); err != nil {
		return fmt.Errorf("nbformat: %s: %w", nb.Name, err)
	}
	return nil
}

func (nb *Notebook) validate() error {
	if err := validateMetadata(nb.Metadata); err != nil {
		return err
	}
	cellOf := map[string]int{} // by ID, from 1
	for i, c := range nb.Cells {
		if err := c.validate(); err != nil {
			return fmt.Errorf("cell %d%w", i+1, err)
		}
		if other := cellOf[c.ID]; other > 0 {
			return fmt.Errorf("cell %d: id %q is also that of cell %d, expected each once: remove one, a new one is made",
				i+1, c.ID, other)
		}
		cellOf[c.ID] = i + 1
	}
	return nil
}

func validateMetadata(metadata map[string]any) error {
	if err := requireStrings(metadata, "kernelspec", "name", "display_name"); err != nil {
		return err
	}
	return requireStrings(metadata, "language_info", "name")
}

// requireStrings checks the keys of an optional member.
func requireStrings(metadata map[string]any, member string, keys ...string) error {
	value, ok := metadata[member]
	if !ok {
		return nil
	}
	o := newObject("metadata: "+member, value)
	for _, key := range keys {
		if _, ok := o.rest[key].(string); !ok {
			o.fail("%s is %s, expected a string", key, kind(o.rest[key]))
		}
	}
	return o.err
}

// validate returns an error whose text follows "cell N".
func (c *Cell) validate() error {
	switch c.Type {
	case Code:
	case Markdown, Raw:
		if len(c.Outputs) > 0 || c.ExecutionCount != nil {
			return fmt.Errorf(": a %s cell has outputs or an execution count, expected none", c.Type)
		}
	default:
		return fmt.Errorf(": cell_type %q, expected code, markdown or raw", c.Type)
	}
	if !idForm().MatchString(c.ID) {
		return fmt.Errorf(": id %q, expected 1 to 64 of a-z A-Z 0-9 - _: remove it, a new one is made", c.ID)
	}
	if c.ExecutionCount != nil && *c.ExecutionCount < 0 {
		return fmt.Errorf(": execution_count %d, expected null or a whole number from 0", *c.ExecutionCount)
	}
	if err := validateTags(c.Metadata); err != nil {
		return err
	}
	for name, data := range c.Attachments {
		if err := validateBundle(data); err != nil {
			return fmt.Errorf(": attachment %q: %w", name, err)
		}
	}
	for i, o := range c.Outputs {
		if err := o.validate(); err != nil {
			return fmt.Errorf(", output %d: %w", i+1, err)
		}
	}
	return nil
}

func validateTags(metadata map[string]any) error {
	value, ok := metadata["tags"]
	if !ok {
		return nil
	}
	tags, ok := value.([]any)
	if !ok {
		return fmt.Errorf(": tags is %s, expected a list of strings", kind(value))
	}
	seen := map[any]bool{}
	for _, value := range tags {
		tag, ok := value.(string)
		switch {
		case !ok:
			return fmt.Errorf(": tags holds %s, expected strings", kind(value))
		case tag == "" || strings.Contains(tag, ","):
			return fmt.Errorf(": tag %q, expected one or more characters and no comma", tag)
		case seen[tag]:
			return fmt.Errorf(": tag %q stands twice, expected once", tag)
		}
		seen[tag] = true
	}
	return nil
}

func (o *Output) validate() error {
	switch o.Type {
	case Stream:
		if o.Name == "" {
			return fmt.Errorf("a stream without name, expected stdout or stderr")
		}
	case Display, Result:
		if o.ExecutionCount != nil && *o.ExecutionCount < 0 {
			return fmt.Errorf("execution_count %d, expected null or a whole number from 0", *o.ExecutionCount)
		}
		return validateBundle(o.Data)
	case Error:
	default:
		return fmt.Errorf("output_type %q, expected stream, display_data, execute_result or error", o.Type)
	}
	return nil
}

func validateBundle(data map[string]any) error {
	for mime, value := range data {
		if _, ok := value.(string); !ok && !isJSON(mime) {
			return fmt.Errorf("%s is %s, expected a string", mime, kind(value))
		}
	}
	return nil
}
