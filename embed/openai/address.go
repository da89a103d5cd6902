package openai

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// parseBase returns the address of an endpoint without a slash at its end, or
// says why it cannot be one. What it says does not repeat a password.
func parseBase(s string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return "", errors.New("openai: the base URL is no address such as " + ownBaseURL)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "", fmt.Errorf("openai: the base URL %q is no http or https address such as %s", withoutSecrets(s), ownBaseURL)
	case u.User != nil:
		return "", errors.New("openai: the base URL has a user name in it: only a Key is sent")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("openai: the base URL has a ? or # in it: only host and path can be given")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/embeddings"):
		return "", fmt.Errorf("openai: the base URL %q ends in /embeddings: leave that off", s)
	}
	host := strings.ToLower(strings.TrimRight(u.Hostname(), "."))
	ip, err := netip.ParseAddr(host)
	if isMetadataName(host) || err == nil && isMetadata(ip) {
		return "", fmt.Errorf("openai: the base URL: %w", &metadataError{host})
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// withoutSecrets cuts all that may be a password or a key from an address that
// need not be a right one.
func withoutSecrets(s string) string {
	if query := strings.IndexAny(s, "?#"); query >= 0 {
		s = s[:query] + "…"
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		s = "…" + s[at:]
	}
	return s
}

// A metadataError says that an address belongs to a metadata service or a link,
// where no endpoint is but, in a cloud, the keys of the machine.
type metadataError struct{ address string }

func (e *metadataError) Error() string {
	return fmt.Sprintf("%s is a link-local or metadata address, which is never used", e.address)
}

func (e *metadataError) Hint() string {
	return "set the base URL to the endpoint's own address; loopback and private ones are fine"
}

// isMetadataName tells the names under which clouds offer the service. They
// matter where a proxy resolves them; otherwise the address is looked at.
func isMetadataName(host string) bool {
	switch host {
	case "metadata", "metadata.google.internal", "metadata.goog", "metadata.azure.internal",
		"metadata.tencentyun.com", "instance-data", "instance-data.ec2.internal":
		return true
	}
	return false
}

// isMetadata reports whether ip is link-local or one of the addresses elsewhere
// at which clouds offer their metadata.
func isMetadata(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if v4, ok := embedded(ip); ok && isMetadata(v4) {
		return true
	}
	if ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() {
		return true // AWS, Azure, Google, Oracle and others: 169.254.169.254
	}
	switch ip.String() {
	case "100.100.100.200", // Alibaba
		"168.63.129.16", // Azure's host
		"192.0.0.192",   // Oracle, formerly
		"fd00:ec2::254", // AWS
		"fd20:ce::254":  // Google
		return true
	}
	return false
}

// embedded returns the IPv4 address that an IPv6 address leads to: NAT64
// (RFC 6052), 6to4 (RFC 3056), and the old form ::a.b.c.d.
func embedded(ip netip.Addr) (netip.Addr, bool) {
	if !ip.Is6() {
		return netip.Addr{}, false
	}
	b := ip.As16()
	switch head := [12]byte(b[:12]); {
	case head == [12]byte{}, head == [12]byte{0x00, 0x64, 0xff, 0x9b}:
		return netip.AddrFrom4([4]byte(b[12:])), true
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

// newHTTPClient returns a client that looks at each address after its name was
// resolved and before it is dialled. A nil resolver is the machine's.
func newHTTPClient(resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: resolver, Control: checkDial}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 32, // turns come side by side
	}}
}

func checkDial(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dialling %q: %w", address, err)
	}
	if isMetadata(to.Addr()) {
		return &metadataError{to.Addr().String()}
	}
	return nil
}

// A doer sends requests as go-openai makes them. It follows no redirect, which
// would carry key and texts to an address that nobody chose, and bounds answers.
type doer struct {
	client *http.Client
	limit  int64 // bytes of an answer
}

// newDoer wraps a copy of client.
func newDoer(client *http.Client, limit int64) *doer {
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &doer{&c, limit}
}

// Do implements the HTTPDoer of go-openai.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode >= 400:
		resp.Body = &answerBody{io.LimitReader(resp.Body, 64<<10), resp.Body}
	case resp.StatusCode >= 300: // no failure to go-openai, which would read a vector from it
		location := "nowhere"
		if to, err := resp.Location(); err == nil {
			location = to.Scheme + "://" + to.Host + to.EscapedPath()
		}
		_ = resp.Body.Close() // nothing in it is of interest
		return nil, &redirectError{resp.StatusCode, location}
	default:
		resp.Body = &answerBody{http.MaxBytesReader(nil, resp.Body, d.limit), resp.Body}
	}
	return resp, nil
}

type redirectError struct {
	status int
	to     string
}

func (e *redirectError) Error() string {
	return fmt.Sprintf("redirects (%d) to %s, which is not followed", e.status, e.to)
}

// An answerBody reads what little may stand behind the JSON before it closes:
// else the connection could not be used again.
type answerBody struct {
	io.Reader
	body io.Closer
}

func (b *answerBody) Close() error {
	_, _ = io.CopyN(io.Discard, b.Reader, 4<<10) // the answer has been read by now
	return b.body.Close()
}
