package server

import (
	"fmt"
	"sync"
	"time"

	"warpbook/kernel/history"
)

type historyRequest struct {
	Output  bool   `json:"output"`
	Access  string `json:"hist_access_type"`
	Session int    `json:"session"`
	Start   int    `json:"start"`
	Stop    *int   `json:"stop"`
	N       int    `json:"n"`
	Pattern string `json:"pattern"`
	Unique  bool   `json:"unique"`
}

// historyReply has triples: session, line, and the input or a pair of input and output.
type historyReply struct {
	History [][3]any `json:"history"`
}

func historyOf(c *call, q historyRequest) (*historyReply, error) {
	entries, err := c.server.past.find(c.shell.place, q)
	if err != nil {
		return nil, err
	}
	reply := &historyReply{History: [][3]any{}}
	for _, e := range entries {
		var content any = e.Input
		if q.Output {
			content = [2]any{e.Input, orNull(e.Output)}
		}
		reply.History = append(reply.History, [3]any{e.Session, e.Line, content})
	}
	return reply, nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// saveAfter is the delay after which cells are written to the file together. Each write
// takes 14 system calls, on a core that the client needs for the answer and the next
// cell.
const saveAfter = 100 * time.Millisecond

// past is the history. All shells write and read it; each has its own lines. The
// timer's goroutine writes the file, because another process may keep it locked.
type past struct {
	failed  func(error) // receives the error of writing the file
	history *history.History

	mu     sync.Mutex  // guards the fields below
	saving *time.Timer // calls save soon; nil: nothing to save
}

func (p *past) find(shell int, q historyRequest) ([]history.Entry, error) {
	switch q.Access {
	case "tail":
		return p.history.Tail(q.N)
	case "range":
		return p.history.Range(shell, q.Session, q.Start, q.Stop)
	case "search":
		return p.history.Search(q.Pattern, q.Unique, q.N)
	}
	return nil, fmt.Errorf("server: history_request: hist_access_type %q, expected range, tail or search", q.Access)
}

// add appends a cell to the history, and schedules the writing of the file.
func (p *past) add(shell, line int, input, output string) {
	p.history.Add(shell, line, input, output)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.saving == nil {
		p.saving = time.AfterFunc(saveAfter, p.save)
	}
}

// save writes the entries that are not in the file yet, including those of failed
// attempts.
func (p *past) save() {
	p.mu.Lock()
	if p.saving != nil {
		p.saving.Stop()
		p.saving = nil
	}
	p.mu.Unlock()
	if err := p.history.Save(); err != nil { // an error affects no cell
		p.failed(err)
	}
}
