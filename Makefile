# Taskloom. `make help` lists the targets; `make dev` and `make test` need
# nothing prepared but Go, Node and make.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := help
# One target after the other: each one uses all cores by itself.
.NOTPARALLEL:

include tools/versions.mk

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 10s
# RACE= tests without the race detector, which needs a C compiler.
RACE     ?= -race
# TESTFLAGS="-run Claim -count 5" narrows or widens `make test`.
TESTFLAGS ?=
# The parts that `make bench` runs (BENCH=ingest,polls), all when empty, and
# its flags (BENCHFLAGS="-rounds 1"); `go run ./bench -help` lists both.
BENCH      ?=
BENCHFLAGS ?=
# What `make load` plays, and its flags (LOADFLAGS="-dur 5m -tasks 100000");
# docs/load.md lists both.
SCRIPT    ?= peak
LOADFLAGS ?=
# The flags of `make race` (RACEFLAGS="-rounds 1"); RACE=claims,create names its
# races, all when it is not given.
RACEFLAGS ?=
# What `make conformance` passes on; the key had better come in TASKLOOM_API_KEY.
ARGS ?=
LINT_STRICT ?=
# APIDOCS= and WEB= build without Node: the API's description is then a plain
# page, and there is no web app.
APIDOCS  ?= yes
WEB      ?= yes

comma := ,
# Packages whose deadlines are those of people or of faults: their tests have
# the machine to themselves, after all others. A pattern of import paths.
ALONE = /(chaos|web/e2e)$$
# The package's tests want a database, also those that do not use it.
GOLDEN = $(if $(TEST_DATABASE_URL)$(DATABASE_URL),,bin/taskloom-dev exec --) go test -count 1 -run TestOpenAPIDocumentsAreGolden ./api
GO_FILES = $(shell git ls-files --cached --others --exclude-standard -- '*.go' | while read -r f; do [ ! -e "$$f" ] || echo "$$f"; done)

# No C in any program of ours: it builds the same with and without a compiler
# at hand. The race detector alone turns it on.
export CGO_ENABLED := 0

# The variables of `make dev` (DEV_DIR, ADDR, FRESH, every setting of the
# product) reach it through the environment, given before or after `make dev`.

##@ Run

.PHONY: dev
dev: build ## The whole product on this machine, until Ctrl-C (DEV_DIR=.dev ADDR=127.0.0.1:8080 FRESH=1)
	@exec bin/taskloom-dev up

.PHONY: demo
demo: build ## 1,000 tasks worked through by simulated people, on the running stack or on one of its own
	@tools/demo.sh

.PHONY: bench
bench: build ## Measures the hot paths, each against its floor in the same run (BENCH=ingest,polls BENCHFLAGS=…)
	@echo "bench: on a fresh Postgres, Temporal and S3; $(if $(BENCH),$(BENCH),all of it takes about two hours)"
	@bin/taskloom-dev exec -- go run ./bench $(if $(BENCH),-only $(BENCH)) $(BENCHFLAGS)

.PHONY: load
load: build ## Plays everybody at once and holds the product against its objectives (SCRIPT=day|peak|burst|quarter|stress|outage|soak|cost|growth LOADFLAGS=…)
	@bin/taskloom-dev exec $(if $(filter growth,$(SCRIPT)),--statements )-- go run ./load -script $(SCRIPT) $(LOADFLAGS)

.PHONY: race
race: build ## Races against the systems one would otherwise use (RACE=claims,held,create,flow,chaos,polls,ingest,labelstudio RACEFLAGS=…)
	@race/run.sh "$(filter-out -race,$(RACE))" $(RACEFLAGS)

.PHONY: conformance
conformance: build ## Checks every sentence of the API's contract, on a stack of its own (ARGS="--url … --workflow …" elsewhere)
	@tools/conformance.sh $(ARGS)

##@ Build

.PHONY: build
build: $(if $(APIDOCS),apidocs) $(if $(WEB),web) ## Builds bin/taskloom and bin/taskloom-dev (VERSION=…)
	@tools/build.sh taskloom . -trimpath -ldflags "-X main.version=$(VERSION)" ./cmd/taskloom
	@tools/build.sh taskloom-dev dev .

