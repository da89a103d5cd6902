package tools

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter/internal/text"
)

// Words and Han characters a minute, of silent reading and of a talk: middling figures for adults.
const (
	readWords, readHan = 230, 400
	talkWords, talkHan = 130, 220
)

type textStatisticsArguments struct {
	Text string `json:"text"`
}

func textStatistics(a textStatisticsArguments) (string, error) {
	han, punctuation := 0, 0
	for _, r := range a.Text {
		switch {
		case text.IsHan(r):
			han++
		case unicode.IsPunct(r):
			punctuation++
		}
	}
	lines, paragraphs, inside := 0, 0, false
	for line := range strings.Lines(a.Text) {
		lines++
		blank := strings.TrimSpace(line) == ""
		if !blank && !inside {
			paragraphs++
		}
		inside = !blank
	}
	words := text.Words(a.Text)
	seconds := func(perWord, perHan float64) int {
		return int(math.Round(60 * (float64(words-han)/perWord + float64(han)/perHan)))
	}
	return object(struct {
		Characters  int `json:"characters"`
		NoSpaces    int `json:"characters_no_spaces"`
		Words       int `json:"words"`
		Han         int `json:"han_characters"`
		Punctuation int `json:"punctuation"`
		Sentences   int `json:"sentences"`
		Lines       int `json:"lines"`
		Paragraphs  int `json:"paragraphs"`
		Bytes       int `json:"bytes"`
		Reading     int `json:"reading_seconds"`
		Speaking    int `json:"speaking_seconds"`
	}{
		utf8.RuneCountInString(a.Text), text.Len(a.Text), words, han, punctuation, len(text.Sentences(a.Text)),
		lines, paragraphs, len(a.Text), seconds(readWords, readHan), seconds(talkWords, talkHan),
	})
}
