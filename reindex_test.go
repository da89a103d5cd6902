package skillrouter_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skillrouter"
	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/lockfile"
)

// paid is an embedder that takes its time and counts what it is asked for.
type paid struct {
	mu    sync.Mutex
	id    string
	asked map[string]int
	left  int // batches until it fails; negative: never
	hang  chan<- struct{}
}

func newPaid() *paid { return &paid{id: "paid/4", asked: map[string]int{}, left: -1} }

func (p *paid) ID() string { return p.id }

func (p *paid) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, s := range texts {
		vectors[i] = make([]float32, 4)
		vectors[i][len(s)%4] = 1
	}
	return vectors, nil
}

func (p *paid) EmbedBatches(ctx context.Context, texts []string, done func(at []int, vectors [][]float32) error) error {
	for i, s := range texts {
		if p.left == 0 {
			if p.hang != nil {
				p.hang <- struct{}{}
				select {}
			}
			return errors.New("no more for now")
		}
		p.left--
		p.mu.Lock()
		p.asked[s]++
		p.mu.Unlock()
		vectors, _ := p.Embed(ctx, []string{s})
		if err := done([]int{i}, vectors); err != nil {
			return err
		}
	}
	return nil
}

// TestMain is, in a process of its own, a run that embeds some texts and then
// hangs until it is killed.
func TestMain(m *testing.M) {
	where := os.Getenv("REINDEX_AND_HANG")
	if where == "" {
		os.Exit(m.Run())
	}
	e, hangs := newPaid(), make(chan struct{})
	e.left, e.hang = 7, hangs
	go func() {
		<-hangs
		fmt.Println("hangs")
	}()
	_, err := skillrouter.Reindex(context.Background(), filepath.Join(where, "x.idx"), &skillrouter.ReindexOptions{
		Options: skillrouter.Options{Embedder: e, CacheDir: filepath.Join(where, "cache")},
	}, filepath.Join(where, "skills"))
	fmt.Println("ended:", err)
}

