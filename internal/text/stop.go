package text

import "unicode/utf8"

// Stop reports whether term, as [EachTerm] yields it, is a function word that
// says nothing about what is wanted: some 150 English ones, common Chinese
// characters, and pairs of those. Such terms stay in the lexical index, whose
// weights make them cheap; Stop is for counting what an utterance says by
// itself.
func Stop(term []byte) bool {
	r, n := utf8.DecodeRune(term)
	if !IsHan(r) {
		return stopWord(term)
	}
	if n == len(term) {
		return stopHan(r)
	}
	next, _ := utf8.DecodeRune(term[n:])
	return stopHan(r) && stopHan(next) || stopPair(term)
}

// stopWord knows the words in their stemmed form. A switch, not a map: it is
// compiled code, no package state.
func stopWord(term []byte) bool {
	switch string(term) {
	case "a", "about", "after", "again", "all", "also", "am", "an", "and", "ani", "anyon", "anyth", "are", "arent", "as", "at",
		"be", "becaus", "been", "befor", "being", "both", "but", "by",
		"can", "cannot", "cant", "could", "couldnt",
		"did", "didnt", "do", "doe", "doesnt", "doing", "done", "dont",
		"each", "everyth", "for", "from", "get", "give", "go", "going", "gonna", "got",
		"had", "has", "have", "havent", "he", "hello", "help", "her", "here", "hey", "hi", "him", "his", "how",
		"i", "id", "if", "ill", "im", "in", "into", "is", "isnt", "it", "its", "itself", "ive",
		"just", "kind", "know", "let", "like", "make", "may", "me", "might", "mine", "more", "most", "much", "must", "my", "myself",
		"need", "no", "nor", "not", "now", "of", "off", "ok", "okay", "on", "onli", "or", "other", "our", "out", "over", "own",
		"pleas", "put", "realli", "same", "she", "should", "so", "some", "someon", "someth", "such",
		"tell", "than", "thank", "that", "the", "their", "them", "then", "there", "these", "they", "thing", "this", "those", "to", "too",
		"up", "us", "use", "used", "using", "veri", "want", "was", "wasnt", "we", "well", "were", "what", "when", "where", "which", "while", "who", "whose", "whi", "will", "with", "wont", "would", "wouldnt",
		"yes", "yet", "you", "your", "youre", "yours":
		return true
	}
	return false
}

func stopHan(r rune) bool {
	switch r {
	case '的', '地', '得', '了', '着', '过', '吗', '呢', '吧', '啊', '呀', '嘛', '哦', '嗯', '喂',
		'我', '你', '您', '他', '她', '它', '们', '咱', '自', '己',
		'是', '在', '有', '没', '不', '别', '也', '都', '就', '还', '才', '又', '再', '很', '太', '更', '最',
		'和', '与', '跟', '及', '或', '而', '但', '把', '被', '给', '帮', '请', '让', '叫', '使', '对', '向', '从', '到', '于', '以', '为', '因', '由',
		'这', '那', '哪', '些', '个', '一', '么', '什', '怎', '样', '谁', '啥', '几', '该', '其', '之', '所', '如', '若',
		'想', '要', '能', '会', '可', '需', '应', '去', '来', '做', '用', '说':
		return true
	}
	return false
}

// stopPair knows the pairs whose characters alone do say something.
func stopPair(pair []byte) bool {
	switch string(pair) {
	case "一下", "一点", "帮忙", "麻烦", "谢谢", "你好", "您好", "现在", "然后", "知道", "告诉", "希望", "如何", "何时", "多少", "这里", "那里", "哪里", "好的", "好吗", "请问", "关于":
		return true
	}
	return false
}
