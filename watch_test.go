package skillrouter_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"skillrouter"
	"skillrouter/definitions"
	"skillrouter/index"
)

// follow watches r and returns what waits for a change, and for a failure.
func follow(t *testing.T, r *skillrouter.Router, poll time.Duration) (changed func(what string) *index.Changes, failed func(what string) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changes, failures, done := make(chan *index.Changes, 100), make(chan error, 100), make(chan error)
	go func() {
		done <- r.Watch(ctx, &skillrouter.WatchOptions{
			Quiet: 30 * time.Millisecond, Poll: poll,
			Changed: func(c *index.Changes) { changes <- c }, Failed: func(err error) { failures <- err },
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ends with %v", err)
		}
	})
	return func(what string) *index.Changes { t.Helper(); return soon(t, what, changes) },
		func(what string) error { t.Helper(); return soon(t, what, failures) }
}

// edit replaces a file as editors do.
func edit(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

// soon is what comes next.
func soon[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case x := <-c:
		return x
	case <-time.After(30 * time.Second): // far from what it takes
		t.Fatalf("%s: nothing happens", what)
		panic("not reached")
	}
}

// A folder that is not there yet, then edits, broken ones among them (C15, C16).
func TestWatchFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later", "skills")
	r := open(t, &skillrouter.Options{LastGood: definitions.NewLastGood()}, dir)
	changed, _ := follow(t, r, -1)
	generation := r.Generation()
	path := write(t, dir, "soup", soup)
	if c := changed("a skill in a new folder"); !c.Any() {
		changed("the skill in it") // where a busy machine let the folder be seen first
	}
	if first(t, r, "boil vegetables") != "soup" || r.Generation() == generation {
		t.Errorf("generation %d", r.Generation())
	}
	for _, broken := range []string{"---\nname: [soup\n---\n", "\x00\xff"} {
		edit(t, path, broken)
		if c := changed("a broken edit"); c.Any() {
			t.Errorf("a broken edit changes %+v", c)
		}
		if d, err := r.Index().Get("soup"); err != nil || !strings.Contains(d.Core, "Boil water") {
			t.Errorf("the definition while the file is broken: %+v, %v", d, err)
		}
		if ps := r.Problems(); len(ps) == 0 || !strings.Contains(ps[0].What, "stays as it was") {
			t.Errorf("problems: %v", ps)
		}
	}
	edit(t, path, strings.Replace(soup, "Boil water", "Boil milk", 1))
	if c := changed("a good edit"); !slices.Equal(c.Changed, []string{"soup"}) || len(r.Problems()) != 0 {
		t.Errorf("a good edit: %+v, problems %v", c, r.Problems())
	}
	if err := os.RemoveAll(filepath.Join(dir, "soup")); err != nil {
		t.Fatal(err)
	}
	if c := changed("a folder is removed"); !slices.Equal(c.Removed, []string{"soup"}) {
		t.Errorf("removed: %+v", c)
	}
}

func TestWatchOtherPlaces(t *testing.T) {
	dir := t.TempDir()
	list, idx := filepath.Join(dir, "list.jsonl"), filepath.Join(dir, "x.idx")
	lines := `{"skill":"tea","domain":"drinks","description":"Makes tea"}` + "\n"
	put := func(text string) { edit(t, list, text) }
	put(lines)
	reindex(t, idx, nil, list)
	memory := fstest.MapFS{"juice/SKILL.md": {Data: []byte("---\nname: juice\ndescription: Presses oranges for juice\n---\nPress.\n"), ModTime: time.Unix(1, 0)}}
	var mu sync.Mutex
	locked := openFunc(func(name string) (fs.File, error) {
		mu.Lock()
		defer mu.Unlock()
		return memory.Open(name)
	})
	ofList := open(t, nil, list)
	ofIndex := open(t, nil, idx)
	ofMemory := open(t, &skillrouter.Options{FS: map[string]fs.FS{"memory": locked}}, "memory")
	listChanged, _ := follow(t, ofList, -1)
	indexChanged, indexFailed := follow(t, ofIndex, -1)
	memoryChanged, _ := follow(t, ofMemory, 5*time.Millisecond)

	put(lines + `{"skill":"coffee","domain":"drinks","description":"Makes coffee"}` + "\n")
	if c := listChanged("a longer list"); !slices.Equal(c.Added, []string{"coffee"}) {
		t.Errorf("a longer list: %+v", c)
	}
	reindex(t, idx, nil)
	if c := indexChanged("a new index"); !slices.Equal(c.Added, []string{"coffee"}) {
		t.Errorf("a new index: %+v", c)
	}
	if err := os.Remove(idx); err != nil {
		t.Fatal(err)
	}
	if err := indexFailed("the index is gone"); !strings.Contains(err.Error(), "no index any more") || len(ofIndex.Index().Skills()) != 2 {
		t.Errorf("the index is gone: %v, %d skills in use", err, len(ofIndex.Index().Skills()))
	}
	mu.Lock()
	memory["water/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: water\ndescription: Pours water\n---\nPour.\n")}
	mu.Unlock()
	if c := memoryChanged("in memory"); !slices.Equal(c.Added, []string{"water"}) {
		t.Errorf("in memory: %+v", c)
	}
}

