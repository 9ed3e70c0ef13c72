package server

// page is a text that the client shows beside the notebook.
type page struct {
	Source string         `json:"source"`
	Data   map[string]any `json:"data"`
	Start  int            `json:"start"`
}

// page answers a question.
func (c *call) page(name string) (page, error) {
	found, err := inspect(c, inspectRequest{position: position{Code: name}})
	if err != nil {
		return page{}, err
	}
	if !found.Found {
		found.Data["text/plain"] = "no documentation of " + name
	}
	return page{Source: "page", Data: found.Data}, nil
}
