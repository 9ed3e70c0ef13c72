package server

import (
	"regexp"
	"strings"
)

// page is a text that the client shows beside the notebook.
type page struct {
	Source string         `json:"source"`
	Data   map[string]any `json:"data"`
	Start  int            `json:"start"`
}

var questionForm = regexp.MustCompile(`^([\pL_][\pL\pN_.]*)\?\??$`)

// question recognises a cell that asks what a name is, such as fmt.Println?,
// which is no Go code.
func question(code string) (name string, ok bool) {
	code = strings.TrimSpace(code)
	if !strings.HasSuffix(code, "?") { // most cells, for less than the expression takes
		return "", false
	}
	if m := questionForm.FindStringSubmatch(code); m != nil {
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
		found.Data["text/plain"] = "nothing is known about " + name
	}
	return page{Source: "page", Data: found.Data}, nil
}
