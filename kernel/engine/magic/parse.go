package magic

import (
	"slices"
	"strings"
	"unicode"
)

// Parse reads a call: the text of its line, and after %% that of its cell.
func (s Set) Parse(text string) (*Call, error) {
	line, body, hasBody := strings.Cut(text, "\n")
	name := strings.TrimLeft(line, "%")
	c := &Call{Sign: line[:len(line)-len(name)], Flags: map[string]string{}, flagAt: map[string]int{}, all: s}
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name = name[:i]
	}
	if err := c.find(name); err != nil {
		return nil, err
	}
	if c.Sign == "%%" && hasBody {
		c.Body, c.BodyAt = body, len(line)+1
	}
	c.setRest(line, len(c.Sign)+len(name))
	if err := c.flags(line); err != nil {
		return nil, err
	}
	if c.Declare != nil && c.Rest != "" { // a name, which flags may follow
		name, at := c.word(), c.RestAt
		c.setRest(line, at+len(name))
		if err := c.flags(line); err != nil {
			return nil, err
		}
		if c.Rest != "" {
			return nil, c.Errorf(c.RestAt, "unexpected %s after the name; %s%s --help shows its use", c.word(), c.Sign, c.Name)
		}
		c.Rest, c.RestAt = name, at
	}
	return c, c.check()
}

// flags reads the flags at the front of the rest.
func (c *Call) flags(line string) error {
	for c.word() != "" && !c.Help {
		if more, err := c.flag(line); err != nil || !more {
			return err
		}
	}
	return nil
}

func (c *Call) find(name string) error {
	c.Magic = c.all.Find(name)
	switch {
	case len(c.Sign) > 2 || name == "":
		return &Error{0, "expected the name of a magic after the percent sign; %help lists the magics"}
	case c.Magic == nil:
		msg := "there is no magic " + c.Sign + name
		if answer := elsewhere[name]; answer != "" {
			msg += ": " + answer
		} else if m := c.all.nearest(name); m != nil {
			msg += ", nearest: " + m.signs()[0] + m.Name
		}
		return &Error{len(c.Sign), msg + "; %help lists the magics"}
	case c.Sign == "%" && !c.Line:
		return c.Errorf(0, "takes the whole cell, expected %%%%%s", name)
	case c.Sign == "%%" && !c.Cell:
		return c.Errorf(0, "takes one line, expected %%%s", name)
	}
	return nil
}

// elsewhere are magics of other kernels, and their replacements here.
var elsewhere = map[string]string{
	"matplotlib": "a plot that is the last expression of a cell is shown", "html": "display.HTML(`<b>text</b>`) in a Go cell", "HTML": "display.HTML(`<b>text</b>`) in a Go cell",
	"markdown": "display.Markdown(`# text`) in a Go cell", "latex": "display.Markdown(`$x^2$`) in a Go cell", "writefile": "os.WriteFile(name, []byte(text), 0o644) in a Go cell",
	"pip": "%pkg path adds a Go module", "conda": "%pkg path adds a Go module", "go": "%pkg path adds a Go module", "get": "%pkg path adds a Go module",
	"sh": shell, "shell": shell, "system": shell, "ls": shell, "pwd": shell, "cat": shell, "mkdir": shell, "python": shell, "python3": shell, "nvidia-smi": shell,
	"cu": "%%cuda compiles CUDA C++", "nvcc": "%%cuda compiles CUDA C++", "nvprof": "%%ncu profiles a cell", "memcheck": "%%sanitize checks a cell",
	"prun": "%time and %timeit measure Go", "whos": "%who lists the variables", "reset_selective": "%reset forgets all names", "debug": "set a breakpoint in JupyterLab's debugger, or have it stop at panics",
}

const shell = "%%bash runs shell commands"

func (c *Call) setRest(line string, from int) {
	trimmed := strings.TrimLeft(line[from:], " \t")
	c.RestAt = len(line) - len(trimmed)
	c.Rest = strings.TrimRight(trimmed, " \t\r")
}

