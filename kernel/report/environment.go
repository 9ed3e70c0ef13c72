package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/messages"
)

// setting is one line of an environment.
type setting struct{ Name, Value string }

// environment is how records were measured. Records that differ only in their date share
// one, which stands once on the page.
type environment struct {
	ID, Name string
	Like     string    // the environment with all other settings, "" for none
	Settings []setting // the date is that of the first record, or from the first to the last

	key  []setting // without the date
	date string    // the last one
}

// environments are the distinct environments of records, in order.
func environments(records []record.Record, in *phrases) (list []*environment) {
	for _, r := range records {
		settings := settingsOf(r)
		if len(settings) == 0 {
			continue
		}
		key, date := withoutDate(settings)
		i := slices.IndexFunc(list, func(e *environment) bool { return reflect.DeepEqual(e.key, key) })
		if i < 0 {
			n := len(list) + 1
			list = append(list, &environment{ID: fmt.Sprintf("environment-%d", n), Name: fmt.Sprintf(in.environment, n), Settings: settings, key: key, date: date})
			continue
		}
		list[i].date = max(list[i].date, date)
	}
	for _, e := range list {
		for i, s := range e.Settings {
			if s.Name == "date" && s.Value != e.date {
				e.Settings[i].Value = s.Value + " – " + e.date
			}
		}
	}
	for _, e := range list[min(1, len(list)):] {
		e.shorten(list[0], in)
	}
	return list
}

// shorten leaves out the settings that are those of another environment, unless that has
// some which this one lacks.
func (e *environment) shorten(other *environment, in *phrases) {
	has := func(name string) bool {
		return slices.ContainsFunc(e.Settings, func(s setting) bool { return s.Name == name })
	}
	if slices.ContainsFunc(other.Settings, func(s setting) bool { return !has(s.Name) }) {
		return
	}
	e.Settings = slices.DeleteFunc(slices.Clone(e.Settings), func(s setting) bool { return slices.Contains(other.Settings, s) })
	e.Like = fmt.Sprintf(in.like, other.Name)
}

func settingsOf(r record.Record) (settings []setting) {
	for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
		if value := r.Environment[name]; value != nil && value != "" {
			settings = append(settings, setting{name, settingText(value)})
		}
	}
	return settings
}

func withoutDate(settings []setting) (key []setting, date string) {
	for _, s := range settings {
		if s.Name == "date" {
			date = s.Value
		} else {
			key = append(key, s)
		}
	}
	return key, date
}

func settingText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case map[string]any, []any:
		data, _ := json.Marshal(value) // decoded from JSON, so it encodes
		return string(data)
	}
	return fmt.Sprint(value)
}

// environmentOf is the environment of an output's record, nil if it has none.
func (p *prose) environmentOf(data map[string]any) *environment {
	value, ok := data[record.MIME]
	if !ok {
		return nil
	}
	r, err := record.Parse(value)
	if err != nil {
		return nil
	}
	return p.environmentOfRecord(r)
}

func (p *prose) environmentOfRecord(r record.Record) *environment {
	key, _ := withoutDate(settingsOf(r))
	i := slices.IndexFunc(p.environments, func(e *environment) bool { return reflect.DeepEqual(e.key, key) })
	if i < 0 {
		return nil
	}
	return p.environments[i]
}

// foldedEnvironment ends the summary under which a table of package display has its method
// and environment.
const foldedEnvironment = "method and environment"

// linkEnvironment puts a link in place of the method and environment below a table.
func linkEnvironment(root *html.Node, e *environment) {
	var folded []*html.Node
	for n := range root.Descendants() {
		if n.DataAtom != atom.Details || n.FirstChild == nil {
			continue
		}
		summary := textOf(n.FirstChild)
		if strings.HasSuffix(summary, foldedEnvironment) || strings.HasSuffix(summary, messages.In("zh", foldedEnvironment)) {
			folded = append(folded, n)
		}
	}
	for _, n := range folded {
		n.Parent.InsertBefore(numberLink("#"+e.ID, e.Name), n)
		n.Parent.RemoveChild(n)
	}
}

// numberLink is a paragraph with a link to a numbered part of the page.
func numberLink(to, text string) *html.Node {
	link := &html.Node{Type: html.ElementNode, DataAtom: atom.A, Data: "a",
		Attr: []html.Attribute{{Key: "class", Val: "number"}, {Key: "href", Val: to}}}
	link.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	p := &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p", Attr: []html.Attribute{{Key: "class", Val: "number"}}}
	p.AppendChild(link)
	return p
}