type openFunc func(name string) (fs.File, error)

func (f openFunc) Open(name string) (fs.File, error) { return f(name) }

// Routes go on over swaps, each on one index, and none fails.
func TestRoutesOverSwaps(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "soup", soup)
	r := open(t, nil, dir)
	changed, _ := follow(t, r, -1)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				route, err := r.Route(context.Background(), "boil vegetables")
				if err != nil || len(route.Candidates) == 0 || !strings.Contains(route.Prompt(), "soup") {
					t.Errorf("a route over a swap: %v", err)
					return
				}
			}
		})
	}
	for i := range 5 {
		edit(t, path, strings.Replace(soup, "Boil water", "Boil "+strings.Repeat("more ", i+1)+"water", 1))
		changed("an edit")
	}
	close(stop)
	group.Wait()
}

func TestWatchReindex(t *testing.T) {
	dir := t.TempDir()
	skills, idx := filepath.Join(dir, "skills"), filepath.Join(dir, "x.idx")
	path := write(t, skills, "soup", soup)
	ctx, cancel := context.WithCancel(t.Context())
	made, failed, done := make(chan *index.Changes, 100), make(chan error, 100), make(chan error)
	go func() {
		o := &skillrouter.ReindexOptions{Options: skillrouter.Options{LastGood: definitions.NewLastGood()}}
		w := &skillrouter.WatchOptions{Quiet: 30 * time.Millisecond, Poll: -1, Failed: func(err error) { failed <- err }}
		done <- skillrouter.WatchReindex(ctx, idx, o, w, func(r *skillrouter.Reindexed) { made <- r.Changes }, skills)
	}()
	if c := soon(t, "at first", made); !slices.Equal(c.Added, []string{"soup"}) {
		t.Errorf("at first: %+v", c)
	}
	write(t, skills, "bread", bread)
	if c := soon(t, "an edit", made); !slices.Equal(c.Added, []string{"bread"}) {
		t.Errorf("an edit: %+v", c)
	}
	edit(t, path, "---\nname: [\n---\n")
	if c := soon(t, "a broken edit", made); c.Any() {
		t.Errorf("a broken edit: %+v", c)
	}
	if err := os.RemoveAll(skills); err != nil {
		t.Fatal(err)
	}
	if err := soon(t, "the folder is gone", failed); !errors.Is(err, fs.ErrNotExist) {
		t.Logf("on the way: %v", err)
	}
	if ix, err := index.Open(t.Context(), idx, nil); err != nil || len(ix.Skills()) == 0 {
		t.Errorf("the file of a folder that is gone: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ends with %v", err)
	}
}

// A file whose folders are not named is watched as it was built.
func TestWatchReindexAsBuilt(t *testing.T) {
	dir := t.TempDir()
	skills, idx := filepath.Join(dir, "skills"), filepath.Join(dir, "x.idx")
	write(t, skills, "soup", soup)
	write(t, filepath.Join(skills, "too", "deep"), "bread", bread)
	built := &skillrouter.ReindexOptions{Options: skillrouter.Options{Depth: 2, Orders: definitions.Block}, Bundle: true}
	r, err := skillrouter.Reindex(t.Context(), idx, built, skills)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Index.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	made, done := make(chan *index.Changes, 100), make(chan error)
	go func() {
		w := &skillrouter.WatchOptions{Quiet: 30 * time.Millisecond, Poll: 30 * time.Millisecond}
		done <- skillrouter.WatchReindex(ctx, idx, nil, w, func(r *skillrouter.Reindexed) { made <- r.Changes })
	}()
	write(t, skills, "tea", "---\nname: tea\ndescription: Makes tea.\n---\n")
	if c := soon(t, "an edit", made); !slices.Equal(c.Added, []string{"tea"}) {
		t.Errorf("an edit: %+v", c)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ends with %v", err)
	}
	ix, err := index.Open(t.Context(), idx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := ix.Source(); !ix.Bundled() || s.Depth() != 2 || s.Orders() != definitions.Block || len(ix.Skills()) != 2 {
		t.Errorf("bundled %v, depth %d, orders %v, %d skills", ix.Bundled(), s.Depth(), s.Orders(), len(ix.Skills()))
	}
}
