// Package hint suggests a correction of wrong code: the Go for a habit of another
// language, the nearest name, the missing import, a conversion.
//
// An Advice is made once for a session. The engine asks it for each error of the parser
// and of the type checker. The package reads the session through Namespace and changes
// nothing. It must not import the engine, nor anything of gpu and ops: Advice.HostCode
// and Advice.Moved bring the facts about these.
package hint

import (
	"go/token"
	"go/types"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// Namespace is the part of a session in which hints look up names.
type Namespace interface {
	// Lookup returns the object that a name means in the next cell, nil if there is
	// none.
	Lookup(name string) types.Object
	// Names are all live names.
	Names() []string
	// Gone is the reason why a name lost its meaning, "" if it did not.
	Gone(name string) string
	// Packages are the paths that cells can import; Linked are those that the program
	// links.
	Packages() []string
	Linked() []string
	Import(path string) (*types.Package, error)
}

// Advice finds hints for one session.
type Advice struct {
	Namespace

	// HostCode, if set, returns the Go for the first piece of a line that is host
	// code of a language with cells of its own, such as a launch of CUDA C++.
	HostCode func(line string) string

	// Moved are names of offered packages that moved to another package, and the
	// names that replace them: "old.Name" to "now.Name". MovedTo is the folder of
	// the packages with the new names.
	Moved   map[string]string
	MovedTo string
}

func (a *Advice) hostCode(line string) string {
	if a.HostCode == nil {
		return ""
	}
	return a.HostCode(line)
}

// movedTo is the replacement of the old name in an error message, "" if the message
// contains no such name.
func (a *Advice) movedTo(msg string) string {
	now := ""
	if m := noObject().FindStringSubmatch(msg); m != nil {
		now = a.Moved[m[1]+"."+m[2]]
	} else if m := noMember().FindStringSubmatch(msg); m != nil {
		now = a.Moved[m[2]+"."+m[3]]
	}
	if now == "" {
		return ""
	}
	folder, _, _ := strings.Cut(now, ".")
	return "it is " + now + " now: import \"" + a.MovedTo + folder + "\""
}

// Remedy returns the remedy for an error of the type checker, "" if the message needs
// none. The error is in a line of a cell; lines are the only part of the cell that it
// reads.
func (a *Advice) Remedy(msg, line string, lines []string) string {
	answer := ""
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		if why := a.Gone(name); why != "" {
			return " (" + why + ")"
		}
		if token.IsIdentifier(name) {
			answer = a.unknown(name, line, lines)
		}
	}
	if m := noMethod().FindStringSubmatch(msg); m != nil {
		if why := a.Gone(m[1] + "." + m[2]); why != "" {
			return " (" + why + ")"
		}
	}
	near := a.member(msg)
	switch {
	case answer != "":
	case a.movedTo(msg) != "":
		answer = a.movedTo(msg)
	case near != "":
		answer = "nearest: " + near
	case assignment(msg, line) != "":
		answer = assignment(msg, line)
	case mistake(msg, line) != "":
		answer = mistake(msg, line)
	case oneOfTwo().MatchString(msg):
		answer = "the second is an error as a rule: x, err := " + oneOfTwo().FindStringSubmatch(msg)[1] + "(...)"
	case hidden().MatchString(msg) && types.Universe.Lookup(hidden().FindStringSubmatch(msg)[1]) != nil:
		answer = "a variable of yours hides Go's own; %reset forgets all variables"
	case tooLarge().MatchString(msg):
		answer = "convert it, as in float64(" + tooLarge().FindStringSubmatch(msg)[1] + ")"
	case noAppend().MatchString(msg):
		answer = "Go writes x = append(x, value)"
	case noLength().MatchString(msg):
		answer = "Go writes len(x)"
	case noArithmetic().MatchString(msg):
		answer = "Go has no arithmetic on slices: write a loop over the elements"
	case otherNumber().MatchString(msg):
		answer = "convert one of them, as in float64(x)"
	case truncated().MatchString(msg):
		answer = "convert the other one, as in float64(x)"
	case textAndNumber().MatchString(msg):
		answer = "Go adds no number to a string: write fmt.Sprint(a, b)"
	case noDim().MatchString(msg):
		answer = noDim().ReplaceAllString(noDim().FindString(msg), "write gpu.Dim{X: $1}")
	case wrongNumber().MatchString(msg):
		answer = wrongNumber().ReplaceAllString(wrongNumber().FindString(msg), "convert it, as in $2($1)")
	case strings.HasPrefix(msg, "label ") || strings.HasPrefix(msg, "invalid operation: cannot indirect"):
		answer = a.Foreign(line)
	}
	if answer == "" {
		answer = a.meant(msg)
	}
	if answer != "" {
		answer = ": " + answer
	}
	return answer
}

var (
	tooLarge      = lazyregexp.New(`^cannot use (.+) \(untyped int constant.* as int value.*\(overflows\)`)
	noMethod      = lazyregexp.New(`\(type \*?([\pL_][\pL\pN_]*).* has no field or method ([\pL_][\pL\pN_]*)`)
	oneOfTwo      = lazyregexp.New(`^assignment mismatch: 1 variable but (\S+) returns 2 values$`)
	hidden        = lazyregexp.New(`^invalid operation: cannot call (\w+) \(variable of`)
	noAppend      = lazyregexp.New(`^\S+\.(?:append|push_back|push|add) undefined \(type \[\]`)
	noLength      = lazyregexp.New(`^\S+\.(?:len|length|Length|size|Len) undefined \(type (?:\[|map\[|string|chan )`)
	noArithmetic  = lazyregexp.New(`^invalid operation: (?:operator [-+*/] not defined on .* \(variable of type \[|.* \(mismatched types \[)`)
	otherNumber   = lazyregexp.New(`\(mismatched types (?:u?int(?:8|16|32|64)?|float32|float64) and (?:u?int(?:8|16|32|64)?|float32|float64)\)$`)
	truncated     = lazyregexp.New(`^\S+ \(untyped float constant\) truncated to u?int`)
	textAndNumber = lazyregexp.New(` \+ .*\(mismatched types (?:untyped )?(?:string and (?:untyped )?(?:u?int|float)|(?:u?int|float)\d* and (?:untyped )?string|untyped (?:int|float) and string)`)
	noDim         = lazyregexp.New(`^cannot use (\w+) \((?:untyped int constant|variable of type u?int).*\) as gpu\.Dim value in `)
	wrongNumber   = lazyregexp.New(`^cannot use (.+) \((?:variable|value) of type (?:u?int(?:8|16|32|64)?|float32|float64)\) as ((?:u?int(?:8|16|32|64)?|float32|float64)) value in `)
)
