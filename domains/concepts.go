package domains

import (
	"maps"
	"slices"
	"strings"

	"skillrouter/internal/text"
)

// concept is a name that people give to a kind of work, with the words that speak for it.
// It names a group whose members agree in what they are for, but not in their words.
type concept struct {
	english, chinese string
	cues             string // English words or pairs, and Chinese ones, separated by commas
}

// concepts lists the kinds of work. A group's own words come first where most members
// share them, so that the list need not be complete.
func concepts() []concept {
	return []concept{
		{"Marketing", "营销推广", "marketing,seo,ads,advertising,campaign,audience,brand,branding,landing page,copywriting,growth,influencer,newsletter,affiliate,referral,conversion,content marketing,ctr,social media,营销,推广,广告,品牌,获客,增长,搜索引擎,社交媒体"},
		{"Sales and customers", "销售与客户", "sales,crm,lead,outreach,prospect,deal,customer success,churn,customer,客户,销售,商机,客服"},
		{"Finance", "财务与投资", "finance,financial,accounting,invoice,budget,tax,valuation,investment,investor,fundraising,revenue,cash flow,cash,pricing,trading,portfolio,stock,财务,投资,股票,交易,估值,税务,会计,发票,预算"},
		{"Business strategy", "经营战略", "ceo,cfo,cto,board,strategy,business model,startup,executive,founder,stakeholder,competitor,market,acquisition,战略,商业,董事会,竞争,创业"},
		{"Careers and hiring", "求职与招聘", "resume,cv,interview,job,hiring,recruiter,salary,career,cover letter,applicant,employee,employment,linkedin,简历,面试,求职,招聘,薪资,职业"},
		{"Legal and contracts", "法律与合同", "legal,law,contract,agreement,nda,litigation,deposition,lawyer,attorney,clause,court,patent,trademark,法律,合同,律师,诉讼,案件,司法,条款,专利,庭审"},
		{"Compliance and privacy", "合规与隐私", "compliance,gdpr,privacy,regulatory,regulation,audit,fda,hipaa,soc,iso,data protection,certification,合规,隐私,监管,法规,审计,认证"},
		{"Security", "安全防护", "security,vulnerability,exploit,penetration,pentest,threat,malware,attack,forensic,encryption,credential,secret,authentication,injection,privilege,hardening,安全,漏洞,攻击,渗透,加密,威胁,取证"},
		{"Cloud and deployment", "云与部署", "cloud,aws,azure,gcp,kubernetes,docker,container,deploy,deployment,terraform,infrastructure,cluster,helm,ci,pipeline,devops,serverless,云服务,部署,容器,运维,集群,基础设施"},
		{"Monitoring and incidents", "监控与故障", "monitoring,alert,alerting,incident,logging,log,metric,tracing,outage,observability,runbook,slo,dashboard,监控,告警,故障,日志,指标"},
		{"Databases", "数据库", "database,sql,postgres,postgresql,mysql,query,index,schema,migration,redis,mongodb,transaction,数据库,索引,查询优化"},
		{"Data analysis", "数据分析", "data analysis,statistics,statistical,dataframe,dataset,regression,visualization,analytics,chart,spreadsheet,excel,pandas,forecast,数据分析,统计,可视化,图表,表格,预测"},
		{"Data pipelines", "数据管道", "data pipeline,data quality,pipeline,dbt,airflow,spark,warehouse,ingestion,transformation,data engineering,streaming,数据管道,数据仓库,数据质量,数据工程"},
		{"Machine learning", "机器学习", "machine learning,deep learning,training,fine-tuning,neural,model training,inference,classification,embedding,pytorch,tensorflow,hyperparameter,机器学习,深度学习,训练,微调,神经网络"},
		{"AI agents and prompts", "智能体与提示词", "llm,prompt,rag,agent,chatbot,multi-agent,retrieval,langchain,vector,openai,hallucination,memory,智能体,提示词,大模型,检索增强,对话"},
		{"Programming", "编程开发", "programming,concurrency,async,typescript,python,rust,golang,java,refactoring,refactor,code,library,compiler,microservice,编程,代码,并发,重构,微服务"},
		{"Testing and debugging", "测试与调试", "testing,test,debugging,debug,bug,unit test,regression,coverage,playwright,tdd,test failure,root cause,测试,调试,缺陷,排查,单元测试"},
		{"Code review and git", "代码审查与版本", "code review,pull request,git,commit,branch,merge,worktree,repository,github,代码审查,提交,分支,合并,仓库"},
		{"Web development", "网页开发", "frontend,react,vue,angular,css,html,website,nextjs,tailwind,web app,javascript,responsive,browser,前端,网页,网站,浏览器,响应式"},
		{"Mobile apps", "移动应用", "mobile,ios,android,swift,swiftui,flutter,react native,app store,kotlin,移动端,移动应用,小程序"},
		{"Interfaces to services", "接口与集成", "api,rest,graphql,endpoint,webhook,oauth,openapi,sdk,integration,接口,集成,网关"},
		{"Payments", "支付", "payment,stripe,checkout,billing,subscription,refund,paypal,pci,支付,结账,订阅,退款,账单"},
		{"Design and images", "设计与图像", "visual design,ui,ux,typography,illustration,image,logo,figma,color,animation,art,infographic,poster,diagram,drawing,gif,设计,图片,插图,封面,海报,配色,动画,信息图,绘图"},
		{"Video and audio", "视频与音频", "video,audio,music,podcast,transcribe,transcription,subtitle,speech,youtube,voice,song,lyric,视频,音频,音乐,字幕,语音,转写,播客"},
		{"Games", "游戏", "game,gameplay,unity,godot,player,multiplayer,unreal,游戏,玩家"},
		{"Writing and content", "写作与内容", "writing,article,blog,copy,story,novel,content,editing,proofread,publish,post,wechat,写作,文章,公众号,博客,文案,小说,发布,改写"},
		{"Documents and office", "文档与办公", "document,pdf,docx,word,slide,presentation,powerpoint,spreadsheet,excel,markdown,report,template,文档,幻灯片,演示,办公,表格"},
		{"Text processing", "文本处理", "translate,translation,summarize,summary,keyword,sentiment,paraphrase,text,翻译,摘要,关键词,情感,润色,文本"},
		{"Email and calendar", "邮件与日程", "email,gmail,inbox,calendar,meeting,schedule,message,slack,reminder,outlook,邮件,日历,会议,日程,消息,提醒"},
		{"Project planning", "项目管理", "sprint,backlog,scrum,agile,jira,roadmap,project,issue,ticket,milestone,kanban,user story,project management,项目,冲刺,需求,看板,排期,路线图"},
		{"Product research", "产品研究", "product,persona,user research,prd,hypothesis,experiment,a/b,prioritize,feedback,customer interview,usability,产品,用户研究,用户画像,实验"},
		{"Files and storage", "文件操作", "file,folder,storage,disk,backup,organize,rename,archive,download,compress,copy,文件,文件夹,存储,磁盘,备份,重命名,压缩,复制"},
		{"Research and papers", "学术研究", "paper,literature,citation,manuscript,peer review,grant,academic,thesis,scientific,hypothesis,publication,bibliography,论文,文献,引用,学术,科研,期刊,参考文献"},
		{"Life science", "生命科学", "protein,gene,genomic,sequencing,rna,dna,molecule,drug,cell,bioinformatics,chemistry,molecular,clinical,基因,蛋白,测序,分子,药物,生物"},
		{"Physics and engineering", "物理与工程", "simulation,physics,quantum,circuit,pcb,mechanical,material,mesh,astronomy,geospatial,numerical,solver,symbolic,仿真,物理,量子,电路,材料"},
		{"Health and fitness", "健康与健身", "health,fitness,nutrition,medical,patient,sleep,diet,exercise,allergy,mental,wellness,workout,健康,健身,营养,医疗,患者,睡眠,饮食,体质"},
		{"Learning and teaching", "学习与教学", "learning,teach,teaching,tutor,course,student,lesson,quiz,education,curriculum,study,学习,教学,课程,学生,教育,考试"},
		{"Travel and shopping", "出行与购物", "travel,flight,hotel,restaurant,shopping,food,recipe,trip,map,order,旅行,航班,酒店,购物,订餐,菜谱,地图"},
		{"External data query", "外部数据查询", "weather,forecast,stock,stock price,quote,parcel,package tracking,shipment,exchange rate,currency,news,lookup,query,天气,股票,股价,快递,物流,汇率,新闻,查询,行情"},
		{"Supply chain", "供应链", "inventory,supply chain,logistics,procurement,warehouse,demand planning,customs,carrier,supplier,manufacturing,production scheduling,库存,采购,物流,供应链,补货,排程,海关,关税,供应商,制造"},
		{"Home and devices", "设备控制", "device,smart home,sensor,robot,iot,firmware,embedded,light,arduino,hardware,设备,智能家居,传感器,机器人,硬件,固件"},
		{"Blockchain", "区块链", "blockchain,smart contract,solidity,crypto,ethereum,web3,defi,nft,token,wallet,区块链,合约,加密货币,钱包"},
		{"Automation of apps", "应用自动化", "composio,rube,zapier,n8n,automate,workflow automation,自动化任务"},
	}
}

