package domains

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchemaListsTheKeysOfParseFile asks ParseFile for its keys by giving it one that it
// does not know, and gives it each key of the schema.
func TestSchemaListsTheKeysOfParseFile(t *testing.T) {
	type object struct {
		Properties           map[string]json.RawMessage
		AdditionalProperties any
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		object object
		text   string // KEY stands for the key with its value
	}{
		"the file":    {schema.object, "KEY"},
		"domain":      {schema.Defs["domain"], "domains:\n  - x: 1\n    KEY"},
		"skill":       {schema.Defs["skill"], "skills:\n  s:\n    KEY"},
		"routing":     {schema.Defs["routing"], "routing:\n  KEY"},
		"calibration": {schema.Defs["calibration"], "routing:\n  calibration:\n    slope: 1\n    KEY"},
		"silence":     {schema.Defs["silence"], "lint-off:\n  - x: 1\n    KEY"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.object.AdditionalProperties != false {
				t.Errorf("other properties are allowed")
			}
			_, problems := ParseFile("f", []byte(strings.ReplaceAll(test.text, "KEY", "surely-unknown: 1")))
			var taken []string
			for _, p := range problems {
				if list, ok := strings.CutPrefix(p.Fix, "use one of: "); ok && strings.Contains(p.What, "surely-unknown") {
					taken = strings.Split(list, ", ")
				}
			}
			want := slices.Sorted(slices.Values(taken))
			got := slices.Sorted(maps.Keys(test.object.Properties))
			if name == "domain" { // a second form that messages do not name
				got = slices.DeleteFunc(got, func(key string) bool { return key == "folders" })
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("keys of ParseFile and of the schema differ (-ParseFile +schema):\n%s", diff)
			}
			for key := range test.object.Properties {
				_, problems := ParseFile("f", []byte(strings.ReplaceAll(test.text, "KEY", key+": null")))
				for _, p := range problems {
					if p.Kind == "config-unknown-key" && !strings.Contains(p.What, `"x"`) {
						t.Errorf("ParseFile does not know %s: %s", key, p)
					}
				}
			}
		})
	}
}
