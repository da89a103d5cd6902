package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/domains"
	"skillrouter/index"
	"skillrouter/internal/atomicfile"
)

// settingsFile is the file of a folder that names its domains.
const settingsFile = "skillrouter.yaml"

// lastPlace is the one that goes before the others of c.
func (c *catalog) lastPlace() string { return c.places[len(c.places)-1] }

// names tells whether a skillrouter.yaml of c names domains.
func (c *catalog) names() bool {
	return slices.ContainsFunc(c.Index().Domains(), func(d domains.Domain) bool { return d.Written })
}

// writable says why there is no skillrouter.yaml of c to write to, if so. yaml tells that
// the command can show the text instead.
func (a *app) writable(c *catalog, all, yaml bool) error {
	built, folder := "name the folders that it was built of with --skills", "name a folder of skills with --skills"
	if yaml {
		folder = "--yaml shows the text, to be put where you like"
		built += "; " + folder
	}
	place := c.lastPlace()
	switch {
	case len(a.set.skills) == 0 && len(c.places) > 1:
		return &useError{fmt.Errorf("which skillrouter.yaml? several folders are used: %s", strings.Join(a.short(c.places), ", ")), "name one with --skills DIR"}
	case index.IsFile(place):
		return &failure{fmt.Errorf("%s is a saved index: no skillrouter.yaml can be put there", place), built}
	case !isFolder(place):
		return &failure{fmt.Errorf("%s is no folder: no skillrouter.yaml can be put there", place), folder}
	case all && c.names():
		return &failure{
			errors.New("a skillrouter.yaml names domains already, with --all each skill would be in an old and a new one: nothing was written"),
			"--all --yaml shows a new file to copy from; without --all, --write adds what nothing files",
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// A draftFile is the skillrouter.yaml that a draft is added to.
type draftFile struct {
	path string
	text []byte // nothing if there is no such file yet
	mode fs.FileMode
}

// readDraftFile reads the skillrouter.yaml of a folder.
func readDraftFile(folder string) (*draftFile, error) {
	file := &draftFile{path: filepath.Join(folder, settingsFile), mode: 0o644}
	info, err := os.Lstat(file.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a link may lead out of the folder, which is not to be trusted
		return nil, &failure{fmt.Errorf("%s is a link or no file: it is not read or written", file.path), "put a file in its place"}
	}
	file.mode = info.Mode().Perm()
	file.text, err = os.ReadFile(file.path)
	return file, err
}

// showDraft writes the skillrouter.yaml of c with s in it. Where there is none to add to, or
// none that can be added to, it is one of s alone.
func (a *app) showDraft(c *catalog, s *suggestion) error {
	file := &draftFile{}
	if !c.builtIn && isFolder(c.lastPlace()) && (!s.all || !c.names()) {
		var err error
		if file, err = readDraftFile(c.lastPlace()); err != nil {
			return err
		}
	}
	text, err := domains.Draft(s.Proposal, file.text)
	if errors.Is(err, domains.ErrNotExtended) {
		fmt.Fprintf(a.err, "%s: %s\nthis is a draft by itself, to copy from\n", clean(file.path), clean(err.Error()))
		text, err = domains.Draft(s.Proposal, nil)
	}
	if err != nil {
		return err
	}
	a.tellNothing(s)
	_, err = a.out.Write(text)
	return err
}

// tellNothing says on stderr why there is nothing to draft, if there is not.
func (a *app) tellNothing(s *suggestion) {
	switch {
	case s.skills == 0:
		fmt.Fprintln(a.err, nothingLeft(s))
	case len(s.Domains) == 0:
		fmt.Fprintln(a.err, tooFew(s))
	}
}

// writeDraft adds s to the skillrouter.yaml of c, and tells what was added.
func (a *app) writeDraft(c *catalog, s *suggestion) error {
	file, err := readDraftFile(c.lastPlace())
	if err != nil {
		return err
	}
	text := file.text
	if len(s.Domains) > 0 { // else a new file would say nothing
		text, err = domains.Draft(s.Proposal, file.text)
	}
	switch {
	case errors.Is(err, domains.ErrNotExtended):
		return &failure{fmt.Errorf("%s: %w: nothing was written", file.path, err), "--yaml shows a draft by itself, to copy from"}
	case err != nil:
		return err
	}
	added := addedLines(string(file.text), string(text))
	if len(added) > 0 {
		err := atomicfile.Replace(file.path, file.mode, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
		if err != nil {
			return fmt.Errorf("writing %s: %w", file.path, err)
		}
	}
	if a.set.json {
		return a.writeSuggestion(s, file.path, added)
	}
	if len(added) == 0 {
		fmt.Fprintf(a.out, "%s: nothing to add\n", clean(file.path))
		a.tellNothing(s)
		return nil
	}
	fmt.Fprintf(a.out, "%s: %s added\n", clean(file.path), plural(len(added), "line"))
	for _, line := range added {
		line = "+ " + line
		if w := a.width(); w > 0 {
			line = cut(line, w)
		}
		fmt.Fprintln(a.out, strings.TrimRight(line, " "))
	}
	fmt.Fprintf(a.err, "edit it as you like; `skillrouter list` shows the domains, `skillrouter domains check` what to mend\n")
	return nil
}

// addedLines returns the lines of after that before, whose lines all are in it, does not
// have.
func addedLines(before, after string) []string {
	var added []string
	old := slices.Collect(strings.Lines(before))
	for line := range strings.Lines(after) {
		line = strings.TrimRight(line, "\r\n")
		if len(old) > 0 && line == strings.TrimRight(old[0], "\r\n") {
			old = old[1:]
			continue
		}
		added = append(added, line)
	}
	return added
}
