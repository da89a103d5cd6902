package domains

import (
	"strings"
	"unicode/utf8"

	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// tagLength is how long a tag is at most, in characters for Chinese.
const tagLength = 12

// tag returns what a skill does as verb and object, "draft contracts" or "查询天气" (B10),
// from its sentence or a trigger. Where nothing begins with a verb, ok is false and the tag
// is what the skill is about: its capability or its name.
func tag(it *Item) (t string, ok bool) {
	var texts []string
	if it.Summary != nil {
		texts = append(texts, it.Summary.Text)
		texts = append(texts, it.Summary.Triggers...)
	} else {
		texts = append(texts, it.Description)
	}
	for _, s := range texts {
		if t := verbObject(s); t != "" {
			return t, true
		}
	}
	if it.Summary != nil {
		if s := summaries.Gist(it.Summary, tagLength); s != "" {
			return uncapital(pithy(s)), false
		}
	}
	return spoken(it.Name), false
}

// verbObject returns the verb that s begins with and its object; "" if it begins otherwise.
func verbObject(s string) string {
	if isChinese(s) {
		return hanVerbObject(s)
	}
	const (
		skipped = 5 // words between verb and object that only describe
		longest = 3 // words of an object
	)
	verb, rest, _ := strings.Cut(s, " ")
	verb = imperative(strings.ToLower(verb))
	if verb == "" || verb == "master" { // "master X" says what the model is to be, not what is done
		return ""
	}
	var object []string
	left := 0
	for w := range strings.FieldsSeq(rest) {
		bare := strings.TrimRight(w, ",;:.)!?…")
		lower := strings.ToLower(bare)
		function := bare == "" || strings.ContainsAny(bare, "(\"“—/") || linking(lower)
		switch {
		case function && len(object) > 0, function && !article(lower):
			return tagOf(verb, object)
		case len(object) == 0 && left < skipped && (article(lower) || '0' <= lower[0] && lower[0] <= '9' || filler(lower) && describing(lower) || praise(lower)):
			left++
		default:
			object = append(object, bare)
		}
		if len(object) == longest || len(object) > 0 && bare != w {
			break
		}
	}
	return tagOf(verb, object)
}

// tagOf joins verb and object, without words at the end that wait for another.
func tagOf(verb string, object []string) string {
	for len(object) > 0 && describing(strings.ToLower(object[len(object)-1])) {
		object = object[:len(object)-1]
	}
	if len(object) == 0 {
		return ""
	}
	t := verb + " " + strings.Join(object, " ")
	if text.Len(t) > 3*tagLength {
		return ""
	}
	return t
}

// imperative returns the plain form of a verb that capabilities often begin with; "" for
// other words.
func imperative(word string) string {
	switch word {
	case "automates", "automating":
		return "automate"
	case "creating":
		return "create"
	case "analyzes", "analyzing", "analyse", "analyses", "analysing":
		return "analyze"
	}
	if commonVerb(word) {
		if strings.HasSuffix(word, "ss") {
			return word
		}
		return strings.TrimSuffix(word, "s")
	}
	if stem, ok := strings.CutSuffix(word, "es"); ok && commonVerb(stem) {
		return stem
	}
	if stem, ok := strings.CutSuffix(word, "ing"); ok && len(stem) > 2 {
		for _, verb := range [...]string{stem, stem + "e", stem[:len(stem)-1]} {
			if commonVerb(verb) {
				return verb
			}
		}
	}
	return ""
}

// article reports whether a word, in lower case, stands before an object.
func article(word string) bool {
	switch word {
	case "a", "an", "the", "your", "their", "its", "any", "all", "this", "these", "up", "of":
		return true
	}
	return false
}

// linking reports whether a word, in lower case, ends an object.
func linking(word string) bool {
	switch word {
	case "and", "or", "with", "for", "from", "to", "in", "on", "by", "via", "using", "that", "which", "when", "into", "as", "at", "including", "through", "across", "based", "against", "between", "about", "&", "-", "–", "—", "is", "are", "covering", "how", "what", "whether", "if", "it", "them", "such", "without", "before", "after", "where", "who", "over", "under", "whose", "within", "during", "per", "than":
		return true
	}
	return article(word)
}

// praise reports whether a word, in lower case, only praises the object that follows.
func praise(word string) bool {
	switch word {
	case "robust", "comprehensive", "production", "production-ready", "production-grade", "complete", "detailed", "professional", "structured", "high-quality", "efficient", "effective", "modern", "distinctive", "beautiful", "compelling", "personalized", "clear", "polished", "proper", "new", "full", "custom", "advanced", "intelligent", "multiple", "various", "competitive", "systematic", "scalable", "secure", "powerful", "simple", "existing", "better", "best":
		return true
	}
	return false
}

// hanVerbObject returns the first clause of a Chinese text where it is short and begins
// with a verb.
func hanVerbObject(s string) string {
	if i := strings.IndexAny(s, "，、；。：,;:（(—"); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimSpace(s)
	if text.Len(s) < 3 || text.Len(s) > tagLength {
		return ""
	}
	for _, verb := range [...]string{
		"查询", "检索", "搜索", "查找", "撰写", "编写", "写", "生成", "创建", "制作", "起草", "审查", "审核", "分析", "评估", "优化", "设计", "构建", "翻译", "提取", "转换", "发布", "管理", "处理",
		"整理", "规划", "部署", "配置", "测试", "调试", "检查", "诊断", "监控", "识别", "预测", "计算", "比较", "总结", "改写", "润色", "下载", "上传", "发送", "安排", "预订", "自动化", "开发", "实现", "集成", "迁移", "重构", "学习", "准备", "收集", "抓取", "解析", "绘制", "录制", "转写", "跟踪", "追踪", "订阅", "支付", "播放", "控制", "合并", "拆分", "压缩", "备份", "恢复",
	} {
		if strings.HasPrefix(s, verb) && utf8.RuneCountInString(s) > utf8.RuneCountInString(verb) {
			return s
		}
	}
	return ""
}
