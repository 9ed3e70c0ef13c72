package fakecells

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"warpbook/kernel/cellproto"
)

// cell is one execution; done is its answer.
type cell struct {
	*fake
	pipes bool // the pipes are this cell's
	done  cellproto.Event
}

// do runs one command of a script. An unknown word fails the cell.
func (c *cell) do(word, rest string) {
	n, _ := strconv.Atoi(rest)
	switch word {
	case "", "//":
	case "out": // raw bytes, as in a Go string literal
		os.Stdout.WriteString(unquote(rest))
	case "err":
		os.Stderr.WriteString(unquote(rest))
	case "framed":
		c.event(cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: unquote(rest)})
	case "lines": // n of them
		lines(n)
	case "fill": // n bytes
		for chunk := strings.Repeat("x", 1000); n > 0; n -= len(chunk) {
			os.Stdout.WriteString(chunk[:min(n, len(chunk))])
		}
	case "display": // of text
		c.display(cellproto.Event{Data: map[string]any{"text/plain": rest}})
	case "bundle": // display of JSON
		c.display(cellproto.Event{Data: object(rest)})
	case "show", "update": // of a display id and text
		id, text, _ := strings.Cut(rest, " ")
		c.display(cellproto.Event{Data: map[string]any{"text/plain": text}, Display: id, Update: word == "update"})
	case "clear": // with "wait" or without
		c.fenced(cellproto.Event{Type: cellproto.Clear, Wait: rest == "wait"})
	case "value": // of the cell, JSON
		c.done.Data = object(rest)
	case "fail":
		c.fail("panic", rest)
	case "input":
		c.event(cellproto.Event{Type: cellproto.Input, Text: rest})
		if r := <-c.replies; r.Error != "" {
			c.fail("error", r.Error)
		} else {
			fmt.Println("got " + r.Text)
		}
	case "pipes":
		c.event(cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: fmt.Sprint(c.pipes)})
	case "dir":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "touch": // a file
		if err := os.WriteFile(rest, nil, 0o644); err != nil {
			c.fail("touch", err.Error())
		}
	case "mkdir": // a folder
		if err := os.Mkdir(rest, 0o755); err != nil {
			c.fail("mkdir", err.Error())
		}
	case "env":
		fmt.Println(os.Getenv(rest))
	case "words": // n lines on stderr that look like the runtime's fatal errors
		for range n {
			os.Stderr.WriteString("fatal error: x\n")
			time.Sleep(2 * time.Millisecond)
		}
	case "sleep": // milliseconds
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "wait": // until the gate of that name is open
		<-c.gate(rest)
	case "open":
		close(c.gate(rest))
	case "pause": // until interrupted, then continue
		<-c.stop
	default:
		c.doBadly(word, rest, n)
	}
}

// doBadly runs a command with which a cell misbehaves.
func (c *cell) doBadly(word, rest string, n int) {
	switch word {
	case "hang": // until interrupted
		<-c.stop
		c.fail("interrupted", "interrupted")
	case "deaf": // until killed
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		select {}
	case "late": // once interrupted: raw and framed output of a goroutine, then open a gate
		go func() {
			<-c.stop
			os.Stdout.WriteString("raw late\n")
			c.event(cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: "framed late\n"})
			close(c.gate(rest))
		}()
	case "endless": // a goroutine that floods stdout
		go func() {
			for {
				os.Stdout.WriteString(strings.Repeat("x", 4000))
			}
		}()
	case "spawn", "detach": // a subprocess that holds all pipes; prints its process number
		c.spawn(word == "detach")
	case "mute": // answer no interrupt
		c.mute.Store(true)
	case "close": // the event pipe
		c.events.Close()
	case "exit":
		os.Exit(n)
	case "signal":
		syscall.Kill(os.Getpid(), syscall.Signal(n))
		select {}
	case "race":
		raceMap()
	case "unlock": // a fatal error, as race, but one that the race detector does not report
		new(sync.Mutex).Unlock()
	case "panic":
		go panic(rest)
		select {}
	case "garbage": // raw bytes in place of an event
		c.events.WriteString(unquote(rest))
		select {}
	default:
		c.fail("compile error", "undefined: "+word)
	}
}

// event may be called after the cell has ended: it uses no field that do changes.
func (c *cell) event(e cellproto.Event) {
	e.ID = c.done.ID
	c.emit(e)
}

func (c *cell) display(e cellproto.Event) {
	e.Type = cellproto.Display
	c.fenced(e)
}

func (c *cell) fenced(e cellproto.Event) {
	e.Fence = true
	c.fence.Lock()
	defer c.fence.Unlock()
	c.event(e)
	<-c.passed
}

func (c *cell) fail(name, value string) {
	c.done.Error = &cellproto.Error{Name: name, Value: value, Traceback: []string{name + ": " + value}}
}

func (c *cell) spawn(detached bool) {
	p := exec.Command("sleep", "1000")
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: detached}
	p.Stdout, p.Stderr = os.Stdout, os.Stderr
	p.ExtraFiles = []*os.File{os.NewFile(3, ""), c.events}
	if err := p.Start(); err != nil {
		c.fail("spawn", err.Error())
		return
	}
	fmt.Println(p.Process.Pid)
}

func lines(n int) {
	w := bufio.NewWriterSize(os.Stdout, 1000)
	for i := range n {
		fmt.Fprintf(w, "line %d\n", i)
	}
	w.Flush()
}

// raceMap writes a map concurrently, so that the runtime ends the process.
func raceMap() {
	m := map[int]int{}
	for range 4 {
		go func() {
			for i := 0; ; i++ {
				m[i%7] = i
			}
		}()
	}
	select {}
}

func unquote(s string) string {
	text, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		panic(err)
	}
	return text
}

func object(s string) map[string]any {
	var o map[string]any
	decoder := json.NewDecoder(strings.NewReader(s))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		panic(err)
	}
	return o
}
