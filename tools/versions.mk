# The linters and their versions: the one place where they are pinned. They are
# built from source, into a directory of their version, by way of the Go module
# proxy and its checksum database; a new version here is all that an upgrade takes.

GOFUMPT       := mvdan.cc/gofumpt@v0.12.0
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
WORKFLOWCHECK := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.8.0
OASDIFF       := github.com/oasdiff/oasdiff@v1.33.0
# Its module replaces others, so that it is built by way of tools/promtool/go.mod.
PROMTOOL      := github.com/prometheus/prometheus/cmd/promtool@v0.313.5

TOOLS := $(GOFUMPT) $(GOLANGCI_LINT) $(WORKFLOWCHECK) $(GOVULNCHECK) $(OASDIFF)

# tool is the path of a tool's binary: .cache/tools/gofumpt-v0.12.0/gofumpt
tool_name = $(notdir $(firstword $(subst @, ,$(1))))
tool      = .cache/tools/$(tool_name)-$(lastword $(subst @, ,$(1)))/$(tool_name)

TOOL_BINARIES := $(foreach t,$(TOOLS) $(PROMTOOL),$(call tool,$(t)))

define tool_rule
$(call tool,$(1)):
	@echo "tools: building $(1)"
	@GOBIN=$$(CURDIR)/$$(@D) GOFLAGS= go install -p 1 $(1)
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$(t))))

$(call tool,$(PROMTOOL)): tools/promtool/go.mod tools/promtool/go.sum
	@echo "tools: building $(PROMTOOL) (4 to 8 minutes on two cores)"
	@cd tools/promtool && [ "$$(go list -m -f '{{.Version}}' github.com/prometheus/prometheus)" = "$(lastword $(subst @, ,$(PROMTOOL)))" ] || { \
		echo "tools/promtool/go.mod has another version of prometheus than tools/versions.mk: go -C tools/promtool get $(PROMTOOL)" >&2; exit 1; }
	@cd tools/promtool && GOFLAGS=-tags=remove_all_sd go build -trimpath -p 2 -o $(CURDIR)/$@ $(firstword $(subst @, ,$(PROMTOOL)))
