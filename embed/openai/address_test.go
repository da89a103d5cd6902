package openai

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestMetadataAddresses(t *testing.T) {
	tests := []struct {
		address string
		want    bool
	}{
		{"169.254.169.254", true},
		{"169.254.0.23", true},
		{"::ffff:169.254.169.254", true},
		{"::169.254.169.254", true},
		{"64:ff9b::a9fe:a9fe", true},
		{"2002:a9fe:a9fe::1", true},
		{"fe80::1", true},
		{"fe80::1%eth0", true},
		{"febf::1", true},
		{"ff02::1", true},
		{"fd00:ec2::254", true},
		{"fd00:ec2::254%eth0", true},
		{"fd20:ce::254", true},
		{"100.100.100.200", true},
		{"::ffff:100.100.100.200", true},
		{"168.63.129.16", true},
		{"192.0.0.192", true},
		{"127.0.0.1", false},
		{"::1", false},
		{"0.0.0.0", false},
		{"10.0.0.1", false},
		{"192.168.1.10", false},
		{"172.16.0.1", false},
		{"100.100.100.201", false},
		{"fd00:ec2::253", false},
		{"fec0::1", false},
		{"8.8.8.8", false},
		{"64:ff9b::808:808", false},
		{"2606:4700::1111", false},
	}
	for _, test := range tests {
		ip := netip.MustParseAddr(test.address)
		if got := isMetadata(ip); got != test.want {
			t.Errorf("isMetadata(%s) = %v, want %v", test.address, got, test.want)
		}
		var refused *metadataError
		if got := errors.As(checkDial("tcp", netip.AddrPortFrom(ip, 80).String(), nil), &refused); got != test.want {
			t.Errorf("checkDial of %s refuses: %v, want %v", test.address, got, test.want)
		}
	}
	if checkDial("unix", "/run/x.sock", nil) == nil {
		t.Error("checkDial lets an address pass that it cannot read")
	}
}

// What stands in the address is refused before any request.
func TestMetadataInBaseURL(t *testing.T) {
	client := &http.Client{Transport: refusing{t}}
	for _, base := range []string{
		"http://169.254.169.254/latest", "http://[fe80::1]/v1", "http://[fe80::1%25eth0]:80/v1", "http://[::ffff:a9fe:a9fe]/v1",
		"http://100.100.100.200/v1", "https://metadata.google.internal/v1", "http://METADATA.google.internal./v1", "http://metadata/v1",
	} {
		_, err := New(t.Context(), &Options{BaseURL: base, Model: "m", HTTPClient: client})
		if err == nil || !strings.Contains(err.Error(), "link-local or metadata address") {
			t.Errorf("New with %s: error %v, want it refused", base, err)
			continue
		}
		checkHint(t, err)
	}
}

// refusing is a transport that must not be used.
type refusing struct{ t *testing.T }

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("a request went to %s", req.URL)
	return nil, errors.New("not to be used")
}

// A name that leads to a metadata address is refused when it was resolved, and
// not asked for again.
func TestMetadataBehindName(t *testing.T) {
	asked := make(chan string, 100)
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerDNS(server, [4]byte{169, 254, 169, 254}, asked)
		return client, nil
	}}
	c := &fakeClock{}
	_, err := newEmbedder(t.Context(), &Options{
		BaseURL: "http://innocent.test:8000/v1", Model: "m", HTTPClient: newHTTPClient(resolver),
	}, c.clock())
	if err == nil || !strings.Contains(err.Error(), "http://innocent.test:8000/v1 is refused: 169.254.169.254 is a link-local or metadata address") {
		t.Errorf("error %v, want the address refused", err)
	}
	checkHint(t, err)
	if len(asked) == 0 {
		t.Error("the name was not resolved")
	}
	if len(c.slept) != 0 {
		t.Errorf("tried again after %v", c.slept)
	}
}

// answerDNS answers queries for A with ip and others with nothing, in the form
// for streams, until conn is closed.
func answerDNS(conn net.Conn, ip [4]byte, asked chan<- string) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		end := 12 // of the question: its name, its type and its class
		for query[end] != 0 {
			end += 1 + int(query[end])
		}
		end += 5
		asked <- string(query[12:end])
		answer := append([]byte{}, query[:end]...)
		answer[2], answer[3] = 0x81, 0x80                // an answer, without error
		copy(answer[6:], []byte{0, 0, 0, 0, 0, 0})       // one question, nothing else
		if binary.BigEndian.Uint16(query[end-4:]) == 1 { // A
			answer[7] = 1
			answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
			answer = append(answer, ip[:]...)
		}
		binary.BigEndian.PutUint16(size[:], uint16(len(answer)))
		if _, err := conn.Write(append(size[:], answer...)); err != nil {
			return
		}
	}
}

// A redirect is not followed, by a client of the caller's neither.
func TestRedirectReachesNobody(t *testing.T) {
	target := serve(t, good)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, body(status, "", "Location", target.URL+"/v1/embeddings"))
		for _, client := range []*http.Client{nil, {}} {
			_, err := New(t.Context(), &Options{BaseURL: s.URL, Key: testKey, Model: "m", HTTPClient: client})
			if err == nil || !strings.Contains(err.Error(), "redirects") {
				t.Errorf("status %d: error %v, want one of the redirect", status, err)
			}
			checkHint(t, err)
		}
	}
	if n := len(target.seen()); n != 0 {
		t.Errorf("%d requests reached the target", n)
	}
}
