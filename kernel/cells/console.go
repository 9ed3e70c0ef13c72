//go:build cells && edited && !js

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu"
	emu "warpbook/gpu/emu/engine"
	"warpbook/gpu/inspect"
	"warpbook/kernel/debug"
	"warpbook/kernel/engine/magic"
)

// debugCommands are the commands of %debug, in a cell and in the console of the debugger.
var debugCommands = []struct{ name, arguments, help string }{
	{"on", "", "keep what repeats later launches, and use debug builds"},
	{"off", "", "keep nothing any more"},
	{"where", "", "the place: lines of the source, from the innermost function"},
	{"print", "EXPR", "an expression of C++ in the focused lane"},
	{"lanes", "EXPR", "the same in all lanes of the warp"},
	{"back", "[N]", "N lines back, in this warp"},
	{"next", "[N]", "N lines forward, in this warp"},
	{"goto", "LINE [if COND]", "the first time that a lane comes to a line, and COND holds"},
	{"last-write", "EXPR", "back to the last write of a variable, an element or an address"},
	{"first-nan", "", "the first instruction of the launch that made a NaN"},
	{"fault", "", "the end of the launch, at its fault if it has one"},
	{"picture", "", "the warp over time: lanes, accesses and barriers"},
	{"focus", "warp N | lane N | thread X [Y [Z]]", "another lane of the block"},
	{"focus", "block X [Y [Z]]", "another block that has run, at the same line or at its last"},
	{"watch", "EXPR", "in the console: stop at each write of a variable, an element or an address"},
	{"watch-access", "EXPR", "in the console: stop at each read and write"},
	{"unwatch", "", "in the console: end all of them"},
}

// debugHelp lists the commands.
func debugHelp() string {
	var lines []string
	for _, c := range debugCommands {
		lines = append(lines, fmt.Sprintf("%-41s %s", strings.TrimSpace(c.name+" "+c.arguments), c.help))
	}
	return strings.Join(lines, "\n")
}

// words complete a command of %debug: its name, or the variables of the place.
func (k *kernels) words(before string) (list []magic.Word) {
	command := strings.TrimSpace(before)
	if command == "" {
		for _, c := range debugCommands {
			list = append(list, magic.Word{Name: c.name, Kind: "keyword", Declaration: c.arguments, Short: c.help})
		}
		return list
	}
	command, _, _ = strings.Cut(command, " ")
	if command == "focus" && strings.TrimSpace(before) == command {
		for _, name := range []string{"block", "lane", "thread", "warp"} {
			list = append(list, magic.Word{Name: name, Kind: "keyword"})
		}
		return list
	}
	k.mu.Lock()
	at := k.cursor
	k.mu.Unlock()
	if at == nil || at.kept() != nil || !slices.Contains([]string{"print", "lanes", "last-write", "goto"}, command) {
		return nil
	}
	at.with(func(v *inspect.View) {
		for _, name := range v.Names() {
			list = append(list, magic.Word{Name: name, Kind: "variable"})
		}
	})
	return list
}

// debugMagic is %debug: after a launch it looks at it, backwards and forwards.
func debugMagic(k *kernels) *magic.Magic {
	return &magic.Magic{
		Name: "debug", Line: true, Args: "COMMAND",
		Short: "Go through the last launch of a kernel of a cell on the emulator.",
		Long:  "The first position is the end of the launch, or its fault. Commands:\n" + debugHelp() + "\n",

		Arguments: k.words,
		Run: func(c *magic.Call) error {
			text, err := k.interruptible(c)
			if errors.Is(err, magic.ErrInterrupted) {
				return err
			}
			if err != nil {
				return c.Errorf(c.RestAt, "%v", err)
			}
			if text != "" {
				_, err = fmt.Fprintln(c.Out, text)
			}
			return err
		},
	}
}

