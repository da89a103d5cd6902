"""MetaTool (ToolE): 199 tools with their real descriptions, queries for one and for two of them.

The source has no domains: a file domains.json beside its own names them, else
there is one. Queries that the source gives to several tools are left out. Dev is
1,900 single queries and 100 for two tools; test is all the rest.
"""

import os

import form

PAIRS = 100  # of dev: utterances that need two tools

ONE = "tools"  # domain of all where there is no domains.json


def domains(folder):
    """Domain by tool: of domains.json in the input folder, an object of lists of tools, which is yours to make."""
    path = os.path.join(folder, "domains.json")
    if not os.path.exists(path):
        return {}
    return {tool: domain for domain, tools in form.read_json(path).items() for tool in tools}


def make(folder, seed=form.SEED, triggers=form.TRIGGERS):
    described = form.read_json(form.source(folder, "plugin_des.json", "dataset/plugin_des.json"))
    domain_of = domains(folder)
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
        if tool not in described or domain_of and tool not in domain_of:
            made.leave_out("queries of tools without a description or a domain", tool)
            continue
        rest[tool] = made.skill(tool, domain_of.get(tool, ONE), described[tool], texts)

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