// conceptTerms finds who holds each concept: items with its cues in their name, or with
// two of them elsewhere.
func (v *vocabulary) conceptTerms() {
	for _, c := range concepts() {
		weights := make(map[int]float64)
		for cue := range strings.SplitSeq(c.cues, ",") {
			id, ok := v.ids[cueKey(cue)]
			if !ok {
				continue
			}
			for _, i := range v.terms[id].holders {
				weights[i] += v.weight(i, id)
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(weights)), func(w float64) bool { return w >= summaryWeight }) {
			continue
		}
		id := v.id("*"+c.english, conceptWords)
		v.concepts = append(v.concepts, id)
		t := &v.terms[id]
		t.seen, t.last = 1, 1
		t.surfaces[c.english] = 1
		t.chinese = c.chinese
		for i := range v.items {
			if w := weights[i]; w >= summaryWeight {
				t.holders = append(t.holders, i)
				v.items[i] = append(v.items[i], posting{id, min(1, w/2)})
			}
		}
	}
}

// cueKey returns the key of a cue as the vocabulary has it.
func cueKey(cue string) string {
	if first := []rune(cue)[0]; text.IsHan(first) {
		return cue
	}
	words := strings.Fields(cue)
	for i, w := range words {
		words[i] = word(w).stem
	}
	return strings.Join(words, " ")
}

// weight returns how prominent a term is in item i.
func (v *vocabulary) weight(i, id int) float64 {
	for _, p := range v.items[i] {
		if p.term == id {
			return p.weight
		}
	}
	return 0
}
