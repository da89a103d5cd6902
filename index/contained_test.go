package index

import (
	"context"
	"hash/fnv"
	"math"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/definitions"
)

// A letters embedder gives each text a vector of its own.
type letters struct{}

func (letters) ID() string { return "letters/16" }

func (letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vs := make([][]float32, len(texts))
	for i, s := range texts {
		v := make([]float32, 16)
		h := fnv.New32a()
		h.Write([]byte(s))
		angle := float64(h.Sum32()%360) * math.Pi / 180
		v[0], v[1] = float32(math.Sin(angle)), float32(math.Cos(angle))
		vs[i] = v
	}
	return vs, nil
}

func TestIndexContained(t *testing.T) {
	skill := func(name, triggers string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Does " + name + ". Use when asked.\nmetadata:\n  triggers: " + triggers + "\n---\n# x\n")}
	}
	c, err := definitions.Load(t.Context(), []definitions.Root{{Path: "skills", FS: fstest.MapFS{
		"pets/cat-care/SKILL.md": skill("cat-care", "[Cat, 喂猫, feed the cat]"),
		"pets/dog-care/SKILL.md": skill("dog-care", "[dog]"),
		"skillrouter.yaml":       {Data: []byte("domains:\n  - {name: Pets, folder: pets, keywords: [Pet, 宠物]}\n")},
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := Build(t.Context(), c, letters{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ix.Dim() != 16 {
		t.Errorf("Dim() = %d", ix.Dim())
	}
	cat, _ := ix.Lookup("cat-care")
	for _, test := range []struct {
		utterance string
		want      []Contained
	}{
		{"FEED the CAT, my pet", []Contained{{"Cat", cat, -1}, {"feed the cat", cat, -1}, {"Pet", -1, 0}}},
		{"谁来喂猫？宠物饿了", []Contained{{"喂猫", cat, -1}, {"宠物", -1, 0}}},
		{"concatenate the petals", nil},
		{"", nil},
	} {
		if diff := cmp.Diff(test.want, ix.Contained(test.utterance)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.utterance, diff)
		}
	}
}
