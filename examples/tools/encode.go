package tools

import (
	"crypto/md5" // this and SHA-1 are for checksums that are given in them
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const maxUUIDs = 100

type encodeBase64Arguments struct {
	Text   string `json:"text"`
	Decode bool   `json:"decode"`
	URL    bool   `json:"url"`
}

func encodeBase64(a encodeBase64Arguments) (string, error) {
	encoding := base64.StdEncoding
	if a.URL {
		encoding = base64.RawURLEncoding
	}
	if !a.Decode {
		return encoding.EncodeToString([]byte(a.Text)), nil
	}
	// Padding is often lost when a part is copied, so it is neither needed nor checked.
	compact := strings.TrimRight(strings.Join(strings.Fields(a.Text), ""), "=")
	data, err := encoding.WithPadding(base64.NoPadding).DecodeString(compact)
	if err != nil {
		return "", fmt.Errorf("the text is no Base64: %w; with - or _ in it, set url", err)
	}
	if !utf8.Valid(data) {
		return "no text; bytes in hex: " + hex.EncodeToString(data), nil
	}
	return string(data), nil
}

type hashTextArguments struct {
	Text      string `json:"text"`
	Algorithm string `json:"algorithm"`
}

func hashText(a hashTextArguments) (string, error) {
	data := []byte(a.Text)
	var sum []byte
	switch strings.ToLower(a.Algorithm) {
	case "", "sha256", "sha-256":
		s := sha256.Sum256(data)
		sum = s[:]
	case "sha512", "sha-512":
		s := sha512.Sum512(data)
		sum = s[:]
	case "sha1", "sha-1":
		s := sha1.Sum(data)
		sum = s[:]
	case "md5":
		s := md5.Sum(data)
		sum = s[:]
	default:
		return "", fmt.Errorf("the algorithm %q is not known; there are sha256, sha512, sha1 and md5", a.Algorithm)
	}
	return hex.EncodeToString(sum), nil
}

type newUUIDArguments struct {
	Version int `json:"version"`
	Count   int `json:"count"`
}

// newUUID makes UUIDs as RFC 9562 has them. Those of version 7 from one call are in order: their
// twelve bits after the time count.
func newUUID(a newUUIDArguments) (string, error) {
	if a.Version == 0 {
		a.Version = 4
	}
	if a.Count == 0 {
		a.Count = 1
	}
	if a.Version != 4 && a.Version != 7 {
		return "", fmt.Errorf("version is %d; there are 4 and 7", a.Version)
	}
	if a.Count < 1 || a.Count > maxUUIDs {
		return "", fmt.Errorf("count is %d, it must be 1 to %d", a.Count, maxUUIDs)
	}
	now := time.Now().UnixMilli()
	lines := make([]string, a.Count)
	for i := range lines {
		var u [16]byte
		if _, err := rand.Read(u[:]); err != nil {
			return "", fmt.Errorf("random bytes: %w", err)
		}
		if a.Version == 7 {
			for b := range 6 {
				u[b] = byte(now >> (40 - 8*b))
			}
			u[6], u[7] = byte(i>>8), byte(i)
		}
		u[6] = u[6]&0x0f | byte(a.Version)<<4
		u[8] = u[8]&0x3f | 0x80
		lines[i] = fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
	}
	return strings.Join(lines, "\n"), nil
}
