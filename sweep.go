package skillrouter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Bounds of what Options.CacheDir keeps. What was not used for longest goes
// first; it can be built again.
const (
	keptFor   = 30 * 24 * time.Hour
	keptBytes = 2 << 30 // of indexes; that of 5,600 skills has 41 MB
	tornAfter = time.Hour
)

// use marks a kept index as used, not more often than of use.
func use(path string) {
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > keptFor/30 {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // it is swept a little early
	}
}

// sweep removes what nobody used for long from the folder of kept indexes, and
// what killed runs left. What cannot be removed now is next time.
func sweep(dir string, most int64) {
	now := time.Now()
	older := func(pattern string, age time.Duration) {
		for _, f := range oldestLast(filepath.Join(dir, pattern)) {
			if now.Sub(f.info.ModTime()) > age {
				_ = os.Remove(f.path)
			}
		}
	}
	older(keptPattern, keptFor)
	older(".*.idx.*.tmp", tornAfter)
	older(filepath.Join("state", "*"), 3*keptFor)
	var total int64
	for i, f := range oldestLast(filepath.Join(dir, keptPattern)) {
		if total += f.info.Size(); total > most && i > 0 {
			_ = os.Remove(f.path)
		}
	}
}

// keptPattern is what the names of kept indexes look like.
const keptPattern = "????????????????-????????????????.idx"

// A cached is a file that may be swept.
type cached struct {
	path string
	info fs.FileInfo
}

// oldestLast returns the files that match a pattern, the newest first.
func oldestLast(pattern string) []cached {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	var files []cached
	for _, p := range paths {
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() {
			files = append(files, cached{p, info})
		}
	}
	slices.SortFunc(files, func(a, b cached) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	return files
}

// sweepTorn removes what killed runs left beside an index file that is locked.
func sweepTorn(path string) error {
	var errs []error
	for _, f := range oldestLast(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")) {
		if time.Since(f.info.ModTime()) > tornAfter {
			errs = append(errs, os.Remove(f.path))
		}
	}
	return errors.Join(errs...)
}
