package mcp

import (
	"maps"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/index"
)

// A view is what of an index clients may know of.
type view struct {
	ix     *index.Index
	manual map[string]bool   // skills for people only
	hash   map[string]string // of the others, by name: changes with the file and the line that describes it
}

// view returns that of the index in use.
func (s *Server) view() *view {
	ix := s.r.Index()
	if v := s.seen.Load(); v != nil && v.ix == ix {
		return v
	}
	v := &view{ix: ix, manual: map[string]bool{}, hash: map[string]string{}}
	for i := range ix.Skills() {
		k := &ix.Skills()[i]
		switch {
		case s.o.Allow != nil && !s.o.Allow(k.Name):
		case k.Summary.Manual:
			v.manual[k.Name] = true
		default:
			v.hash[k.Name] = k.Hash + k.Summary.Text
		}
	}
	s.seen.Store(v)
	return v
}

// allow tells whether a skill exists for models.
func (s *Server) allow(name string) bool {
	return !s.view().manual[name] && (s.o.Allow == nil || s.o.Allow(name))
}

// watch looks for changed skills until the server is closed. told is what
// clients know of.
func (s *Server) watch(told *view) {
	tick := time.NewTicker(s.o.Refresh)
	defer tick.Stop()
	for {
		select {
		case <-s.done.Done():
			return
		case <-tick.C:
		}
		if _, err := s.r.Refresh(s.done); err != nil && s.done.Err() == nil {
			s.o.Logger.Warn("looking for changed skills: the last good catalog stays in use", "error", err)
		}
		if now := s.view(); now != told { // whoever refreshed it
			s.announce(told, now)
			told = now
		}
	}
}

// announce tells clients what changed.
func (s *Server) announce(old, now *view) {
	s.o.Logger.Info("skills changed", "skills", len(now.hash)+len(now.manual))
	s.addPrompts(now, old)
	if maps.Equal(old.hash, now.hash) {
		return
	}
	s.addTemplates() // as they were: to the SDK that is a change of resources
	for _, name := range slices.Sorted(maps.Keys(old.hash)) {
		if now.hash[name] == old.hash[name] {
			continue
		}
		// A client that left is no failure.
		_ = s.sdk.ResourceUpdated(s.done, &sdk.ResourceUpdatedNotificationParams{URI: skillURI(name)})
	}
}
