package server

import (
	"runtime"

	"warpbook/kernel/jupyter"
	"warpbook/kernel/leaf/release"
)

type kernelInfoReply struct {
	ProtocolVersion       string       `json:"protocol_version"`
	Implementation        string       `json:"implementation"`
	ImplementationVersion string       `json:"implementation_version"`
	LanguageInfo          languageInfo `json:"language_info"`
	Banner                string       `json:"banner"`
	Debugger              bool         `json:"debugger"`
	HelpLinks             []helpLink   `json:"help_links"`
	SupportedFeatures     []string     `json:"supported_features"`
}

// languageInfo selects the highlighting in JupyterLab and nbconvert.
type languageInfo struct {
	Name           string `json:"name"`
	Version        string `json:"version"`
	MIMEType       string `json:"mimetype"`
	FileExtension  string `json:"file_extension"`
	PygmentsLexer  string `json:"pygments_lexer"`
	CodeMirrorMode string `json:"codemirror_mode"`
}

type helpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

func kernelInfo(*call, none) (*kernelInfoReply, error) {
	return &kernelInfoReply{
		ProtocolVersion:       jupyter.Version,
		Implementation:        "warpbook",
		ImplementationVersion: release.Name(),
		LanguageInfo: languageInfo{
			Name: "go", Version: runtime.Version(), MIMEType: "text/x-go", FileExtension: ".go",
			PygmentsLexer: "go", CodeMirrorMode: "go",
		},
		Banner: "warpbook " + release.Name() + ": Go notebooks for GPU operator experiments, " + runtime.Version(),
		HelpLinks: []helpLink{
			{"Go language", "https://go.dev/ref/spec"},
			{"Go standard library", "https://pkg.go.dev/std"},
			{"gonum plot", "https://pkg.go.dev/gonum.org/v1/plot"},
			{"PTX", "https://docs.nvidia.com/cuda/parallel-thread-execution/"},
		},
		Debugger:          true,
		SupportedFeatures: []string{"kernel subshells", "debugger"},
	}, nil
}
