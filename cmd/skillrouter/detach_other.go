//go:build !unix

package main

import "os/exec"

// detach does nothing where processes have no sessions.
func detach(*exec.Cmd) {}
