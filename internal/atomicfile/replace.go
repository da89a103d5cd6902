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
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return replace(disk{}, path, mode, write)
}

// files are the calls by which a file is replaced, for a test to stop at each.
type files interface {
	create(dir, pattern string) (file, error)
	rename(from, to string) error
	remove(name string) error
}

type file interface {
	io.Writer
	Name() string
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

type disk struct{}

func (disk) create(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) }
func (disk) rename(from, to string) error             { return os.Rename(from, to) }
func (disk) remove(name string) error                 { return os.Remove(name) }

func replace(fsys files, path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	tmp, err := fsys.create(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close() // the first error counts
			_ = fsys.remove(tmp.Name())
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
	return fsys.rename(tmp.Name(), path)
}
