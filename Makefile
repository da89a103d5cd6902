# Short names for the commands; nothing happens here that they do not do.

FUZZTIME ?= 10s
PYTHON ?= python3

.PHONY: test race vet lint build bench fuzz-short cover distill-test ci \
	bench-accuracy bench-peers bench-peers-test bench-sets-test bench-reindex

test:
	go test ./...

race:
	go test -race -shuffle=on ./...

vet:
	go vet ./...

lint:
	.ci/lint

build:
	go build -o skillrouter ./cmd/skillrouter

bench:
	go test -run '^$$' -bench . -benchmem ./...

# CATALOG=DIR names the skills; ARGS holds more, such as -depth 8.
bench-reindex:
	go run ./bench/reindex $(ARGS) $(CATALOG)

# Each fuzz test in turn: the go command takes one at a time.
fuzz-short:
	@set -e; for pkg in $$(go list ./...); do \
		targets=$$(go test -list '^Fuzz' $$pkg); \
		for target in $$(echo "$$targets" | grep '^Fuzz'); do \
			echo "== $$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

cover:
	go test -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -n 1

# Needs Python 3.11 and numpy (PYTHON=.venv/bin/python); nothing else does.
distill-test:
	$(PYTHON) -m unittest discover -s tools/distill

ci:
	.ci/run

# Sets are folders below FROM with catalog.jsonl and queries-dev.jsonl; a folder
# of skills in CATALOGS, of the same name, goes before a set's catalog.jsonl.
# PEERS is what bench-peers wrote, if the page is to have it.
bench-accuracy:
	@test -n "$(FROM)" || { echo 'name the folder of sets: make bench-accuracy FROM=dir [CATALOGS=dir] [PEERS=file]'; exit 2; }
	@mkdir -p docs
	go run ./bench/accuracy -sets "$(FROM)" -catalogs "$(CATALOGS)" -peers "$(PEERS)" -markdown docs/accuracy.md \
		-commit "$$(git rev-parse --short=12 HEAD)$$(git diff --quiet HEAD -- . ':!docs' || echo ' with changes')"

# Needs bench/peers/requirements.txt installed (PYTHON=.venv/bin/python).
bench-peers:
	@test -n "$(FROM)" -a -n "$(CACHE)" -a -n "$(PEERS)" || { echo 'make bench-peers FROM=dir CACHE=dir PEERS=file [CATALOGS=dir]'; exit 2; }
	@set -e; own=$$(mktemp -d); trap 'rm -rf "$$own"' EXIT; \
	GOMAXPROCS=1 go run ./bench/accuracy -sets "$(FROM)" -json > "$$own/plain"; \
	set -- --skillrouter "skillrouter=$$own/plain"; \
	if [ -n "$(CATALOGS)" ]; then \
		for dir in "$(CATALOGS)"/*/; do \
			name=$$(basename "$$dir"); \
			if [ -e "$(FROM)/$$name/queries-dev.jsonl" ]; then \
				GOMAXPROCS=1 go run ./bench/accuracy -sets "$(FROM)" -catalogs "$(CATALOGS)" -json "$$name" >> "$$own/bodies"; \
			fi; \
		done; \
		if [ -e "$$own/bodies" ]; then set -- "$$@" --skillrouter "skillrouter, bodies too=$$own/bodies"; fi; \
	fi; \
	$(PYTHON) bench/peers/peers.py --sets "$(FROM)" --cache "$(CACHE)" --json "$(PEERS)" "$$@"

# Both take seconds. The second skips what needs packages that are not installed.
bench-sets-test:
	$(PYTHON) -m unittest discover -s bench/sets

bench-peers-test:
	$(PYTHON) -m unittest discover -s bench/peers
