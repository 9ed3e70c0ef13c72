package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of resources that a short text can claim. Compilers' output stays far below.
const (
	maxDepth       = 100     // nested scopes, braces and parentheses
	maxArrayBytes  = 1 << 40 // size of a variable
	maxQuotedBytes = 40      // of a token that an error shows
)

// Parse reads PTX text into a module. Errors use the name. Any error is an *Error, and
// then the module is nil.
func Parse(name, text string) (*Module, error) {
	p := &parser{
		lexer:   lexer{text: strings.TrimRight(text, "\x00"), line: 1},
		module:  &Module{Name: name, AddressBytes: 4, Files: map[int]string{}},
		symbols: map[string]symbol{},
		opcodes: map[string]opcode{},
	}
	p.next()
	p.header()
	for p.tok.kind != endToken {
		p.moduleDirective()
	}
	p.defineAliases()
	p.requireBodies()
	if p.err != nil {
		return nil, p.err
	}
	return p.module, nil
}

// parser is a recursive-descent parser with one token of lookahead. The first
// error is kept and turns the rest of the text into endToken, so that every
// loop ends and no rule needs to return an error.
type parser struct {
	lexer
	tok     token
	err     *Error
	depth   int
	module  *Module
	symbols map[string]symbol // of the module
	aliases []alias

	// Of the function that is being parsed.
	function *Function
	scope    *scope
	scopes   int // opened so far
	source   Source
	inlined  Source          // where the code of source was put in
	calls    map[place]place // of places in the function whose code was put in elsewhere: where

	// Reused between instructions.
	opcodes  map[string]opcode
	operands []Operand
	words    []string
}

func (p *parser) next() {
	if p.err != nil {
		return
	}
	p.tok = p.lexer.next()
	if p.tok.kind == badToken {
		p.fail(p.tok.pos, "%s", p.tok.text)
	}
}

// peek returns the token after the current one.
func (p *parser) peek() token {
	ahead := p.lexer
	return ahead.next()
}

// fail keeps the first error and ends the text.
func (p *parser) fail(pos Pos, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{File: p.module.Name, Pos: pos, Text: fmt.Sprintf(format, args...)}
	}
	p.tok = token{kind: endToken, pos: pos, offset: len(p.text)}
}

// unexpected fails at the current token.
func (p *parser) unexpected(expected string) {
	p.fail(p.tok.pos, "expected %s, found %s", expected, p.found())
}

func (p *parser) found() string {
	text := p.tok.text
	if len(text) > maxQuotedBytes {
		text = text[:maxQuotedBytes] + "..."
	}
	switch p.tok.kind {
	case endToken:
		return "end of text"
	case stringToken:
		return strconv.Quote(text)
	case dotToken:
		return "'." + text + "'"
	}
	return "'" + text + "'"
}

// accept consumes the current token if it is of the kind.
func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

// acceptDot consumes the directive or modifier if it is the current token.
func (p *parser) acceptDot(text string) bool {
	if p.tok.kind != dotToken || p.tok.text != text {
		return false
	}
	p.next()
	return true
}

// expect consumes a token of the kind; the context completes "expected ';' ...".
func (p *parser) expect(k kind, context string) token {
	t := p.tok
	if t.kind != k {
		p.unexpected(strings.TrimSpace(k.String() + " " + context))
		return token{pos: t.pos, offset: t.offset}
	}
	p.next()
	return t
}

func (k kind) String() string {
	switch k {
	case wordToken:
		return "a name"
	case numberToken:
		return "a number"
	case stringToken:
		return "a string"
	case dotToken:
		return "a directive"
	}
	return "'" + string(rune(k)) + "'"
}

// enter bounds recursion; the caller calls leave when it returns true.
func (p *parser) enter() bool {
	if p.depth == maxDepth {
		p.fail(p.tok.pos, "nested more than %d deep", maxDepth)
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }
