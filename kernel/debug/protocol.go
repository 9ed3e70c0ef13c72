package debug

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/go-dap"
)

// The requests that Jupyter adds to the protocol. All but dumpCell are answered before
// initialize too.
type (
	debugInfoRequest        struct{ dap.Request }
	inspectVariablesRequest struct{ dap.Request }
	dumpCellRequest         struct {
		dap.Request
		Arguments struct {
			Code string `json:"code"`
		} `json:"arguments"`
	}
	richInspectVariablesRequest struct {
		dap.Request
		Arguments struct {
			Name  string `json:"variableName"`
			Frame int    `json:"frameId"`
		} `json:"arguments"`
	}
	copyToGlobalsRequest struct {
		dap.Request
		Arguments struct {
			Source      string `json:"srcVariableName"`
			Destination string `json:"dstVariableName"`
			Frame       int    `json:"srcFrameId"`
		} `json:"arguments"`
	}
)

var codec = newCodec()

func newCodec() *dap.Codec {
	c := dap.NewCodec()
	for command, make := range map[string]func() dap.Message{
		"debugInfo":            func() dap.Message { return &debugInfoRequest{} },
		"dumpCell":             func() dap.Message { return &dumpCellRequest{} },
		"inspectVariables":     func() dap.Message { return &inspectVariablesRequest{} },
		"richInspectVariables": func() dap.Message { return &richInspectVariablesRequest{} },
		"copyToGlobals":        func() dap.Message { return &copyToGlobalsRequest{} },
	} {
		if err := c.RegisterRequest(command, make, func() dap.Message { return &dap.ErrorResponse{} }); err != nil {
			panic(err) // an error of this package: each command is registered once
		}
	}
	return c
}

// reply is the response to a request.
type reply struct {
	dap.Response
	Body any `json:"body,omitempty"`
}

// event is an event with its body.
type event struct {
	dap.Event
	Body any `json:"body,omitempty"`
}

// debugInfo is the body of the reply to debugInfo.
type debugInfo struct {
	IsStarted      bool         `json:"isStarted"`
	HashMethod     string       `json:"hashMethod"`
	HashSeed       uint32       `json:"hashSeed"`
	TmpFilePrefix  string       `json:"tmpFilePrefix"`
	TmpFileSuffix  string       `json:"tmpFileSuffix"`
	Breakpoints    []sourceInfo `json:"breakpoints"`
	StoppedThreads []int        `json:"stoppedThreads"`
	RichRendering  bool         `json:"richRendering"`
	ExceptionPaths []string     `json:"exceptionPaths"`
	CopyToGlobals  bool         `json:"copyToGlobals"`
}

type sourceInfo struct {
	Source      string                 `json:"source"`
	Breakpoints []dap.SourceBreakpoint `json:"breakpoints"`
}

// Sources names the sources of cells as the front end computes the names.
type Sources struct {
	Seed           uint32
	Prefix, Suffix string
}

// NewSources returns the names of a kernel. No file has one of them: dumpCell keeps the
// source in memory.
func NewSources() Sources {
	folder := filepath.Join(os.TempDir(), "warpbook_"+strconv.Itoa(os.Getpid()))
	return Sources{Seed: 0xc70f6907, Prefix: folder + string(filepath.Separator), Suffix: ".go"}
}

// Path is the name of a source.
func (s Sources) Path(code string) string {
	return fmt.Sprintf("%s%d%s", s.Prefix, murmur2([]byte(code), s.Seed), s.Suffix)
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("debug: encode: " + err.Error()) // an error of this package: all fields are of JSON types
	}
	return string(text)
}
