package server

import (
	"log/slog"
	"sync"
	"time"
)

// warnPause is the shortest time between two logged warnings: a peer that is
// disconnected and connects again must not fill the log.
const warnPause = time.Second

// warnings logs warnings, and the number of omitted ones.
type warnings struct {
	log *slog.Logger

	mu      sync.Mutex // guards the fields below
	last    time.Time
	left    int
	pending *time.Timer // logs the number of omitted warnings; nil: none
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.last) >= warnPause {
		w.last = now
		w.log.Warn(text)
		return
	}
	w.left++
	if w.pending == nil {
		w.pending = time.AfterFunc(warnPause, w.summarise)
	}
}

func (w *warnings) summarise() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.Warn("warnings left out", "count", w.left)
	w.left, w.pending, w.last = 0, nil, time.Now()
}

// close logs the number of warnings omitted so far.
func (w *warnings) close() {
	w.mu.Lock()
	pending := w.pending != nil && w.pending.Stop()
	w.mu.Unlock()
	if pending {
		w.summarise()
	}
}
