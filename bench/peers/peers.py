"""Measures peers of skillrouter on labelled sets, and sets skillrouter's own figures beside them.

    python bench/peers/peers.py --sets DIR --cache DIR [--skillrouter LABEL=FILE ...] [--json FILE] [name ...]

Prints one Markdown table. README.md says what is measured and how to install.
"""

import os

# Before numpy is loaded: one thread for all.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import platform
import sys
import time
from importlib.metadata import version

import encoders
import metrics
import rankers

TIMED = 100  # utterances of a set whose time is taken
RUNS = 3  # of each the fastest counts


def read_jsonl(path):
    with open(path, encoding="utf8") as f:
        return [json.loads(line) for line in f if line.strip()]


def read_set(folder, queries):
    catalog = read_jsonl(os.path.join(folder, "catalog.jsonl"))
    for skill in catalog:
        skill.setdefault("triggers", [])
    rows = read_jsonl(os.path.join(folder, queries))
    known = {s["skill"] for s in catalog}
    missing = sorted({s for r in rows for s in r["skills"]} - known)
    if missing:
        sys.exit(f"{folder}: {queries} names skills that catalog.jsonl does not hold: {', '.join(missing[:5])}")
    return catalog, rows


def spread(rows, n):
    """At most n rows, evenly spaced."""
    step = max(len(rows) / n, 1)
    return [rows[int(i * step)] for i in range(min(n, len(rows)))]


class Live:
    """An encoder without its cache, so that the time of an embedding counts."""

    def __init__(self, cached):
        self.cached = cached
        self.name = cached.name
        self.live = False

    def encode(self, text):
        return self.cached.encoder.encode(text) if self.live else self.cached.encode(text)


def peers(live):
    """Constructors of the rankers, in the order of the table; each takes a catalog."""
    all_of_them = [lambda catalog: rankers.BM25(catalog)]
    for encoder in live:
        all_of_them += [
            lambda catalog, e=encoder: rankers.Cosine(catalog, e, rankers.described),
            lambda catalog, e=encoder: rankers.Cosine(catalog, e),
            lambda catalog, e=encoder: rankers.SemanticRouter(catalog, e),
            lambda catalog, e=encoder: rankers.SemanticRouter(catalog, e, "max", 50),
        ]
    return all_of_them


def measure(ranker, catalog, rows, live, timed=TIMED):
    """Figures of a ranker, and its median microseconds of processor time an utterance, embedding included."""
    took = []
    for encoder in live:
        encoder.live = True
    for row in spread(rows, timed):
        runs = []
        for _ in range(RUNS):
            # Processor time: the clock would also count what else the machine does meanwhile.
            start = time.process_time()
            ranker.rank(row["text"])
            runs.append(time.process_time() - start)
        took.append(min(runs))
    for encoder in live:
        encoder.live = False
    rankings = [ranker.rank(row["text"])[:5] for row in rows]
    domain_of = {s["skill"]: s["domain"] for s in catalog}
    return {**metrics.figures(rows, rankings, domain_of), "us": metrics.median(took) * 1e6}


def own_rows(label, path):
    """Rows from what `go run ./bench/accuracy -json` prints, by set."""
    out = {}
    for line in read_jsonl(path):
        report = line["report"]
        us = report["latency_p50_us"] if "latency_p50_us" in report else report["latency_p50_ns"] / 1e3
        out[line["set"]] = {
            "peer": label,
            "hit@1": report["skill_hit@1"],
            "hit@5": report["skill_hit@5"],
            "domain_hit@1": report["domain_hit@1"],
            # 0 or null where a set has no row out of scope.
            "auroc": report["abstain_auroc"] or None,
            "us": us,
        }
    return out


def machine():
    cpu = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf8") as f:
            cpu = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), cpu)
    except OSError:
        pass  # not Linux
    return f"{cpu}, Python {platform.python_version()}"


def markdown(result):
    def percent(x):
        return "–" if x is None else f"{100 * x:.1f}"

    lines = [
        "| set | skills | utterances | router | hit@1 | hit@5 | domain hit@1 | AUROC | µs |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    last = None
    for r in result["rows"]:
        head = [r["set"], f"{r['skills']:,}", f"{r['utterances']:,}"] if r["set"] != last else ["", "", ""]
        last = r["set"]
        # In a set of one domain its hit says nothing.
        domain = percent(r["domain_hit@1"]) if r["domains"] > 1 else "–"
        cells = [r["peer"], percent(r["hit@1"]), percent(r["hit@5"]), domain, percent(r["auroc"]), f"{r['us']:,.0f}"]
        lines.append("| " + " | ".join(head + cells) + " |")
    versions = ", ".join(f"{name} {v}" for name, v in result["versions"].items())
    lines += ["", f"{result['machine']}; one thread; {versions}."]
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sets", required=True, help="folder of sets, each with catalog.jsonl and the file of --queries")
    parser.add_argument("--queries", default="queries-dev.jsonl", help="file of labelled utterances in each set")
    parser.add_argument("--cache", required=True, help="folder that keeps vectors between runs")
    parser.add_argument("--skillrouter", action="append", default=[], metavar="LABEL=FILE", help="output of go run ./bench/accuracy -json; may repeat")
    parser.add_argument("--encoders", default="minilm,use", help="comma list of minilm, use")
    parser.add_argument("--json", help="write the result to this file too")
    parser.add_argument("names", nargs="*", help="sets; none means all")
    args = parser.parse_args(argv)

    own = []
    for pair in args.skillrouter:
        label, equals, path = pair.partition("=")
        if not equals:
            parser.error(f"--skillrouter {pair}: write LABEL=FILE")
        own.append(own_rows(label, path))
    known = {"minilm": encoders.MiniLM, "use": encoders.USE}
    names = args.names or sorted(d for d in os.listdir(args.sets) if os.path.exists(os.path.join(args.sets, d, args.queries)))
    if not names:
        sys.exit(f"{args.sets}: no folder below it holds {args.queries}")
    cached = []
    for name in filter(None, args.encoders.split(",")):
        if name not in known:
            parser.error(f"--encoders {name}: there are {', '.join(known)}")
        cached.append(encoders.Cached(known[name], args.cache, lambda s: print(s, file=sys.stderr)))
    live = [Live(c) for c in cached]

    result = {"machine": machine(), "timed": TIMED, "versions": {}, "rows": []}
    packages = {"semantic-router", "rank-bm25", *(p for c in cached for p in c.packages)}
    result["versions"] = {p: version(p) for p in sorted(packages)}
    for name in names:
        catalog, rows = read_set(os.path.join(args.sets, name), args.queries)
        for c in cached:
            c.fill([t for s in catalog for t in rankers.phrases(s)] + [r["text"] for r in rows])
        head = {"set": name, "skills": len(catalog), "domains": len({s["domain"] for s in catalog}), "utterances": len(rows)}
        result["rows"] += [{**head, **rows_of[name]} for rows_of in own if name in rows_of]
        for make in peers(live):
            ranker = make(catalog)
            result["rows"].append({**head, "peer": ranker.label, **measure(ranker, catalog, rows, live)})
        print(f"{name} measured", file=sys.stderr)
    print(markdown(result))
    if args.json:
        with open(args.json, "w", encoding="utf8") as f:
            json.dump(result, f, ensure_ascii=False, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
