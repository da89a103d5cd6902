package eval_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"strings"
	"testing/fstest"

	"skillrouter"
	"skillrouter/eval"
	"skillrouter/router"
)

func Example() {
	cases, err := eval.Read(strings.NewReader(`
{"text": "send an email to Ann", "skills": ["send-email"], "kind": "plain"}
{"text": "book a flight to Oslo", "skills": ["book-flight"], "not": ["rent-car"]}
{"text": "what is love", "oos": true}
`), "cases.jsonl")
	if err != nil {
		log.Fatal(err) // all lines that are wrong
	}

	ctx := context.Background()
	r, err := skillrouter.Open(ctx, &skillrouter.Options{
		FS:     map[string]fs.FS{"skills": exampleSkills()},
		Router: router.Options{Mode: router.Layered},
	}, "skills")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	if err := eval.Check(r.Index(), cases); err != nil {
		log.Fatal(err) // names that the catalog does not have, texts that stand twice
	}

	report, err := eval.Run(ctx, r.Router, cases.Cases, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d cases, %d out of scope\n", report.N, report.OutOfScope)
	fmt.Printf("skill hit@1 %.0f %%, without layers %.0f %%\n", 100*report.SkillHit1, 100*report.Flat.SkillHit1)
	fmt.Printf("must-not skills first: %.0f %%; questions expected: %t\n", 100*report.MustNot, report.QuestionRecall.Known())
	for _, row := range report.Rows {
		if why := eval.Astray(row); why != "" {
			fmt.Printf("%s:%d: %s\n", row.Case.File, row.Case.Line, why)
		}
	}
	// Output:
	// 3 cases, 1 out of scope
	// skill hit@1 100 %, without layers 100 %
	// must-not skills first: 0 %; questions expected: false
}

func exampleSkills() fs.FS {
	skills := fstest.MapFS{}
	for path, about := range map[string]string{
		"mail/send-email": "Sends an email with attachments.", "mail/sort-inbox": "Sorts the messages of an inbox.",
		"travel/book-flight": "Books a flight between two cities.", "travel/rent-car": "Rents a car at an airport.",
	} {
		_, name, _ := strings.Cut(path, "/")
		skills[path+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + about + "\n---\nHow to.\n")}
	}
	return skills
}
