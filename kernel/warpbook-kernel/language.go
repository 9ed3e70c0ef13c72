package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"warpbook/kernel/messages"
)

// language sets the language of cells by the metadata of the notebook that the tab shows,
// as warpbook run does: the protocol sends a kernel no metadata of notebooks, but
// jupyter_server names the file. A variable of the user goes before it. A client that
// names no file leaves English, and %lang.
func language(getenv func(string) string) []string {
	file := getenv(sessionEnv)
	if getenv(messages.Variable) != "" || filepath.Ext(file) != ".ipynb" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil // a name that is no path, or another machine's
	}
	var notebook struct {
		Metadata struct {
			Lang string `json:"lang"`
		} `json:"metadata"`
	}
	if json.Unmarshal(data, &notebook) != nil || notebook.Metadata.Lang == "" {
		return nil
	}
	return []string{messages.Variable + "=" + notebook.Metadata.Lang}
}