.PHONY: apidocs
apidocs: # Swagger UI and Redoc, which the binary embeds; APIDOCS= builds without them
	@tools/apidocs.sh

.PHONY: web
web: # The web app, which the binary embeds; WEB= builds without it
	@tools/web.sh build

.PHONY: web-dev
web-dev: ## The web app from its source, reloading as it changes, on the API of a running `make dev` (TASKLOOM_URL=…)
	@tools/web.sh dev

.PHONY: release-document
release-document: verify # At a release: makes this External API the one that later ones must not break
	@cp api/testdata/openapi-v1.json api/testdata/released/openapi-v1.json

.PHONY: generate
generate: build ## Writes the generated files anew: the golden OpenAPI documents, the web app's client
	@$(GOLDEN) -update
	@$(if $(WEB),tools/web.sh types)

.PHONY: verify
verify: build ## Fails when a generated file is out of date (make test does, too)
	@$(GOLDEN)
	@$(if $(WEB),tools/web.sh check)

.PHONY: fmt
fmt: $(call tool,$(GOFUMPT)) ## Formats all Go code and the web app's
	@$< -w $(GO_FILES)
	@$(if $(WEB),tools/web.sh fmt)

.PHONY: clean
clean: ## Removes what was built; the state of `make dev` stays (rm -r .dev removes it)
	@rm -rf bin .cache dist tools/apidocs/node_modules web/node_modules
	@find api/edge/apidocs/dist web/dist -type f ! -name .gitkeep -delete

##@ Check

.PHONY: test
test: build system $(call tool,$(PROMTOOL)) ## Every test of all modules and the web app, on a Postgres, Temporal and S3 of their own (TESTFLAGS=…)
	@$(if $(WEB),tools/web.sh check)
	@$(if $(WEB),echo "test: web/" && tools/web.sh test)
	@echo "test: this module$(if $(RACE),$(comma) with the race detector); the first compilation takes a few minutes"
	@CGO_ENABLED=$(if $(RACE),1,0) bin/taskloom-dev exec -- go test $(RACE) -timeout 25m $(TESTFLAGS) $$(go list ./... | grep -vE '$(ALONE)')
	@seed=$${CHAOS_SEED:-$$(date +%s%N)}; \
		echo "test: what runs the whole product by itself, one after the other, with CHAOS_SEED=$$seed"; \
		CHAOS_SEED=$$seed go test -trimpath -p 1 -timeout 25m $(TESTFLAGS) $$(go list ./... | grep -E '$(ALONE)'$(if $(WEB),, | grep -v /web/))
	@echo "test: dev/"
	@cd dev && go test $(TESTFLAGS) ./...
	@echo "test: race/"
	@cd race && go test -trimpath $(TESTFLAGS) ./...

# CHAOS_… variables reach the tests through the environment. What names no row would
# match no test, and look like one that passed.
rows := $(subst $(comma), ,$(ROW))
.PHONY: chaos
chaos: build $(if $(filter all 18,$(rows)),$(call tool,$(PROMTOOL))) ## Breaks the whole product under load and checks that nothing is lost (SEED= DUR=3m LOAD=1 REPLAY=file, or ROW=9, ROW=1,2, ROW=all)
	@$(if $(and $(filter-out all,$(ROW)),$(filter-out $(shell seq 22),$(rows))),echo "chaos: ROW=$(ROW): give all$(comma) or numbers from 1 to 22 with commas" >&2 && exit 2)
	@$(if $(ROW),$(if $(DUR)$(REPLAY),echo "chaos: DUR and REPLAY are for random faults: leave them out with ROW$(comma) which takes as long as CHAOS_SCALE says" >&2 && exit 2))
	@$(if $(filter all 13 14,$(rows)),CHAOS=yes tools/system.sh || true) # a row that cannot run says so, and fails
	@CHAOS_SEED=$(SEED) CHAOS_DUR=$(DUR) CHAOS_LOAD=$(LOAD) CHAOS_REPLAY=$(abspath $(REPLAY)) CHAOS_ROWS=$(ROW) \
		go test ./chaos -count 1 -timeout 0 -v -run '$(if $(ROW),^TestRow($(if $(filter all,$(rows)),,$(subst $() ,|,$(foreach row,$(filter $(shell seq 22),$(rows)),$(shell printf %02d $(row)))))),^TestChaos$$)'

