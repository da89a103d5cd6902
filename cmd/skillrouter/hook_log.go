package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

// stateDir is where what is worth keeping between runs is kept, and nobody
// would miss: sessions and the log of the hook. Go knows no such folder, so it
// is that of the XDG base directories, but on Windows.
func (a *app) stateDir() (string, error) {
	if dir := a.env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "skillrouter"), nil
	}
	if dir := a.env("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "skillrouter", "state"), nil
	}
	if home := a.env("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "skillrouter"), nil
	}
	return "", errors.New("there is no folder to keep state in: neither XDG_STATE_HOME nor HOME is set")
}

// hookLogFile is the log of the hook, below the state folder.
const hookLogFile = "hook.log"

// maxHookLog bounds the log; one older file of that size stays beside it.
const maxHookLog = 128 << 10

// maxHookLine bounds a line of it: with an utterance in it, a paste may be one.
const maxHookLine = 8 << 10

// hookLog is the log of the hook. It never fails: where it cannot write it
// says nothing.
func (a *app) hookLog() *slog.Logger {
	dir, err := a.stateDir()
	if err != nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(logFile(filepath.Join(dir, hookLogFile)), nil))
}

// A logFile is written to line by line by many processes, so it is opened for
// each: a process writes one or two.
type logFile string

func (path logFile) Write(line []byte) (int, error) {
	given := len(line)
	if given > maxHookLine {
		line = append(bytes.ToValidUTF8(line[:maxHookLine:maxHookLine], nil), "…\n"...)
	}
	if err := os.MkdirAll(filepath.Dir(string(path)), 0o700); err != nil {
		return 0, err
	}
	path.rotate()
	f, err := os.OpenFile(string(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	if _, err = f.Write(line); err != nil {
		given = 0
	}
	return given, errors.Join(err, f.Close())
}

func (path logFile) full() bool {
	info, err := os.Stat(string(path))
	return err == nil && info.Size() >= maxHookLog
}

// rotate sets a full log aside.
func (path logFile) rotate() {
	if !path.full() {
		return
	}
	lock := flock.New(string(path) + ".lock")
	if ok, err := lock.TryLock(); !ok || err != nil {
		return // another process is at it
	}
	defer lock.Close()
	if path.full() {
		_ = os.Rename(string(path), string(path)+".1") // else the log grows by a line
	}
}

// tail returns the last lines of the log, at most n.
func (path logFile) tail(n int) ([]string, error) {
	f, err := os.Open(string(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 2*maxHookLog))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(bytes.TrimRight(data, "\n")), "\n")
	return lines[max(0, len(lines)-n):], nil
}

// anonymous names a session in the log: its ID opens a dialogue of the client.
func anonymous(session string) string {
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:4])
}