// interruptible runs a command, whose repetitions end when the cell is interrupted.
func (k *kernels) interruptible(c *magic.Call) (string, error) {
	k.mu.Lock()
	trail := k.trail
	k.mu.Unlock()
	if trail == nil {
		return k.command(c)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	stopped := false
	go func() {
		defer close(ended)
		select {
		case <-c.Session.Stopped():
			stopped = true
			trail.Interrupt(true)
		case <-done:
		}
	}()
	text, err := k.command(c)
	close(done)
	<-ended
	trail.Interrupt(false)
	if stopped {
		return "", magic.ErrInterrupted
	}
	return text, err
}

// command runs a command in a cell. Only one cell runs magics at a time.
func (k *kernels) command(c *magic.Call) (string, error) {
	text := c.Rest
	switch strings.TrimSpace(text) {
	case "on":
		k.record(true)
		return "later launches of kernels of cells on the emulator are kept", nil
	case "off":
		k.record(false)
		return "launches are no longer kept", nil
	case "", "help":
		return debugHelp(), nil
	}
	k.mu.Lock()
	trail, at := k.trail, k.cursor
	k.mu.Unlock()
	if trail == nil {
		return "", fmt.Errorf("no launch is kept: write %%debug on, then launch a kernel of a cell on the emulator")
	}
	if at == nil {
		at = (&lane{kernels: k, trail: trail}).end()
	}
	if err := at.kept(); err != nil {
		return "", err
	}
	if strings.TrimSpace(text) == "picture" {
		c.Show(at.picture())
		return "", nil
	}
	to, out, err := at.command(text)
	if err != nil {
		return "", err
	}
	if to != nil {
		k.mu.Lock()
		k.cursor = to
		k.mu.Unlock()
		out = strings.TrimSpace(out + "\n" + to.where())
	}
	return out, nil
}

// console runs a command of the debugger's console, which shows another place to clients.
func (l *lane) console(text string) (debug.Variable, error) {
	if strings.TrimSpace(text) == "" {
		return debug.Variable{Value: debugHelp()}, nil
	}
	if out, err, is := l.watching(text); is {
		return debug.Variable{Value: out}, err
	}
	if err := l.kept(); err != nil {
		return debug.Variable{}, err
	}
	to, out, err := l.command(text)
	if err != nil {
		return debug.Variable{}, err
	}
	if to != nil {
		l.kernels.session.Show(to.stop(debug.AtStep, out))
		out = strings.TrimSpace(out + "\n" + to.where())
	}
	return debug.Variable{Value: out}, nil
}

// watching runs the commands of the console that stop the launch at accesses of data.
func (l *lane) watching(text string) (out string, err error, is bool) {
	word, expression, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch word {
	case "unwatch":
		return fmt.Sprintf("%d watches ended", l.kernels.session.Unwatch()), nil, true
	case "watch", "watch-access":
	default:
		return "", nil, false
	}
	v, err := l.evaluator(0)(expression)
	switch {
	case err != nil:
		return "", err, true
	case v.Data == "":
		return "", fmt.Errorf("%s has no place in memory", expression), true
	}
	return "stops at " + v.Data, l.kernels.session.WatchData(debug.DataPoint{Data: v.Data, Reads: word == "watch-access"}), true
}

// command runs a command; to is the place that it leads to, nil if it stays.
func (l *lane) command(text string) (to *lane, out string, err error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "where":
		return nil, l.where(), nil
	case "print":
		v, err := l.evaluator(0)(rest)
		return nil, fmt.Sprintf("%s = %s", rest, v.Value), err
	case "lanes":
		return nil, l.table(rest), nil
	case "back", "next":
		return l.lines(word == "next", rest)
	case "goto":
		return l.goTo(rest)
	case "last-write":
		return l.lastWrite(rest)
	case "first-nan":
		return l.firstNaN()
	case "fault":
		return l.end(), "", nil
	case "picture":
		return nil, l.picture().String(), nil
	case "focus":
		return l.focused(rest)
	}
	if slices.Contains([]string{"watch", "watch-access", "unwatch"}, word) {
		return nil, "", fmt.Errorf("%s: it is for the console of the debugger, at a stop", word)
	}
	return nil, "", fmt.Errorf("%s: no command, expected one of\n%s", word, debugHelp())
}

// end is the last line of the launch, or its fault.
func (l *lane) end() *lane {
	last := l.trail.End()
	fault := l.trail.Fault()
	time, _ := l.trail.Last(last+1, func(at *emu.Stop) bool { return at.NewLine && fault == nil || at.Fault != nil })
	to := l.to(time)
	to.failed = fault != nil
	to.live = nil
	l.trail.Replay(time, func(at *emu.Stop) bool {
		if at.Time() == time && (at.Fault != nil) == to.failed {
			to.focus = inspect.New(at).Lane
			return false
		}
		return at.Time() <= time
	})
	return to
}

// where describes the place.
func (l *lane) where() string {
	var b strings.Builder
	l.with(func(v *inspect.View) {
		fmt.Fprintf(&b, "block %v thread %v (warp %d lane %d, active %s)\n", v.Stop.Block(), v.Stop.Thread(v.Lane), v.Stop.Warp(), v.Lane, mask(v.Stop.Active()))
		for _, f := range v.Frames() {
			fmt.Fprintf(&b, "  %s at %s:%d: %s\n", f.Name, f.File, f.Line, v.Stop.LineText(f.File, f.Line))
		}
		if v.Stop.Fault != nil {
			fmt.Fprintln(&b, v.Stop.Fault.Error())
		}
	})
	return strings.TrimRight(b.String(), "\n")
}

// table lists an expression in all lanes, equal neighbours on one line.
func (l *lane) table(expression string) string {
	var lines []string
	list := l.across(0, expression)
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1].Value == list[i].Value {
			j++
		}
		name := fmt.Sprintf("lane %d", i)
		if j > i {
			name = fmt.Sprintf("lanes %d-%d", i, j)
		}
		lines = append(lines, name+": "+list[i].Value)
		i = j + 1
	}
	return strings.Join(lines, "\n")
}

