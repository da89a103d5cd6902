package mcp

import "skillrouter/internal/text"

// phrases are the fixed words for models, in one language.
type phrases struct {
	howTo    string // begins the instructions
	noSkills string
	names    string // with the names of skills
	unclear  string // with a question
	loaded   string // with the names of skills that were loaded before
	none     string // nothing fits
	session  string // with the name of the session
	comma    string
}

// phrases follow the language of a text, as those of prompts do.
func (s *Server) phrases(about string) *phrases {
	if s.o.Lang == "zh" || s.o.Lang == "" && text.HanShare(about) >= 0.3 {
		return &phrases{
			howTo: "技能是处理各类任务的说明。用户提出请求时，先用其原话调用 route，它会指出哪些技能适用。" +
				"使用某个技能之前，先按名称调用 skill_load，并按其内容去做。list_skills 和 search_skills 可查看其余技能。",
			noSkills: "目前还没有技能。", names: "技能：%s",
			unclear: "如果仍不清楚用户的需求，请询问：%s", loaded: "仍处于已加载状态：%s。", none: "没有合适的技能。",
			session: "后续调用请传入 session %q。", comma: "、",
		}
	}
	return &phrases{
		howTo: "Skills are instructions for kinds of tasks. When the user asks for something, first call route with what they said, word for word: it tells which skills fit. " +
			"Before you use a skill, call skill_load with its name and follow what it says. list_skills and search_skills show what else there is.",
		noSkills: "There are no skills yet.", names: "Skills: %s",
		unclear: "If it stays unclear what the user wants, ask: %s", loaded: "Still loaded: %s.", none: "No skill fits.",
		session: "Pass session %q with your next calls.", comma: ", ",
	}
}
