package server

import (
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// page is a text that the client shows beside the notebook.
type page struct {
	Source string         `json:"source"`
	Data   map[string]any `json:"data"`
	Start  int            `json:"start"`
}

var questionForm = lazyregexp.New(`^([\pL_][\pL\pN_.]*)\?\??$`)

// question recognises a cell that asks for the documentation of a name, such as
// fmt.Println?, which is not Go code.
func question(code string) (name string, ok bool) {
	code = strings.TrimSpace(code)
	if !strings.HasSuffix(code, "?") { // most cells return here, without the regular expression
		return "", false
	}
	if m := questionForm().FindStringSubmatch(code); m != nil {
		return m[1], true
	}
	return "", false
}

// page answers a question.
func (c *call) page(name string) (page, error) {
	found, err := inspect(c, position{Code: name})
	if err != nil {
		return page{}, err
	}
	if !found.Found {
		found.Data["text/plain"] = "no documentation of " + name
	}
	return page{Source: "page", Data: found.Data}, nil
}
