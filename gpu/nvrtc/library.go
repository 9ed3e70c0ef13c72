package main

import (
	"fmt"
	"os"
	"strings"
)

// library is an open libnvrtc.
type library struct {
	api
	release string   // "12.0"
	headers []string // folders of CUDA's headers, empty if none were found
}

// program is a source with its options.
type program struct {
	name, text string
	options    []string
	names      []string          // name expressions: templates to instantiate
	headers    map[string]string // texts by name
}

// compiled is the result of a compilation.
type compiled struct {
	ptx, log string
	lowered  map[string]string // name expressions to symbols
}

// includes are the options that name the folders of headers, our own first.
func (l *library) includes(own string) []string {
	options := []string{"--include-path=" + own}
	for _, dir := range l.headers {
		options = append(options, "--include-path="+dir)
	}
	return options
}

// compile returns the PTX of a source. It writes the compiler's messages to stderr.
func (l *library) compile(name string, text []byte, options []string) (string, error) {
	done, err := l.run(program{name: name, text: string(text), options: options})
	fmt.Fprint(os.Stderr, done.log)
	if strings.Contains(done.log, "open source file") {
		return "", fmt.Errorf("nvrtc: compile %s: a header is missing: %s", name, remedy())
	}
	if err != nil {
		return "", fmt.Errorf("nvrtc: compile %s: %w", name, err)
	}
	return done.ptx, nil
}
