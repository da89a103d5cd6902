# Short names for the commands; nothing happens here that they do not do.

FUZZTIME ?= 10s
PYTHON ?= python3

.PHONY: test race vet lint build bench bench-reindex fuzz-short cover distill-test ci

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
