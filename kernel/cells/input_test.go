package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// question returns the next Input event.
func (c *client) question() cellproto.Event {
	c.t.Helper()
	for {
		select {
		case e := <-c.shown:
			if e.Type == cellproto.Input {
				return e
			}
		case <-time.After(patience):
			c.t.Fatal("nothing was asked")
		}
	}
}

// Each question of a cell gets its own answer.
func TestInput(t *testing.T) {
	c := start(t)
	c.value("import (\"bufio\"; \"fmt\"; \"os\"; \"warpbook/kernel/display\")\nvar n int\nvar a, b string")
	for _, x := range []struct{ code, prompt, answer, refusal, want string }{
		{`display.Ask("name: ")`, "name: ", "Ada L.", "", "Ada L."},
		{`display.AskSecret("secret: ")`, "secret: ", "", "", ""},
		{"fmt.Scanln(&a, &b)\nb + a", "", "x y", "", "yx"},
		{"fmt.Scanln(&n)\nn + 1", "", "41", "", "42"},
		{"fmt.Scanf(\"%d-%s\\n\", &n, &a)\nfmt.Sprint(n, a)", "", "7-z", "", "7z"},
		{"lines := bufio.NewScanner(os.Stdin)\nlines.Scan()\nlines.Text()", "", "a line", "", "a line"},
		{"line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\nline", "", "another", "", "another\n"},
		{"fmt.Fscanln(os.Stdin, &n)\nn", "", "5", "", "5"},
		{"lines.Scan()\nlines.Text()", "", "of the first scanner", "", "of the first scanner"},
		{"_, err := display.Ask(\"\")\nfmt.Sprint(err)", "", "", "not here", "display: ask: not here"},
		{"_, err2 := fmt.Scan(&n)\nfmt.Sprint(err2)", "", "", "not here", "display: ask: not here"},
	} {
		done := c.startCell(x.code)
		q := c.question()
		if q.Text != x.prompt || q.ID == 0 || q.Password != (x.prompt == "secret: ") {
			t.Errorf("%s: asked %+v, want the prompt %q", x.code, q, x.prompt)
		}
		c.post(cellproto.Request{ID: q.ID, Type: cellproto.Reply, Text: x.answer, Error: x.refusal})
		if e := c.wait(done); e.Data["text/plain"] != x.want {
			t.Errorf("%s: %v %v, want %q", x.code, e.Data, e.Error, x.want)
		}
	}
}

// An interrupt ends a question at once, and a late answer does not answer the next
// question.
func TestInputIsInterrupted(t *testing.T) {
	c := start(t)
	c.value(`import "warpbook/kernel/display"`)
	done := c.startCell(`display.Ask("first: ")`)
	first := c.question()
	c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
	if e := c.wait(done); e.Error == nil {
		t.Errorf("ended with %v, want an error", e.Data)
	}
	c.post(cellproto.Request{ID: first.ID, Type: cellproto.Reply, Text: "too late"})
	done = c.startCell(`display.Ask("second: ")`)
	c.post(cellproto.Request{ID: c.question().ID, Type: cellproto.Reply, Text: "right"})
	if e := c.wait(done); e.Data["text/plain"] != "right" {
		t.Errorf("got %v %v, want right", e.Data, e.Error)
	}
}