.PHONY: planted
planted: build ## Plays load on builds with bugs in them, each of which the checks must find
	@bin/taskloom-dev exec -- go test -count 1 -v -timeout 10m ./internal/planted
	@CHAOS_PLANTED=1 go test ./chaos -count 1 -v -timeout 60m -run '^TestTheHarnessFindsPlantedBugs$$'

.PHONY: fuzz
fuzz: ## Every fuzz target for FUZZTIME=10s; `make test` runs their seeds
	@tools/fuzz.sh $(FUZZTIME)

# The linters load what `make build` compiled: -trimpath where it says so.
.PHONY: lint
lint: ## gofumpt, golangci-lint, workflowcheck, biome, tsc, redocly, oasdiff, promtool and govulncheck, all of them even if one complains
	@$(MAKE) --keep-going lint-format lint-root lint-dev lint-race lint-workflows $(if $(WEB),lint-web) lint-openapi lint-compatibility lint-alerts lint-vulnerabilities

.PHONY: lint-format
lint-format: $(call tool,$(GOFUMPT))
	@echo "lint: gofumpt"
	@files=$$($< -l $(GO_FILES)); [ -z "$$files" ] || { \
		printf 'These files are not formatted; make fmt does it:\n%s\n' "$$files" >&2; exit 1; }

.PHONY: lint-root
lint-root: $(call tool,$(GOLANGCI_LINT))
	@echo "lint: golangci-lint"
	@GOFLAGS=-trimpath $(CURDIR)/$< run ./...

.PHONY: lint-dev
lint-dev: $(call tool,$(GOLANGCI_LINT))
	@echo "lint: golangci-lint in dev/"
	@cd dev && $(CURDIR)/$< run --config ../.golangci.yml ./...

.PHONY: lint-race
lint-race: $(call tool,$(GOLANGCI_LINT))
	@echo "lint: golangci-lint in race/"
	@cd race && GOFLAGS=-trimpath $(CURDIR)/$< run --config ../.golangci.yml ./...

.PHONY: lint-workflows
lint-workflows: $(call tool,$(WORKFLOWCHECK))
	@echo "lint: workflowcheck (workflow code is deterministic)"
	@GOFLAGS=-trimpath $< -config tools/workflowcheck.yaml ./workflows/...

.PHONY: lint-web
lint-web:
	@echo "lint: biome, tsc and the budget of the web app"
	@tools/web.sh lint

.PHONY: lint-openapi
lint-openapi: $(if $(APIDOCS),apidocs)
	@echo "lint: redocly (the External API's documents)"
	@tools/lint-openapi.sh

.PHONY: lint-compatibility
lint-compatibility: $(call tool,$(OASDIFF))
	@echo "lint: oasdiff (nothing that clients of the last release use is gone)"
	@tools/compatibility.sh $<

.PHONY: lint-alerts
lint-alerts: $(call tool,$(PROMTOOL))
	@echo "lint: promtool (the alerts are valid and fire when they should)"
	@$< check rules --lint=all --lint-fatal deploy/alerts/taskloom.rules.yml >/dev/null
	@$< test rules deploy/alerts/taskloom.test.yml >/dev/null

.PHONY: lint-vulnerabilities
lint-vulnerabilities: $(call tool,$(GOVULNCHECK))
	@LINT_STRICT=$(LINT_STRICT) tools/vulnerabilities.sh $<

##@ Set up

.PHONY: system
system: ## Installs the Debian packages that the tests need and that are missing: a C compiler, Redis, a browser
	@RACE=$(RACE) tools/system.sh

.PHONY: tools
tools: $(TOOL_BINARIES) ## Builds the linters at their pinned versions into .cache/tools

.PHONY: help
help: ## This list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
