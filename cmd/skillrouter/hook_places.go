package main

import (
	"os"
	"path/filepath"
	"slices"

	"skillrouter/index"
)

// hookPlaces are where skills come from.
type hookPlaces struct {
	dirs      []string // absolute
	users     int      // how many of them are the user's, which come first
	project   string   // the trusted folder that the others are of
	untrusted []string // folders of the client's own that are not used
}

// hookPlaces returns the places of --skills, else the user's and those of the
// trusted project around cwd.
func (a *app) hookPlaces(cwd string) (*hookPlaces, error) {
	var err error
	if cwd == "" {
		if cwd, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	if cwd, err = filepath.Abs(cwd); err != nil {
		return nil, err
	}
	p := &hookPlaces{}
	if len(a.set.skills) > 0 {
		for _, dir := range a.set.skills {
			if dir, err = filepath.Abs(dir); err != nil {
				return nil, err
			}
			p.dirs = append(p.dirs, dir)
		}
		p.users = len(p.dirs)
		return p, nil
	}
	users := existing(a.userPlaces())
	p.users = len(users)
	trusted, err := a.readTrusted()
	if err != nil {
		return nil, err
	}
	p.project = trusted.around(cwd)
	own := a.placesAround(cwd)
	if p.project != "" {
		own = existing(projectPlaces(p.project))
	}
	all := existing(slices.Concat(users, own)) // in the home folder both may be the same
	p.dirs = all
	if p.project == "" {
		p.dirs, p.untrusted = all[:p.users], all[p.users:]
	}
	return p, nil
}

// placesAround are the folders of skills of the project that dir is in, which is
// the innermost one that has any, below the user's home.
func (a *app) placesAround(dir string) []string {
	for {
		up := filepath.Dir(dir)
		if dir == a.env("HOME") || up == dir {
			return nil
		}
		if places := existing(projectPlaces(dir)); len(places) > 0 {
			return places
		}
		dir = up
	}
}

// shadowed returns the names of the user's skills that a project's hide.
func (p *hookPlaces) shadowed(ix *index.Index) []string {
	var names []string
	for _, s := range ix.Shadowed() {
		if i, ok := ix.Lookup(s.Name); ok && s.Ref.Root < p.users && ix.Skills()[i].Ref.Root >= p.users {
			names = append(names, s.Name)
		}
	}
	return names
}