// lines goes some lines of the warp back or forward.
func (l *lane) lines(forward bool, count string) (to *lane, out string, err error) {
	n := 1
	if count != "" {
		if n, err = strconv.Atoi(count); err != nil || n < 1 {
			return nil, "", fmt.Errorf("%s: expected a number of lines", count)
		}
	}
	here := l.here()
	var times []uint64
	match := func(at *emu.Stop) bool {
		if there := placeOf(at); at.NewLine && there.same(here) && there.depth <= here.depth {
			times = append(times, at.Time())
		}
		return forward && len(times) == n
	}
	if forward {
		l.trail.First(l.time+1, l.trail.End(), match)
	} else {
		l.trail.First(0, l.time, match)
	}
	if len(times) == 0 {
		return nil, "", fmt.Errorf("the warp has no line there")
	}
	if forward {
		return l.to(times[len(times)-1]), "", nil
	}
	return l.to(times[max(0, len(times)-n)]), "", nil
}

// goTo is the first time that a lane comes to a line, and a condition holds for it.
func (l *lane) goTo(text string) (*lane, string, error) {
	number, condition, _ := strings.Cut(text, " if ")
	line, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return nil, "", fmt.Errorf("goto %s: expected a line, and perhaps `if` with a condition", text)
	}
	focus := -1
	time, found := l.trail.First(0, l.trail.End(), func(at *emu.Stop) bool {
		if _, there := at.Place(); !at.NewLine || there != line {
			return false
		}
		v := inspect.New(at)
		for _, number := range active(at.Active()) {
			holds := condition == ""
			if !holds {
				holds, err = v.On(number).True(condition)
			}
			if holds {
				focus = number
				return true
			}
		}
		return false
	})
	switch {
	case !found && err != nil:
		return nil, "", err
	case !found:
		return nil, "", fmt.Errorf("goto %s: no lane of the launch comes there", text)
	}
	to := l.to(time)
	to.focus = focus
	return to, "", nil
}

// focused is another lane of the block at the same time.
func (l *lane) focused(text string) (*lane, string, error) {
	words := strings.Fields(text)
	var numbers []int
	for _, w := range words[min(1, len(words)):] {
		n, err := strconv.Atoi(w)
		if err != nil {
			return nil, "", fmt.Errorf("focus %s: %s is no number", text, w)
		}
		numbers = append(numbers, n)
	}
	if len(words) > 1 && words[0] == "block" {
		return l.inBlock(numbers)
	}
	to := *l
	var lane = -1
	l.with(func(v *inspect.View) {
		switch {
		case len(words) < 2:
		case words[0] == "lane":
			lane = 32*v.Stop.Warp() + numbers[0]
		case words[0] == "warp":
			lane = 32 * numbers[0]
		case words[0] == "thread":
			numbers = append(numbers, 0, 0)
			size := v.Stop.Size().Full()
			lane = numbers[0] + size.X*(numbers[1]+size.Y*numbers[2])
		}
	})
	if lane < 0 {
		return nil, "", fmt.Errorf("focus %s: expected block X Y Z, warp N, lane N or thread X Y Z", text)
	}
	to.warp, to.focus = lane/32+1, lane%32
	if !to.with(func(*inspect.View) {}) {
		return nil, "", fmt.Errorf("focus %s: the block has no such thread, or it has exited", text)
	}
	return &to, "", nil
}

// inBlock is another block: when its warp of the same number came to the same line last, or
// else at its last line. Blocks run one after the other, so one has ended, or has not begun.
func (l *lane) inBlock(numbers []int) (*lane, string, error) {
	numbers = append(numbers, 0, 0)
	block := gpu.Dim{X: numbers[0], Y: numbers[1], Z: numbers[2]}
	end := l.trail.End() + 1
	if l.live != nil {
		end = l.live.Time() + 1
	}
	warp, file, line := 0, "", 0
	l.with(func(v *inspect.View) {
		warp = v.Stop.Warp()
		file, line = v.Stop.Place()
	})
	time, found := l.trail.Last(end, func(at *emu.Stop) bool {
		f, n := at.Place()
		return at.NewLine && at.Block() == block && at.Warp() == warp && f == file && n == line
	})
	if !found {
		time, found = l.trail.Last(end, func(at *emu.Stop) bool { return at.NewLine && at.Block() == block })
	}
	if !found {
		return nil, "", fmt.Errorf("focus block %v: it has not run here: a breakpoint with a condition such as blockIdx.x == %d stops in it", block, block.X)
	}
	to := l.to(time)
	to.with(func(v *inspect.View) { to.focus = inspect.New(v.Stop).Lane })
	return to, "", nil
}
