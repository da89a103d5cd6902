package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"skillrouter/agent"
	"skillrouter/definitions"
)

// A remote file system lies behind HTTP, as that of a sandbox does: one call
// lists a folder, one reads a file.
type remote struct {
	base string

	mu    sync.Mutex
	reads []string // files that were read
}

// A node is a file or folder of a remote, and its own FileInfo and DirEntry.
type node struct {
	Base   string `json:"name"`
	Bytes  int64  `json:"size"`
	Folder bool   `json:"folder"`
}

func (n node) Name() string               { return n.Base }
func (n node) Size() int64                { return n.Bytes }
func (n node) IsDir() bool                { return n.Folder }
func (n node) ModTime() time.Time         { return time.Unix(1, 0) }
func (n node) Sys() any                   { return nil }
func (n node) Type() fs.FileMode          { return n.Mode().Type() }
func (n node) Info() (fs.FileInfo, error) { return n, nil }
func (n node) Mode() fs.FileMode {
	if n.Folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

func (r *remote) get(what, name string, into io.Writer) error {
	response, err := http.Get(r.base + "/" + what + "?path=" + url.QueryEscape(name))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return fs.ErrNotExist
	}
	_, err = io.Copy(into, response.Body)
	return err
}

func (r *remote) ReadDir(name string) ([]fs.DirEntry, error) {
	var b bytes.Buffer
	if err := r.get("list", name, &b); err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	var nodes []node
	if err := json.Unmarshal(b.Bytes(), &nodes); err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(nodes))
	for i, n := range nodes {
		entries[i] = n
	}
	return entries, nil
}

func (r *remote) Open(name string) (fs.File, error) {
	if name == "." {
		return &remoteFile{node: node{Base: ".", Folder: true}, remote: r, path: name}, nil
	}
	siblings, err := r.ReadDir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	for _, e := range siblings {
		if e.Name() == path.Base(name) {
			return &remoteFile{node: e.(node), remote: r, path: name}, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// A remoteFile is fetched with the first read.
type remoteFile struct {
	node
	*remote
	path    string
	content *bytes.Reader
}

func (f *remoteFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (*remoteFile) Close() error                 { return nil }

func (f *remoteFile) ReadDir(int) ([]fs.DirEntry, error) { return f.remote.ReadDir(f.path) }

func (f *remoteFile) Read(p []byte) (int, error) {
	if f.content == nil {
		var b bytes.Buffer
		if err := f.get("read", f.path, &b); err != nil {
			return 0, err
		}
		f.content = bytes.NewReader(b.Bytes())
		f.mu.Lock()
		f.reads = append(f.reads, f.path)
		f.mu.Unlock()
	}
	return f.content.Read(p)
}

func serveFiles(t *testing.T, files fs.FS) *remote {
	mux := http.NewServeMux()
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		entries, err := fs.ReadDir(files, r.FormValue("path"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		nodes := []node{}
		for _, e := range entries {
			info, _ := e.Info()
			nodes = append(nodes, node{e.Name(), info.Size(), e.IsDir()})
		}
		_ = json.NewEncoder(w).Encode(nodes)
	})
	mux.HandleFunc("/read", func(w http.ResponseWriter, r *http.Request) {
		data, err := fs.ReadFile(files, r.FormValue("path"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &remote{base: server.URL}
}

// All the loader reads it reads through an fs.FS: a catalog behind HTTP is
// loaded, routed over, and its bodies and documents are read when they are
// needed, without a change to anything.
func TestRemoteCatalog(t *testing.T) {
	files := small()
	far := serveFiles(t, files)
	ix := buildRoots(t, definitions.Root{Path: "https://sandbox/skills", FS: far})
	if n := len(ix.Problems()); n > 0 {
		t.Fatalf("problems: %v", ix.Problems())
	}
	far.reads = nil
	transcript := func(far *remote) string {
		r := newRouter(t, ix, nil)
		if far == nil {
			r = newRouter(t, buildRoots(t, definitions.Root{Path: "https://sandbox/skills", FS: files}), nil)
		}
		h := newHost(t, r, fmt.Sprint(far != nil), &agent.Options{Funcs: funcs(), Strategy: agent.ToolResult})
		h.say("please review my change")
		h.step()
		if far != nil && len(far.reads) > 0 {
			t.Errorf("files were read before a skill was needed: %q", far.reads)
		}
		h.must("loaded: code-review", "skill_load", `{"skill":"code-review","docs":["guide.md"]}`)
		h.must("loaded: calculator", "skill_load", `{"skill":"calculator"}`)
		h.must("3588", "calculate", `{"expression":"156*23"}`)
		request, _ := h.step()
		return asJSON(t, request)
	}
	if there, here := transcript(far), transcript(nil); there != here {
		t.Errorf("behind HTTP:\n%s\nhere:\n%s", there, here)
	}
	for _, name := range far.reads {
		if strings.HasPrefix(name, "web/") {
			t.Errorf("%s was read, which nobody needs; all: %q", name, far.reads)
		}
	}
}

func TestRemoteFileSystem(t *testing.T) {
	files := fstest.MapFS{"a/b.txt": file("hi"), "c.txt": file("")}
	data, err := fs.ReadFile(serveFiles(t, files), "a/b.txt")
	if err != nil || string(data) != "hi" {
		t.Errorf("got %q, %v", data, err)
	}
}