// TestInterruptedReadsKeepData: data that arrives after an interrupted read goes to the
// next read.
func TestInterruptedReadsKeepData(t *testing.T) {
	const imports = "import (\"bufio\"; \"encoding/json\"; \"io\"; \"net\"; \"os\")\nvar text string\nbuf := make([]byte, 100)\n"
	pipes := map[string]string{
		"io.Pipe": "r, w := io.Pipe()",
		"os.Pipe": "r, w, err := os.Pipe()",
		"net":     "l, err := net.Listen(\"tcp\", \"127.0.0.1:0\")\nw, err := net.Dial(\"tcp\", l.Addr().String())\nr, err := l.Accept()",
	}
	for name, read := range map[string]string{
		"Read":    "n, err := r.Read(buf)\ntext = string(buf[:n])",
		"Field":   "type pair struct { net.Conn; io.Reader }\nx := pair{Reader: r}\nn, err := x.Reader.Read(buf)\ntext = string(buf[:n])",
		"Full":    "_, err := io.ReadFull(r, buf[:6])\ntext = string(buf[:6])",
		"Scanner": "lines := bufio.NewScanner(r)\nlines.Scan()\ntext = lines.Text() + \"\\n\"",
		"Reader":  "text, _ = bufio.NewReader(r).ReadString('\\n')",
		"Decoder": "var v string\n_ = json.NewDecoder(r).Decode(&v)\ntext = `\"` + v + \"\\\"\\n\"",
	} {
		for kind, pipe := range pipes {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := start(t)
				c.value(imports + pipe)
				if e := c.interrupt(c.startCell(read)); e.Error == nil || e.Error.Value != "the cell was stopped, its variables are kept" {
					t.Fatalf("the interrupted cell ended with %+v, %v", e.Data, e.Error)
				}
				c.value("go w.Write([]byte(\"\\\"one\\\"\\n\"))")
				if got := c.value(read + "\ntext"); got != "\"one\"\n" {
					t.Errorf("the next read got %q", got)
				}
			})
		}
	}
}

// TestReadOfAnEndedCell: a goroutine that waits for a line when its cell ends does not
// get the line of a later cell.
func TestReadOfAnEndedCell(t *testing.T) {
	c := start(t)
	c.value("import (\"bufio\"; \"fmt\"; \"os\"; \"time\")\nvar n, m int\nlost := make(chan error, 1)")
	done := c.startCell("go func() { _, err := fmt.Scanln(&n); lost <- err }()\nfor { if _, err := os.Stat(\"asked\"); err == nil { break }; time.Sleep(time.Millisecond) }")
	first := c.question()
	if err := os.WriteFile(filepath.Join(c.cmd.Dir, "asked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.wait(done)
	c.post(cellproto.Request{ID: first.ID, Type: cellproto.Reply, Text: "1"})
	for _, read := range []string{"fmt.Scanln(&m)", "line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\nfmt.Sscan(line, &m)"} {
		done = c.startCell(read + "\n[]int{n, m}")
		c.post(cellproto.Request{ID: c.question().ID, Type: cellproto.Reply, Text: "2"})
		if e := c.wait(done); e.Data["text/plain"] != "[]int{0, 2}" {
			t.Errorf("%s: got %v %v, expected 0 and 2", read, e.Data, e.Error)
		}
	}
	if got := c.value("(<-lost) != nil"); got != "true" {
		t.Errorf("the goroutine's read ended with an error: %s", got)
	}
}

// TestInterruptedScan: a scan that was interrupted in its second line does not consume
// the answer of the next scan.
func TestInterruptedScan(t *testing.T) {
	c := start(t)
	c.value("import \"fmt\"\nvar a, b, d int")
	done := c.startCell("fmt.Scan(&a, &b)")
	c.post(cellproto.Request{ID: c.question().ID, Type: cellproto.Reply, Text: "1"})
	second := c.question()
	c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
	if e := c.wait(done); e.Error == nil {
		t.Errorf("ended with %v, want an error", e.Data)
	}
	c.post(cellproto.Request{ID: second.ID, Type: cellproto.Reply, Text: "2"})
	done = c.startCell("fmt.Scan(&d)\n[]int{a, b, d}")
	c.post(cellproto.Request{ID: c.question().ID, Type: cellproto.Reply, Text: "3"})
	if e := c.wait(done); e.Data["text/plain"] != "[]int{1, 0, 3}" {
		t.Errorf("got %v %v, expected 1, 0 and 3", e.Data, e.Error)
	}
}
