package summaries

import "strings"

// qualifier reports whether word begins a phrase that a sentence can do without.
func qualifier(word string) bool {
	switch word {
	case "with", "using", "for", "by", "via", "through", "including", "such", "following", "based", "from", "across",
		"that", "which", "while", "where", "when", "without", "so", "based-on", "into", "in", "on", "covering", "plus", "under", "during", "within", "at":
		return true
	}
	return false
}

// hanging reports whether no phrase can end in word: it is a function word, a verb that
// waits for its object, or looks like an adjective that waits for its noun.
func hanging(word string) bool {
	switch word {
	case "a", "an", "the", "and", "or", "of", "to", "in", "on", "for", "with", "by", "from", "at", "as", "is", "are", "be", "its", "their", "your",
		"when", "whenever", "if", "that", "which", "this", "these", "those", "into", "via", "using", "including", "such", "like", "than", "not", "no",
		"asks", "ask", "asking", "mentions", "mention", "wants", "want", "needs", "need", "says", "say", "requests", "user", "users", "you",
		"working", "dealing", "based", "related", "looking", "comes", "use", "used", "uses", "helps", "help", "provides", "other", "any", "all",
		"involving", "creating", "building", "writing", "making", "setting", "between", "about", "should", "can", "must", "will", "it", "they", "how",
		"e.g", "i.e", "e.g.", "i.e.", "both", "either", "guide", "guidance", "starting", "only", "also", "integrating", "interacts", "integrate":
		return true
	}
	for _, suffix := range [...]string{"ed", "able", "ible", "ive", "ful", "ous", "ic", "ical", "ional", "less", "-ready", "-grade", "-quality", "-driven", "-based", "ly"} {
		if len(word) > len(suffix)+2 && word[len(word)-len(suffix):] == suffix {
			return true
		}
	}
	return false
}

// generic reports whether a word says too little to be a trigger on its own.
func generic(word string) bool {
	switch word {
	case "diagram", "visualize", "parsing", "app", "apps", "api", "apis", "application", "applications", "analysis", "analyze", "analyse", "agent", "agents", "automation", "build", "building",
		"bug", "bugs", "browser", "chart", "check", "client", "cloud", "code", "coding", "component", "components", "config", "configuration", "content",
		"context", "create", "creating", "dashboard", "data", "database", "deploy", "deployment", "design", "develop", "development", "doc", "docs", "document",
		"documents", "documentation", "edit", "editing", "email", "error", "errors", "evaluate", "event", "events", "example", "examples", "explain", "export",
		"feature", "features", "file", "files", "fix", "folder", "format", "generate", "generation", "guide", "help", "image", "images", "implement",
		"implementation", "improve", "info", "information", "input", "integration", "issue", "issues", "list", "make", "manage", "management", "message",
		"model", "models", "module", "monitoring", "network", "optimization", "optimize", "output", "page", "pages", "pattern", "patterns", "performance", "plan",
		"planning", "platform", "problem", "problems", "process", "processing", "product", "profile", "project", "projects", "prompt", "query", "question",
		"read", "report", "reports", "request", "research", "resource", "resources", "result", "results", "review", "run", "search", "security", "send", "server",
		"service", "services", "setup", "show", "skill", "skills", "software", "solution", "start", "storage", "strategy", "style", "summary", "support",
		"system", "systems", "table", "task", "tasks", "team", "template", "templates", "test", "testing", "tests", "text", "theme", "tool", "tools", "topic",
		"tracking", "train", "training", "troubleshooting", "update", "use", "user", "users", "validate", "validation", "version", "video", "view", "web", "website", "work",
		"workflow", "workflows", "write", "writing", "etc", "more", "similar", "anything", "something", "one", "others",
		"数据", "文档", "分析", "场景", "使用", "工具", "功能", "项目", "系统", "代码", "开发", "文件", "内容", "任务", "服务", "应用", "管理", "测试",
		"设计", "配置", "优化", "自动化", "问题", "报告", "等等", "其他", "信息", "平台", "流程", "技能", "生成", "创建", "更新", "查询", "搜索", "集成":
		return true
	}
	return false
}

// base turns a gerund that scenes often begin with into the form that users say:
// "creating a chart" becomes "create a chart". ok is false for other words.
func base(gerund string) (verb string, ok bool) {
	stem := strings.TrimSuffix(gerund, "ing")
	switch gerund {
	case "adding", "applying", "auditing", "building", "checking", "cleaning", "converting", "deploying", "designing", "developing",
		"documenting", "drafting", "editing", "establishing", "extracting", "finding", "fixing", "identifying", "implementing", "monitoring", "performing", "processing",
		"publishing", "reading", "refactoring", "researching", "reviewing", "searching", "testing", "tracking", "training", "troubleshooting":
		return stem, true
	case "analyzing", "analysing", "completing", "deciding", "writing", "navigating", "routing", "giving", "exploring", "automating", "calculating", "choosing", "comparing", "configuring", "creating", "defining", "diagnosing",
		"evaluating", "generating", "handling", "improving", "integrating", "investigating", "making", "managing", "migrating",
		"optimizing", "optimising", "organizing", "preparing", "scheduling", "securing", "styling", "summarizing", "summarising", "translating",
		"tuning", "updating", "upgrading", "using", "validating", "visualizing":
		return stem + "e", true
	case "debugging", "planning", "running", "setting", "scanning", "mapping", "shipping":
		return stem[:len(stem)-1], true
	}
	for _, pair := range [...][2]string{
		{"izing", "ize"},
		{"ifying", "ify"},
		{"ating", "ate"},
		{"ucting", "uct"},
		{"ecting", "etc"},
		{"aging", "age"},
		{"ucing", "uce"},
		{"osing", "ose"},
		{"olving", "olve"},
		{"exploring", "explore"},
		{"ishing", "ish"},
		{"essing", "ess"},
		{"orming", "orm"},
	} {
		if head, ok := strings.CutSuffix(gerund, pair[0]); ok && len(head)+len(pair[0]) > 6 {
			return head + pair[1], true
		}
	}
	return "", false
}
