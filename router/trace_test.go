package router_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/index"
	"skillrouter/router"
)

func TestTrace(t *testing.T) {
	ix := exampleCatalog(t)
	r := newRouter(t, ix, nil)
	x := route(t, r, "please write an email about the weather, 要不要带伞")
	got := x.Trace()
	if got.Rule != x.Outcome || got.Threshold != 0.72 || len(got.Domains) != len(ix.Domains()) || got.Embedder != ix.EmbedderID() ||
		got.CatalogSkills != len(ix.Skills()) || got.CatalogDomains != len(ix.Domains()) || got.Generation != 1 || got.Fingerprint != ix.Fingerprint() ||
		got.Fitted != ix.Calibration().Full.Phrases || got.Fitted == 0 {
		t.Errorf("%+v", got)
	}
	keywords, triggers := map[string][]string{}, map[string][]string{}
	for i, d := range got.Domains {
		if d.Domain != x.Domains[i] || d.Evidence == 0 {
			t.Errorf("domain %d is %+v, of the route %+v", i, d.Domain, x.Domains[i])
		}
		if len(d.Keywords) > 0 {
			keywords[d.Name] = d.Keywords
		}
		if len(d.Triggers) > 0 {
			triggers[d.Name] = d.Triggers
		}
	}
	if diff := cmp.Diff(map[string][]string{"Data queries": {"weather"}, "Office & communication": {"email"}}, keywords); diff != "" {
		t.Errorf("keywords (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"Data queries": {"要不要带伞"}, "Office & communication": {"write an email"}}, triggers); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
	if len(got.Terms) == 0 {
		t.Error("no terms")
	}

	hidden, err := r.RouteFor(t.Context(), "write an email, 要不要带伞", func(name string) bool { return name != "email-draft" })
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range hidden.Trace().Domains {
		if d.Name == "Office & communication" && len(d.Triggers) > 0 {
			t.Errorf("triggers of a skill that does not exist for the asker: %q", d.Triggers)
		}
	}
	if got := route(t, r, " ").Trace(); got.Rule != router.Empty || len(got.Domains)+len(got.Terms) > 0 {
		t.Errorf("of a blank utterance: %+v", got)
	}
}

// The scores are explained by the curve that they are from.
func TestTraceFitted(t *testing.T) {
	ix := exampleCatalog(t)
	c := ix.Calibration()
	for _, test := range []struct {
		without   index.Parts
		utterance string
		want      int
	}{
		{0, office, c.Full.Phrases},
		{index.Semantic, office, c.Lexical.Phrases},
		{index.Lexical, office, c.Semantic.Phrases},
		{0, "/git-commit", c.Lexical.Phrases},
	} {
		if got := route(t, newRouter(t, ix, &router.Options{Without: test.without}), test.utterance).Trace().Fitted; got != test.want {
			t.Errorf("without %d, %q: fitted on %d, want %d", test.without, test.utterance, got, test.want)
		}
	}
}
