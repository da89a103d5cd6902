module skillrouter

go 1.26.0

require (
	github.com/fsnotify/fsnotify v1.10.1 // catalogs that are edited while they are in use
	github.com/go-analyze/charts v0.6.4 // plots of evaluations, as SVG
	github.com/gofrs/flock v0.13.2 // locks between processes
	github.com/google/jsonschema-go v0.4.3 // schemas of what MCP tools answer
	github.com/hashicorp/golang-lru/v2 v2.0.7 // bounded caches beneath sessions and bodies
	github.com/modelcontextprotocol/go-sdk v1.8.0 // MCP: protocol, stdio and HTTP transports
	github.com/philippgille/chromem-go v0.7.0 // in-process vector store of domain and summary texts
	github.com/redis/go-redis/v9 v9.23.0 // sessions in Redis or Valkey: pool, TLS, cluster, scripts
	github.com/rogpeppe/go-internal v1.14.1 // differences of settings; in tests testscript, scripts of the command line
	github.com/sashabaranov/go-openai v1.43.0 // embeddings of endpoints; messages and tools of agents
	github.com/schollz/progressbar/v3 v3.19.1 // progress of long work, with rate and time left
	github.com/spf13/cobra v1.10.2 // command line: verbs, flags, help
	github.com/spf13/pflag v1.0.9 // values of flags, as cobra has them
	github.com/tailscale/hujson v0.0.0-20260727124030-b80ff77dac4f // settings.json of clients, changed in place
	golang.org/x/sys v0.50.0 // which vector instructions the processor has
	golang.org/x/text v0.44.0 // NFKC folding
	gopkg.in/yaml.v3 v3.0.1 // SKILL.md front matter, skillrouter.yaml, cases of evaluations
)

require github.com/google/go-cmp v0.7.0 // readable differences in tests

require gonum.org/v1/gonum v0.17.0 // L-BFGS and matrix products, for the head

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/go-analyze/bulk v0.1.6 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/image v0.45.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/term v0.44.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)
