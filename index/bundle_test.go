package index

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestBundle(t *testing.T) {
	fsys := office()
	fsys["travel/trains/fares.md"] = &fstest.MapFile{Data: []byte("Cheap.\n")}
	e := &words{dim: 8}
	o := &Options{Bundle: true}
	ix, err := Build(t.Context(), load(t, fsys), e, o)
	if err != nil {
		t.Fatal(err)
	}
	data := encode(t, ix)
	opened, err := decode(data, "somewhere/else")
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range ix.skills {
		name := ix.skills[i].Name
		if s, err := opened.Get(name); err != nil || s.Hash != ix.skills[i].Hash || s.File != ix.skills[i].File {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if s, err := opened.Get("trains"); err != nil || len(s.Docs) != 1 || !strings.Contains(s.Core, "Asks the timetable") {
		t.Errorf("trains: %+v, %v", s, err)
	}
	if !slices.Equal(encode(t, opened), data) {
		t.Error("written again, it has other bytes")
	}
	// An update sees documents too, and whether there is to be a bundle.
	if same, changes, err := Update(t.Context(), opened, load(t, fsys), e, o); same != opened || changes != nil || err != nil {
		t.Errorf("nothing changed: %+v, %v", changes, err)
	}
	fsys["travel/trains/fares.md"] = &fstest.MapFile{Data: []byte("Dear.\n")}
	if ix, changes, err := Update(t.Context(), opened, load(t, fsys), e, o); ix == opened || changes == nil || changes.Any() || err != nil {
		t.Errorf("a document changed: %+v, %v", changes, err)
	}
	if ix, changes, err := Update(t.Context(), opened, load(t, fsys), e, nil); ix.Bundled() || changes == nil || err != nil {
		t.Errorf("without a bundle: %+v, %v", changes, err)
	}
}
