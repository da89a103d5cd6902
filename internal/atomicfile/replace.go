// Package atomicfile writes files so that a reader never sees half of one.
package atomicfile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace makes what write writes the content of the file at path, at once:
// readers see the old file or the new one, also where the machine stops midway.
// The folder must be there. On an error, one of write included, the old file
// stays and nothing is left beside it.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close() // the first error counts
			_ = os.Remove(tmp.Name())
		}
	}()
	if err := write(tmp); err != nil {
		return err
	}
	if err := tmp.Chmod(mode); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
