//go:build unix

package index

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe that nobody writes to must not be opened: that would wait for ever.
func TestOpenNoPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	for _, path := range []string{pipe, filepath.Dir(pipe)} {
		var format *FormatError
		if _, err := Open(t.Context(), path, nil); !errors.As(err, &format) {
			t.Errorf("%s: got error %v, want a FormatError", path, err)
		}
		if IsFile(path) {
			t.Errorf("%s passes for an index", path)
		}
	}
}