// word is the first of the rest.
func (c *Call) word() string {
	if i := strings.IndexAny(c.Rest, " \t"); i >= 0 {
		return c.Rest[:i]
	}
	return c.Rest
}

// flag reads a flag at the front of the rest, if there is one. Before Go code, an
// unknown flag is not an error, because it may be an expression.
func (c *Call) flag(line string) (more bool, err error) {
	w := c.word()
	if w == "--help" || w == "-h" {
		c.Help = true
		return true, nil
	}
	name, inline, hasInline := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-"), "=")
	for _, f := range c.Magic.Flags {
		if !strings.HasPrefix(w, "-") || name != f.Name {
			continue
		}
		at := c.RestAt
		c.setRest(line, c.RestAt+len(w))
		switch {
		case f.Value == "" && hasInline:
			return false, c.Errorf(at, "-%s takes no value", f.Name)
		case f.Value == "":
			c.set(f, "yes", at)
			return true, nil
		case hasInline:
			c.setRest(line, at+len(w)-len(inline))
		case c.Rest == "":
			return false, c.Errorf(at, "-%s needs a value, %s", f.Name, f.Value)
		}
		return true, c.value(f, line)
	}
	if strings.HasPrefix(w, "-") && w != "-" && (c.takesNoCode() || strings.HasPrefix(w, "--")) {
		return false, c.Errorf(c.RestAt, "has no flag %s; %s%s --help shows its use", w, c.Sign, c.Name)
	}
	return false, nil
}

// value reads the value of a flag, which may be quoted.
func (c *Call) value(f Flag, line string) error {
	at, value, n := c.RestAt, c.word(), len(c.word())
	if quote := c.Rest[:min(1, len(c.Rest))]; quote == "'" || quote == `"` {
		end := strings.Index(c.Rest[1:], quote)
		if end < 0 {
			return c.Errorf(at, "the value of -%s has no closing %s", f.Name, quote)
		}
		at, value, n = at+1, c.Rest[1:1+end], end+2
	}
	c.set(f, value, at)
	c.setRest(line, c.RestAt+n)
	return nil
}

// set stores a flag; a flag that may be repeated collects its values.
func (c *Call) set(f Flag, value string, at int) {
	if before, ok := c.Flags[f.Name]; ok && f.Many {
		value = before + "\n" + value
	}
	c.Flags[f.Name], c.flagAt[f.Name] = value, at
}

// takesNoCode reports whether the call takes no Go code; Go code may begin with a minus
// sign.
func (c *Call) takesNoCode() bool { return c.Run != nil || c.Declare != nil || c.Sign == "%%" }

// language is the language of the call's lines.
func (c *Call) language() string {
	if c.Language != "" {
		return c.Language
	}
	return "Go code"
}

// ofFile reports whether a flag names a file with the lines.
func (c *Call) ofFile() bool {
	return slices.ContainsFunc(c.Magic.Flags, func(f Flag) bool { return f.File && c.Flags[f.Name] != "" })
}

// check reports a missing or a superfluous part of the call, for every magic.
func (c *Call) check() error {
	if c.Help {
		return nil
	}
	code, _ := c.Code()
	switch {
	case c.Run == nil && strings.TrimSpace(code) == "" && !c.ofFile():
		where := ""
		if c.Sign == "%%" {
			where = " in the lines below"
		}
		return c.Errorf(c.RestAt, "expected %s%s; %s%s --help shows its use", c.language(), where, c.Sign, c.Name)
	case c.Sign == "%%" && c.Rest != "" && (c.Line || c.Args == ""):
		return c.Errorf(c.RestAt, "unexpected %s; its text stands in the lines below", c.word())
	case c.Args == "" && c.Rest != "":
		return c.Errorf(c.RestAt, "unexpected %s; it takes no arguments", c.word())
	}
	return nil
}
