package router

import (
	"slices"
	"testing"
	"testing/fstest"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/index"
)

// topical is a session over domains that are far apart.
func topical(t *testing.T) *Session {
	t.Helper()
	fsys := fstest.MapFS{}
	for path, description := range map[string]string{
		"Mail/send-mail":       "Sends an email to a recipient. Use when an email is to be sent.",
		"Mail/read-mail":       "Reads the emails in the inbox. Use when new email is to be read.",
		"Mail/sort-mail":       "Sorts emails into folders. Use when the inbox of email is a mess.",
		"Weather/forecast":     "Tells the weather forecast. Use when rain, sun or snow is asked for.",
		"Weather/storm-alert":  "Warns of storms in the weather. Use when a storm or hail may come.",
		"Cooking/find-recipe":  "Finds a recipe for a dish. Use when something is to be cooked for dinner.",
		"Cooking/bake-a-bread": "Bakes bread of flour and yeast. Use when a loaf is to be baked.",
	} {
		name := path[slices.Index([]byte(path), '/')+1:]
		fsys[path+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + description + "\n---\n" + description + "\n")}
	}
	c, err := definitions.Load(t.Context(), []definitions.Root{{Path: "skills", FS: fsys}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := embed.New()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.Build(t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(ix, e, &Options{Mode: Layered, Threshold: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Session(t.Name(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func topicsNow(t *testing.T, s *Session) []topic {
	t.Helper()
	var topics []topic
	if err := s.view(t.Context(), func(t *turn) { topics = t.st.Topics }); err != nil {
		t.Fatal(err)
	}
	return topics
}

// A task that ends with a match elsewhere is forgotten as one that is ended.
func TestSwitchForgetsTheSubject(t *testing.T) {
	s := topical(t)
	if _, err := s.Load(t.Context(), "send-mail"); err != nil {
		t.Fatal(err)
	}
	r, err := s.Route(t.Context(), "tell me the weather forecast: will there be rain, sun or snow tomorrow?")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Events, func(e Event) bool { return e.Rule == "switch" }) {
		t.Fatalf("no switch: %+v", r.Events)
	}
	if got := topicsNow(t, s); !slices.Equal(got, []topic{{"Weather", 1, 1}}) {
		t.Errorf("after the switch the dialogue is about %v", got)
	}
}

// Loading a domain is one decision, however many skills it has.
func TestLoadDomainSaysOnceWhatItIsAbout(t *testing.T) {
	s := topical(t)
	if err := s.Choose(t.Context(), "Weather"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LoadDomain(t.Context(), "Mail", "all of it is needed"); err != nil {
		t.Fatal(err)
	}
	want := []topic{{"Mail", 1, 0.3}, {"Weather", 0, 0.7}}
	if got := topicsNow(t, s); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Of skills that are named together, each domain is a subject.
func TestNamedSkillsAreAllTheSubject(t *testing.T) {
	s := topical(t)
	if _, err := s.Route(t.Context(), "use send-mail and storm-alert"); err != nil {
		t.Fatal(err)
	}
	got := topicsNow(t, s)
	if len(got) != 2 || got[0].Last != 0.5 || got[1].Last != 0.5 {
		t.Errorf("got %v, want both domains", got)
	}
}
