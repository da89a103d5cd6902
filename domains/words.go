package domains

import "strings"

// Words are data in code: a switch is compiled and leaves no package state.

// filler reports whether a word, in lower case, says nothing about what a skill is for
// because skills of all kinds use it of themselves.
func filler(word string) bool {
	switch word {
	case "skill", "skills", "agent's", "user", "users", "user's", "use", "uses", "using", "used", "when", "ask", "asks", "asking", "asked", "mention",
		"mentions", "mentioning", "request", "requests", "trigger", "triggers", "invoke", "auto-activating",
		"help", "helps", "helping", "guide", "guides", "guidance", "guidelines", "best", "practice", "practices", "best-practices", "pattern", "patterns",
		"framework", "frameworks", "toolkit", "comprehensive", "complete", "expert", "experts", "expertise", "specialist", "specialists", "specialized",
		"master", "mastery", "advanced", "professional", "pro", "robust",
		"production", "production-ready", "production-grade", "modern", "effective", "efficient", "efficiently", "high-quality", "quality", "proper",
		"proven", "structured", "detailed", "ready", "actionable", "clear", "common", "key", "core", "deep", "full", "end-to-end", "based", "specific",
		"various", "multiple", "different", "new", "existing", "good", "better", "great", "real", "simple", "custom", "general", "overall", "step-by-step",
		"systematic", "systematically", "automatically", "automatic", "automated", "intelligent", "smart", "powerful", "essential", "critical", "important",
		"relevant", "related", "including", "include", "includes", "included", "across", "via", "within", "without", "through", "between", "into", "per",
		"e.g", "i.e", "etc", "vs", "like", "such", "any", "every", "other", "others", "only", "even", "both", "either", "first", "one", "two", "three",
		"need", "needs", "want", "wants", "work", "works", "working", "workflow", "workflows", "task", "tasks", "tool", "tools", "toolset", "thing",
		"things", "way", "ways", "process", "processes", "step", "steps", "approach", "approaches", "technique", "techniques", "method", "methods",
		"methodology", "methodologies", "principle", "principles", "strategy", "strategies", "solution", "solutions", "capability", "capabilities",
		"feature", "features", "functionality", "support", "supports", "supporting", "cover", "covers", "covering", "provide", "provides", "providing",
		"handle", "handles", "handling", "implement", "implements", "implementing", "implementation", "implementations", "build", "builds", "building",
		"create", "creates", "creating", "creation", "generate", "generates", "generating", "generation", "make", "makes", "making", "manage", "manages",
		"managing", "management", "set", "setup", "setting", "add", "adds", "adding", "run", "runs", "running", "ensure", "ensures", "ensuring", "apply",
		"applies", "applying", "perform", "performs", "performing", "follow", "following", "prepare", "preparing", "plan", "configure", "configuring",
		"configuration", "develop", "developing", "optimize", "optimizing", "optimization", "improve", "improving", "improvement", "improvements", "choose",
		"choosing", "understand", "understanding", "involve", "involves", "involving", "require", "requires", "required", "requirement", "requirements",
		"look", "looking", "start", "starting", "begin", "find", "finding", "check", "checks", "checking", "show", "shows", "turn", "turns", "try", "take",
		"takes", "allow", "allows", "enable", "enables", "enabling", "keep", "keeps", "come", "comes", "contain", "contains", "deal", "dealing", "define",
		"defining", "identify", "identifying", "evaluate", "evaluating", "update", "updating", "write", "writes", "edit", "editing", "read", "reads",
		"reading", "fix", "fixing", "fixes", "provided", "given",
		"experience", "context", "option", "options", "example", "examples", "case", "cases", "type", "types", "level", "levels", "part", "parts", "area",
		"areas", "issue", "issues", "problem", "problems", "result", "results", "output", "outputs", "input", "inputs", "information", "details", "item",
		"items", "set-up", "name", "names", "list", "lists", "time", "times", "day", "days", "people", "someone", "something", "template", "templates",
		"scenario", "scenarios", "component", "components", "system", "systems", "application", "applications", "app", "apps", "project", "projects",
		"resource", "resources", "standard", "standards", "instruction", "instructions", "rule", "rules", "session", "sessions", "current", "latest",
		"version", "versions", "available", "explicitly", "directly", "proactively", "always", "never", "especially", "particularly", "instead", "them",
		"about", "vague", "mode", "modes", "ai-powered", "implement-ready", "style", "integration", "integrations", "integrate", "integrating", "optimizer",
		"analyzer", "organizer", "generator", "builder", "creator", "designer", "reviewer", "manager", "writer", "editor", "processor", "checker",
		"validator", "converter", "planner", "tracker", "runner", "handler", "whenever", "establish", "concept", "concepts", "category", "purpose", "usage",
		"mistakes", "mistake", "tooling", "logic", "documentation", "authorized", "domain", "conducting", "communication", "description", "ideas",
		"measure", "measures", "criteria", "element", "elements", "operation", "operations", "automation", "automate", "automates", "automating", "analyze",
		"analyzes", "analyzing", "review", "reviews", "reviewing", "design", "designs", "designing", "test", "tests", "plans", "planning", "assist",
		"assists", "assistance", "assistant", "advice", "advisor", "helper", "helpers", "format", "formats", "formatting", "discover", "convert",
		"converting", "trigger-phrases", "phrase", "phrases", "keyword", "keywords", "say", "says", "said", "saying", "call", "calls", "load", "loads",
		"fetch", "get", "gets", "go", "goes", "live", "right", "wrong", "more", "less", "most", "many", "much", "large", "small", "long", "short", "high",
		"low", "fast", "slow", "easy", "hard", "similar", "single", "own", "line", "lines", "point", "points", "end", "back", "next", "last", "top", "over",
		"under", "up", "down", "out", "off", "no", "not", "non", "yes", "sure", "well":
		return true
	}
	return false
}