// old gives all files below dir a time that is long past.
func old(t *testing.T, dir string) {
	t.Helper()
	long := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, long, long)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func reindex(t *testing.T, path string, o *skillrouter.ReindexOptions, dirs ...string) *skillrouter.Reindexed {
	t.Helper()
	r, err := skillrouter.Reindex(t.Context(), path, o, dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const bread = "---\nname: bread\ndescription: Bakes bread.\n---\nKnead.\n"

func TestReindex(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	skills, path := filepath.Join(dir, "skills"), filepath.Join(dir, "x.idx")
	write(t, skills, "soup", soup)
	old(t, skills)
	o := &skillrouter.ReindexOptions{Options: skillrouter.Options{CacheDir: cache}}
	r := reindex(t, path, o, skills)
	if !r.Written || !slices.Equal(r.Changes.Added, []string{"soup"}) || len(r.Index.Skills()) != 1 {
		t.Fatalf("first: %+v", r)
	}
	info := func() os.FileInfo {
		i, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	first := info()
	for name, dirs := range map[string][]string{"the same folder": {skills}, "that of the file": nil} {
		if r := reindex(t, path, o, dirs...); r.Written || r.Changes != nil || r.Work.Texts != 0 || len(r.Index.Skills()) != 1 || !os.SameFile(info(), first) {
			t.Errorf("%s, nothing changed: %+v", name, r)
		}
	}
	write(t, skills, "bread", bread)
	dry := *o
	dry.DryRun = true
	if r := reindex(t, path, &dry); r.Index != nil || r.Written || !slices.Equal(r.Changes.Added, []string{"bread"}) || !os.SameFile(info(), first) {
		t.Errorf("dry run: %+v", r)
	}
	if r := reindex(t, path, o); !r.Written || !slices.Equal(r.Changes.Added, []string{"bread"}) || len(r.Index.Skills()) != 2 || os.SameFile(info(), first) {
		t.Errorf("one more: %+v", r)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	afresh := filepath.Join(dir, "y.idx")
	reindex(t, afresh, nil, skills)
	if want, err := os.ReadFile(afresh); err != nil || !slices.Equal(got, want) {
		t.Errorf("the update has other bytes than a build, %v", err)
	}
	if err := os.Remove(filepath.Join(skills, "soup", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if r := reindex(t, path, nil); !slices.Equal(r.Changes.Removed, []string{"soup"}) { // without a cache
		t.Errorf("one less: %+v", r)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left beside the file: %v, %v", left, err)
	}
}

// What is remembered of files is read once even if the index is up to date.
func TestReindexRemembers(t *testing.T) {
	dir := t.TempDir()
	skills, path := filepath.Join(dir, "skills"), filepath.Join(dir, "x.idx")
	file := write(t, skills, "soup", soup)
	old(t, skills)
	o := &skillrouter.ReindexOptions{Options: skillrouter.Options{CacheDir: t.TempDir()}}
	reindex(t, path, o, skills)
	o.LastGood = definitions.NewLastGood()
	if r := reindex(t, path, o, skills); r.Written || o.LastGood.Len() != 1 {
		t.Errorf("nothing changed: %+v, %d files remembered", r, o.LastGood.Len())
	}
	if err := os.WriteFile(file, []byte("---\nname: [\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := reindex(t, path, o, skills); !r.Written || r.Changes.Any() || len(r.Index.Problems()) != 1 {
		t.Errorf("broken: %+v", r)
	}
}

// What must not happen to a file that is there.
func TestReindexLeavesTheFile(t *testing.T) {
	dir := t.TempDir()
	skills, path := filepath.Join(dir, "skills"), filepath.Join(dir, "x.idx")
	write(t, skills, "soup", soup)
	reindex(t, path, nil, skills)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, "notes")
	if err := os.WriteFile(notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, skills, "bread", bread)
	failing := newPaid()
	failing.left = 2
	var other *skillrouter.EmbedderError
	var empty *skillrouter.EmptyError
	var inUse *skillrouter.InUseError
	for _, c := range []struct {
		name string
		path string
		o    skillrouter.ReindexOptions
		dirs []string
		is   func(error) bool
	}{
		{"another embedder", path, skillrouter.ReindexOptions{Options: skillrouter.Options{Embedder: newPaid()}}, []string{skills}, func(err error) bool { return errors.As(err, &other) }},
		{"the embedder fails", path, skillrouter.ReindexOptions{Options: skillrouter.Options{Embedder: failing}, Afresh: true}, []string{skills}, func(err error) bool { return strings.Contains(err.Error(), "no more") }},
		{"a folder is missing", path, skillrouter.ReindexOptions{}, []string{skills, filepath.Join(dir, "none")}, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{"no skill", path, skillrouter.ReindexOptions{}, []string{t.TempDir()}, func(err error) bool { return errors.As(err, &empty) }},
		{"an index for a folder", path, skillrouter.ReindexOptions{}, []string{path}, func(err error) bool { return strings.Contains(err.Error(), "is an index") }},
		{"no index", notes, skillrouter.ReindexOptions{Afresh: true}, []string{skills}, func(err error) bool { return strings.Contains(err.Error(), "no index") }},
		{"nothing known", filepath.Join(dir, "new.idx"), skillrouter.ReindexOptions{}, nil, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
	} {
		if _, err := skillrouter.Reindex(t.Context(), c.path, &c.o, c.dirs...); err == nil || !c.is(err) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	l, err := lockfile.Acquire(t.Context(), filepath.Join(dir, ".x.idx.lock"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skillrouter.Reindex(t.Context(), path, nil, skills); !errors.As(err, &inUse) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("in use: got %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(after, before) {
		t.Errorf("the file is not as it was, %v", err)
	}
	// But whoever waits comes to it.
	waited := ""
	o := &skillrouter.ReindexOptions{Waiting: func(holder string) {
		waited = holder
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}}
	if r := reindex(t, path, o, skills); !r.Written || waited == "" {
		t.Errorf("waited for %q: %+v", waited, r)
	}
	// And one that is torn is made anew, as is one that is to be replaced.
	if err := os.WriteFile(path, before[:len(before)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := reindex(t, path, nil, skills); r.Old == nil || len(r.Index.Skills()) != 2 {
		t.Errorf("torn: %+v", r)
	}
	if r := reindex(t, path, &skillrouter.ReindexOptions{Options: skillrouter.Options{Embedder: newPaid()}, Afresh: true}, skills); r.Changes.Embeds == "" || r.Index.EmbedderID() != "paid/4" {
		t.Errorf("replaced: %+v", r.Changes)
	}
}

// A run that was killed has paid once for what it got: the next one goes on.
func TestReindexAfterAKill(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "skills"), "soup", soup)
	write(t, filepath.Join(dir, "skills"), "bread", bread)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REINDEX_AND_HANG="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 100)
	n, err := out.Read(said)
	if string(said[:n]) != "hangs\n" {
		t.Fatalf("the run says %q, %v", said[:n], err)
	}
	path := filepath.Join(dir, "x.idx")
	e := newPaid()
	o := &skillrouter.ReindexOptions{Options: skillrouter.Options{Embedder: e, CacheDir: filepath.Join(dir, "cache")}}
	var inUse *skillrouter.InUseError
	if _, err := skillrouter.Reindex(t.Context(), path, o, filepath.Join(dir, "skills")); !errors.As(err, &inUse) {
		t.Errorf("while it runs: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half an index is there: %v", err)
	}
	r := reindex(t, path, o, filepath.Join(dir, "skills"))
	if r.Work.Embedded != r.Work.Texts-7 || len(e.asked) != r.Work.Embedded {
		t.Errorf("after 7 texts: %+v", r.Work)
	}
	// Another index with the same texts embeds none.
	other := reindex(t, filepath.Join(dir, "y.idx"), o, filepath.Join(dir, "skills"))
	if other.Work.Embedded != 0 || other.Work.Texts != r.Work.Texts {
		t.Errorf("another index: %+v", other.Work)
	}
}

// Several at once wait for each other, and each leaves a whole file.
func TestReindexAtATime(t *testing.T) {
	dir := t.TempDir()
	skills, path := filepath.Join(dir, "skills"), filepath.Join(dir, "x.idx")
	write(t, skills, "soup", soup)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			o := &skillrouter.ReindexOptions{Options: skillrouter.Options{CacheDir: filepath.Join(dir, "cache")}, Waiting: func(string) {}}
			if _, err := skillrouter.Reindex(t.Context(), path, o, skills); err != nil {
				t.Error(err)
			}
			if _, err := index.Open(t.Context(), path, nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
