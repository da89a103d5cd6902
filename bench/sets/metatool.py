"""MetaTool (ToolE): 199 tools with their real descriptions, queries for one and for two of them.

The source has no domains: DOMAINS is our own, by hand. Queries that the source
gives to several tools are left out. Dev is 1,900 single queries and 100 for two
tools; test is all the rest.
"""

import form

PAIRS = 100  # of dev: utterances that need two tools

DOMAINS = {
    "careers": "JobTool ResumeTool TalentOrg",
    "developer": """
        AI2sql AppyPieAIAppBuilder AutoInfra1 Creaticode_Extension_of_MIT_Scratch RepoTool SSH URLTool WebsiteTool
        cloudflare_radar deployscript hackit_web_scanner hacktrack webhooks website_performance_insights
    """,
    "documents_reference": """
        ChatOCR CranePumpsManuals LawTool PDF&URLTool PDF_Exporter ResearchFinder ResearchHelper
        SummarizeAnything_pr blockatlas exportchat uk_politics universal
    """,
    "education": """
        ABCmouse BookTool CourseTool MemoryTool MixerBox_Translate_AI_language_tutor Talkface_IELTS_Prep search
        speak
    """,
    "finance": """
        AusPetrolPrices CompanyInfoTool CreditYelp ExchangeTool FinanceTool Magnetis QuiverQuantitative
        Tax_Calculator fundsdbsearch ph_ai_news_query portfoliopilot
    """,
    "food_local": "RestaurantBookingTool local recipe_retrieval sakenowa",
    "games": """
        Algorithma ApexMap Checkers Chess CribbageScorer GameTool Puzzle_Constructor Sudoku TicTacToe champdex
        crafty_clues diceroller magi_codex timeport word_sneak
    """,
    "health": "CTCP DietTool Planfit clinical_trial_radar hubbubworld_hubbub_1 mini_habits",
    "home": "HousePurchasingTool HouseRentingTool IndoorPlants",
    "image_design": """
        ArtCollection ChartTool Figlet GifApi ImageSearch MediaModifyTool MemeTool SceneXplain Visla WordCloud
        assetOvi create_qr_code heygen photorealistic placid qreator storybird_stories
    """,
    "lifestyle_spiritual": "CharityTool Dr_Thoths_Tarot Horoscopes_by_Inner_Self StrologyTool aiAgents ai_council hadith mbti",
    "marketing_sales": """
        CarYardBard Google_Ads_Shopping_Microsoft_Ads_pay_per_click KalendarAI RoboAd SEOTool ad4mat bramework
        brandfetch chatspot clearbit_integration competitorppcads dover_outreach find_agency keywordexplorer
        seoanalysis social_media_muse
    """,
    "media_entertainment": """
        Broadway MediaTool NewsTool PodcastTool VideoSummarizeTool lsongai smarttsicketsai video_highlight
        what_to_watch
    """,
    "music_audio": "MusicTool abc_to_audio speechki_tts_plugin uberchord",
    "productivity": """
        DataRetrievalTool EmailByNylas Glowing LarkBaseImporter NotesTool Zapier buildbetter calculator
        chat_with_workspace clinq dart decision_journal form kraftful noteable reflect_notes tailor_erp timemachine
    """,
    "shopping": """
        AbleStyle Bohita Discount GiftTool Man_of_Many ProductComparison ProductSearch Review ShoppingAssistant
        copilot shimmer_daily tira
    """,
    "sports": "Agones keyplays_football ndricks_sports_api talkfpl",
    "travel_transport": """
        C3_Glide MapTool SASpeedCameras SuperchargeMyEV TripAdviceTool TripTool haulingbuddies hdbcarpark
        korea_subway themeparkhipster
    """,
    "weather_space": "AusSurfReport EarthquakeTool NASATool WeatherTool airqualityforeast locator stellarexplorer",
    "web_search": """
        MixerBox_WebSearchG_web_search Now Substack_IQ WebRewind dev internetSearch jini metaphor_search_api
        socialsearch total_query_meta_search_engine web_requests web_scraper wpinteract
    """,
    "writing": "MyWritingCompanion PolishTool copywriter rephrase word_counter",
}


def make(folder, seed=form.SEED, triggers=form.TRIGGERS):
    described = form.read_json(form.source(folder, "plugin_des.json", "dataset/plugin_des.json"))
    domain_of = {tool: domain for domain, tools in DOMAINS.items() for tool in tools.split()}
    tools_of = {}
    path = form.source(folder, "all_clean_data.csv", "dataset/data/all_clean_data.csv")
    for text, tool in form.read_csv(path, "Query", "Tool"):
        tools_of.setdefault(form.clean(text), set()).add(tool)
    pools = {}
    for text, tools in tools_of.items():
        if len(tools) == 1:
            pools.setdefault(*tools, []).append(text)

    made = form.Set("metatool", seed, triggers)
    rest = {}
    for tool, texts in sorted(pools.items()):
        if tool not in described or tool not in domain_of:
            made.leave_out("queries of tools without a description or a domain", tool)
            continue
        rest[tool] = made.skill(tool, domain_of[tool], described[tool], texts)

    pairs = form.read_json(form.source(folder, "multi_tool_query_golden.json", "dataset/data/multi_tool_query_golden.json"))
    pairs = [(p["query"].strip().strip('"'), p["tool"]) for p in pairs if all(t in rest for t in p["tool"])]
    made.rng("pairs").shuffle(pairs)
    rest = made.spread("dev", rest, form.DEV - PAIRS)
    for i, (text, tools) in enumerate(pairs):
        made.add("dev" if i < PAIRS else "test", text, *tools)
    for tool, texts in rest.items():
        for text in texts:
            made.add("test", text, tool)
    return made


if __name__ == "__main__":
    form.run(make, __doc__)
