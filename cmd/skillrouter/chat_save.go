package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/eval"
)

// A saidTurn is an utterance and what the host did after it.
type saidTurn struct {
	user         string
	loaded, used []string
	chosen       string // domain
	ended        bool   // the task
}

// note adds what the host did to the turn under way, if there is one.
func (ch *chat) note(add func(t *saidTurn)) {
	if n := len(ch.said); n > 0 {
		add(&ch.said[n-1])
	}
}

// takeBack undoes the last load of a skill that did not fit after all, and its
// use in the turn under way. One that was used in an earlier turn fitted then.
func (ch *chat) takeBack(skill string) {
	is := func(name string) bool { return name == skill }
	for i := len(ch.said) - 1; i >= 0; i-- {
		t := &ch.said[i]
		switch {
		case i == len(ch.said)-1:
			t.used = slices.DeleteFunc(t.used, is)
		case slices.Contains(t.used, skill):
			return
		}
		if slices.Contains(t.loaded, skill) {
			t.loaded = slices.DeleteFunc(slices.Clone(t.loaded), is) // it may be an event's
			return
		}
	}
}

// A savedDialogue is a dialogue as [eval.ReadDialogues] reads it.
type savedDialogue struct {
	ID    string      `json:"id"`
	Index string      `json:"index"`
	Turns []savedTurn `json:"turns"`
}

type savedTurn struct {
	User    string   `json:"user"`
	Domains []string `json:"domains"`
	Skills  []string `json:"skills"`
	Event   string   `json:"event,omitempty"`
}

// dialogue is what was said so far. What the host loaded, used or chose counts as
// right: it labels the turn in which that was done.
func (ch *chat) dialogue(id string) savedDialogue {
	ix := ch.c.Index()
	d := savedDialogue{ID: id, Index: fmt.Sprintf("%.12s", ix.Fingerprint())}
	var needed []string // in the turns before
	for _, t := range ch.said {
		out := savedTurn{User: t.user, Domains: []string{}, Skills: []string{}}
		for _, name := range slices.Concat(t.loaded, t.used) {
			place, ok := ix.Lookup(name)
			if !ok || slices.Contains(out.Skills, name) || len(ix.DomainsOf(place)) == 0 {
				continue // a skill of no domain is no label
			}
			out.Skills = append(out.Skills, name)
			for _, i := range ix.DomainsOf(place) {
				if domain := ix.Domains()[i].Name; !slices.Contains(out.Domains, domain) {
					out.Domains = append(out.Domains, domain)
				}
			}
		}
		if len(out.Skills) == 0 && t.chosen != "" {
			out.Domains = append(out.Domains, t.chosen)
		}
		again := func(name string) bool { return slices.Contains(needed, name) }
		switch {
		case t.ended:
			out.Event = eval.EventTaskEnd
		case len(t.loaded) > 0:
			out.Event = eval.EventLoad
		case slices.ContainsFunc(t.used, again):
			out.Event = eval.EventFollowUp
		}
		needed = append(needed, out.Skills...)
		d.Turns = append(d.Turns, out)
	}
	return d
}

// save adds the dialogue to a file of dialogues, which need not be there.
func (ch *chat) save(path string) error {
	if len(ch.said) == 0 {
		return errors.New("/save: nothing was said yet")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && ch.a.env("HOME") != "" {
		path = filepath.Join(ch.a.env("HOME"), rest) // no shell has seen it
	}
	old, err := readDialogueFile(path)
	if err != nil {
		return &failure{fmt.Errorf("/save: %w", err), "name a new file, or one that `skillrouter replay` reads"}
	}
	taken := map[string]bool{}
	for _, d := range old.dialogues {
		taken[d.ID] = true
	}
	n := 1
	for taken[fmt.Sprintf("chat-%d", n)] {
		n++
	}
	d := ch.dialogue(fmt.Sprintf("chat-%d", n))
	var line bytes.Buffer
	if old.cut {
		line.WriteByte('\n')
	}
	if err := writeJSON(&line, d, false); err != nil {
		return err
	}
	if _, err := eval.ReadDialogues(bytes.NewReader(line.Bytes()), path); err != nil {
		return fmt.Errorf("/save: the dialogue could not be read again: %w", err)
	}
	if err := appendFile(path, line.Bytes()); err != nil {
		return fmt.Errorf("/save: %w", err)
	}
	labelled := 0
	for _, t := range d.Turns {
		if len(t.Domains) > 0 {
			labelled++
		}
	}
	labels := fmt.Sprintf("%d labelled by what was loaded, used or chosen", labelled)
	if labelled == 0 {
		labels = "none labelled: nothing was loaded, used or chosen"
	}
	fmt.Fprintf(ch.a.out, "   saved as %s: %s, %s\n", d.ID, plural(len(d.Turns), "turn"), labels)
	fmt.Fprintf(ch.a.out, "   in %s, where `skillrouter replay` reads it\n", clean(path))
	return nil
}

// A dialogueFile is what a file holds already.
type dialogueFile struct {
	dialogues []eval.Dialogue
	cut       bool // its last line has no end
}

func readDialogueFile(path string) (dialogueFile, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dialogueFile{}, nil
	case err != nil:
		return dialogueFile{}, err
	case !info.Mode().IsRegular():
		return dialogueFile{}, fmt.Errorf("%s is no file", path)
	}
	data, err := os.ReadFile(path)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return dialogueFile{}, err
	}
	dialogues, err := eval.ReadDialogues(bytes.NewReader(data), path)
	return dialogueFile{dialogues, data[len(data)-1] != '\n'}, err
}

func appendFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
