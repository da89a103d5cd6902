package definitions_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"skillrouter/definitions"
)

func ExampleLoad() {
	team := fstest.MapFS{
		"deploy/SKILL.md": {Data: []byte("---\nname: deploy\ndescription: Deploys by hand.\n---\nSteps.\n")},
		"notes/SKILL.md":  {Data: []byte("---\nname: notes\ndescription: Takes notes: use in meetings.\n---\nWrite.\n")},
	}
	project := fstest.MapFS{
		"deploy/SKILL.md": {Data: []byte("---\nname: deploy\ndescription: Deploys by CI.\n---\nPush a tag.\n")},
	}
	catalog, err := definitions.Load(context.Background(), []definitions.Root{
		{Path: "team", FS: team},
		{Path: "project", FS: project}, // later wins
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range catalog.Skills {
		fmt.Printf("%s: %s\n", s.Name, s.Description)
	}
	for _, p := range catalog.Problems {
		fmt.Printf("%s: %s\n", p.Severity, p)
	}
	deploy, _ := catalog.Skill("deploy")
	fmt.Print(definitions.Render(deploy, definitions.RenderOptions{}))
	// Output:
	// deploy: Deploys by CI.
	// notes: Takes notes: use in meetings.
	// note: team/deploy/SKILL.md: deploy: this copy is shadowed by project/deploy/SKILL.md, whose root comes later
	// warning: team/notes/SKILL.md:3: unquoted colon in description; the whole text is used
	// [Loaded] deploy
	//
	// Push a tag.
}
