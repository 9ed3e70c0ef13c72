//go:build !js

package magic

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// killAfter is how long an interrupted script has to clean up.
const killAfter = 50 * time.Millisecond

var bash = &Magic{
	Name: "bash", Cell: true,
	Short: "Run the lines below as a bash script; another exit status than 0 is an error.",
	Long: `Its output is that of the cell, as it comes. An interrupt ends all processes
that it started.`,
	Run: func(c *Call) error {
		cmd := exec.Command("bash", "-c", c.Body)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // the descriptors themselves: output is not buffered
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			if errors.Is(err, exec.ErrNotFound) {
				return c.Errorf(0, "bash is not installed")
			}
			return c.Errorf(0, "%v", err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				return c.Errorf(0, "%v", err)
			}
			return nil
		case <-c.Session.Stopped():
		}
		end(-cmd.Process.Pid, ended) // the group: the script and what it started
		return ErrInterrupted
	},
}

func end(group int, ended <-chan error) {
	syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(killAfter):
	}
	syscall.Kill(group, syscall.SIGKILL) // also for those that the script left in the background
}
