package compile

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/lazyregexp"
)

// PTX holds only the size and alignment of a struct by value. If the cell declares
// the struct with members of known types, this file finds an argument of the same
// size with other members.

// member is a number or an address in a struct.
type member struct {
	typ  string // as the source has it
	kind byte   // 'f'loat, 'i'nteger or 'p'ointer
	size int
}

// numbers are the types of members, besides those of elementTypes.
var numbers = map[string]member{
	"bool": {kind: 'i', size: 1}, "long": {kind: 'i', size: 8}, "unsigned long": {kind: 'i', size: 8}, "uint16_t": {kind: 'i', size: 2}, "int16_t": {kind: 'i', size: 2},
}

var (
	declaration = lazyregexp.New(`^\s*(?:struct\s+)?([A-Za-z_]\w*(?:\s+(?:int|long|char|short))*)\b([\s*].*)$`)
	declarator  = lazyregexp.New(`^\s*(\**)\s*(\w+)\s*(?:\[\s*(\d+)\s*\])?\s*$`)
)

// members are those of a struct that the source declares. ok is false if the source
// does not declare it, or if some member has an unknown type.
func (s *source) members(name string, depth int) (list []member, ok bool) {
	body := regexp.MustCompile(`\bstruct\s+(?:\w+\([^()]*\)\s*)?` + name + `\s*\{([^{}]*)\}|\btypedef\s+struct\s*\w*\s*\{([^{}]*)\}\s*` + name + `\s*;`).FindStringSubmatch(s.code)
	if body == nil || depth > maxStructDepth {
		return nil, false
	}
	for _, text := range strings.Split(body[1]+body[2], ";") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		m := declaration().FindStringSubmatch(qualifier().ReplaceAllString(text, " "))
		if m == nil {
			return nil, false
		}
		for _, d := range strings.Split(m[2], ",") {
			part := declarator().FindStringSubmatch(d)
			if part == nil {
				return nil, false
			}
			of, ok := s.membersOf(strings.Join(strings.Fields(m[1]), " "), part[1] != "", depth)
			if !ok {
				return nil, false
			}
			n := 1
			if part[3] != "" {
				n, _ = strconv.Atoi(part[3])
			}
			for range min(n, maxMembers+1) {
				if list = append(list, of...); len(list) > maxMembers {
					return nil, false
				}
			}
		}
	}
	return list, len(list) > 0
}

// The comparison has limits, because a source may declare anything.
const (
	maxMembers     = 1024
	maxStructDepth = 8
)

// membersOf is a member of a type, or those of a struct in a struct.
func (s *source) membersOf(typ string, pointer bool, depth int) ([]member, bool) {
	if pointer {
		return []member{{typ + "*", 'p', 8}}, true
	}
	if m, ok := numbers[typ]; ok {
		return []member{{typ, m.kind, m.size}}, true
	}
	if t, ok := elementTypes[typ]; ok {
		if strings.HasSuffix(typ, "2") || strings.HasSuffix(typ, "4") { // a vector
			return nil, false
		}
		kind := byte('i')
		if strings.HasPrefix(t.String(), "float") {
			kind = 'f'
		}
		if t.Bytes() == 2 { // Go has no such float
			kind = 'i'
		}
		return []member{{typ, kind, t.Bytes()}}, true
	}
	return s.members(typ, depth+1)
}

// goMembers are those of a Go type. ok is false if some have no name.
func goMembers(t reflect.Type) (list []member, ok bool) {
	switch k := t.Kind(); k {
	case reflect.Struct:
		for i := range t.NumField() {
			more, ok := goMembers(t.Field(i).Type)
			if !ok || t.Field(i).Name == "_" {
				return nil, false
			}
			list = append(list, more...)
		}
		return list, true
	case reflect.Array:
		of, ok := goMembers(t.Elem())
		if !ok || len(of)*t.Len() > maxMembers {
			return nil, false
		}
		for range t.Len() {
			list = append(list, of...)
		}
		return list, true
	case reflect.Interface:
		return []member{{t.String(), 'p', 8}}, t == reflect.TypeFor[gpu.Buffer]()
	case reflect.Float32, reflect.Float64:
		return []member{{t.String(), 'f', int(t.Size())}}, true
	default:
		host := k == reflect.Int || k == reflect.Uint || k == reflect.Uintptr // which the device refuses
		return []member{{t.String(), 'i', int(t.Size())}}, reflect.Bool <= k && k <= reflect.Uint64 && !host
	}
}

// members are those of a struct that the source declares, nil where they are not
// known.
func (m *Module) members(name string) []member {
	if list, ok := m.structs.Load(name); ok {
		return list.([]member)
	}
	list, ok := scan(m.Source).members(name, 0)
	if !ok {
		list = nil
	}
	m.structs.Store(name, list)
	return list
}

// checkStruct compares a Go struct with the struct of a parameter.
func (e *Entry) checkStruct(p parameter, arg any) error {
	t := reflect.TypeOf(arg)
	if t == nil || t.Kind() != reflect.Struct || t == reflect.TypeFor[gpu.TensorMap]() {
		return nil
	}
	name := strings.TrimPrefix(strings.Join(strings.Fields(qualifier().ReplaceAllString(p.typ, " ")), " "), "struct ")
	if !isWord().MatchString(name) {
		return nil
	}
	want := e.module.members(name)
	have, ok := goMembers(t)
	if want == nil || !ok {
		return nil
	}
	for i := range max(len(want), len(have)) {
		switch {
		case i == len(want) || i == len(have):
			return fmt.Errorf("%w: %v has %d members, expected the %d of %s", gpu.ErrArgument, t, len(have), len(want), name)
		case want[i].size != have[i].size || want[i].kind != have[i].kind && !(want[i].kind == 'p' && have[i].kind == 'i'):
			return fmt.Errorf("%w: member %d of %v is %s, expected that of %s, %s", gpu.ErrArgument, i+1, t, have[i].typ, name, want[i].typ)
		}
	}
	return nil
}

var isWord = lazyregexp.New(`^[A-Za-z_]\w*$`)