// lastOnly reports whether a word that is a filler by itself makes a good second word of a
// name: "code review".
func lastOnly(word string) bool {
	switch word {
	case "review", "reviews", "design", "testing", "tests", "automation", "management", "planning", "generation", "optimization", "strategy",
		"integration", "development", "operations", "templates", "editing", "improvement", "configuration":
		return true
	}
	return false
}

// vagueAlone reports whether a word is a name only together with another.
func vagueAlone(word string) bool {
	switch word {
	case "data", "code", "content", "file", "files", "text", "model", "models", "service", "services", "platform", "platforms", "product", "products",
		"project", "performance", "technical", "business", "development", "developer", "developers", "engineer", "engineering", "engineers", "software",
		"document", "documents", "programming", "analysis", "research", "report", "reports", "team", "teams", "company", "companies", "customer",
		"customers", "digital", "internal", "external", "online", "local", "user-facing", "architecture", "architectures", "structure", "structures",
		"language", "languages", "library", "libraries", "science", "scientific", "python", "validation", "tracking", "server", "servers", "client",
		"clients", "interface", "state", "environment", "environments", "command", "commands", "agent", "agents", "claude", "ai", "api", "apis", "risk",
		"risks", "page", "pages", "source", "sources", "open-source", "knowledge", "professionals", "visual", "interactive", "personal", "natural", "free",
		"target", "cost", "change", "changes", "error", "errors", "response", "responses", "debug", "effort", "access", "asset", "assets", "standardized",
		"quantitative", "assessment", "assessments", "preparation", "package", "packages", "object", "objects", "settings", "schema", "exploration",
		"discovery", "decision", "decisions", "activity", "activities", "consulting", "consultant", "leadership", "goals", "goal", "growth", "readiness",
		"status", "action", "actions", "rube", "composio", "codex":
		return true
	}
	return false
}

