//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach makes cmd go on when the client ends us and all we started.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