// describing reports whether a word of an English name describes rather than names: it
// cannot stand last.
func describing(word string) bool {
	switch word {
	case "traffic", "music", "logic", "graphic", "topic", "metric", "arithmetic", "medical", "legal", "journal", "proposal", "portal", "signal", "goal",
		"metal", "archive", "drive", "hospital", "capital", "material", "tutorial", "manual", "terminal", "visual", "rehearsal", "approval", "retrieval",
		"fabric", "clinic", "statistic", "academic", "rental", "feed", "seed", "bed", "wed", "speed", "table", "variable", "cable", "public":
		return false
	case "web", "mobile", "social", "open", "secure", "smooth", "native", "senior", "live", "agile", "lean", "strict", "complex", "main", "actual",
		"common":
		return true
	}
	for _, suffix := range [...]string{"able", "ible", "ive", "ful", "ous", "ic", "al", "less", "-ready", "-grade", "-quality", "-driven", "-based", "ly", "ed", "ant", "aware"} {
		if len(word) > len(suffix)+2 && word[len(word)-len(suffix):] == suffix {
			return true
		}
	}
	return false
}

// jargon reports whether a word, in lower case, is known to insiders only: users do not
// say it, so a domain of that name is not found (B8).
func jargon(word string) bool {
	switch word {
	case "nlp", "nlu", "nlg", "llm", "llms", "rag", "etl", "elt", "mcp", "sdk", "cli", "crud", "cdc", "olap", "oltp", "iac", "sre", "devsecops",
		"finops", "mlops", "aiops", "llmops", "okr", "okrs", "kpi", "kpis", "ddd", "tdd", "bdd", "cqrs", "rbac", "abac", "iam", "siem", "soar", "edr",
		"sast", "dast", "cro", "aso", "abm", "icp", "jtbd", "prd", "gtm", "plg", "capa", "qms", "erp", "scm", "plm", "mdm", "dag", "dags", "orm", "dsl",
		"wasm", "ssr", "csr", "emc", "dpa",
		"toolset", "toolbox", "utils", "misc", "toolchain", "middleware", "runtime", "idempotency", "observability", "orchestration", "ontology",
		"scaffolding", "primitives", "telemetry", "heuristics", "subagent", "subagents":
		return true
	}
	return false
}

// hanJargon lists Chinese words of insiders, to be looked for inside a name.
func hanJargon() []string {
	return []string{"工具集", "工具箱", "工具链", "中间件", "原语", "赋能", "闭环", "抓手", "中台", "编排", "可观测", "幂等", "范式", "套件", "脚手架"}
}

// hanFiller reports whether a Chinese term says nothing about what a skill is for.
func hanFiller(term string) bool {
	switch term {
	case "触发词", "用户要求", "触发", "请求", "使用", "用户", "用于", "适用", "适用于", "进行", "支持", "提供", "包括", "包含", "涵盖", "专业", "知识", "指南", "技能", "工具", "实践", "最佳", "最佳实践",
		"模式", "专家", "构建", "创建", "生成", "实现", "处理", "管理", "优化", "设计", "分析", "系统", "任务", "项目", "流程", "自动", "自动化", "通过", "基于", "相关", "需要", "提到", "场景", "功能",
		"完整", "全面", "高级", "能力", "方法", "策略", "框架", "平台", "应用", "开发", "编写", "帮助", "检查", "评估", "审查", "配置", "集成", "执行", "操作", "服务", "专业知识", "体系", "一个", "文件",
		"内容", "数据", "代码", "问题", "解决", "解决方案", "方案", "关键", "核心", "高效", "强大", "快速", "指导", "资深", "精通", "熟练", "用户说", "用户要", "用户需要", "用户提到", "以及", "其他", "不同",
		"自动检测", "检测", "输出", "输入", "格式", "结构", "信息", "工作", "工作流", "团队", "业务", "产品", "技术", "生产", "环境", "参考", "模板", "自定义", "开发者", "开发指南", "使用场景", "更新", "步骤",
		"规则", "标准", "要求", "准备", "模型", "部署", "测试", "性能", "架构", "性能优化", "现代", "组件", "公司", "企业":
		return true
	}
	return false
}

// spelling returns how a word in lower case is written where it is an abbreviation.
func spelling(word string) string {
	switch word {
	case "ai", "api", "pdf", "html", "css", "sql", "ui", "ux", "seo", "hr", "dna", "rna", "usb", "csv", "json", "xml", "url", "vpn", "gps", "crm", "faq",
		"gif", "svg", "sms", "ci", "tv":
		return strings.ToUpper(word)
	case "apis", "pdfs", "urls", "gifs":
		return strings.ToUpper(word[:3]) + "s"
	}
	return word
}
