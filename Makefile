# Every target works in a fresh clone: what it needs it makes first.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# npm writes this file last, so it is as new as the last whole install.
installed := node_modules/.package-lock.json

.PHONY: help install build check quick test test-daily test-release test-nightly test-lake test-controls test-node24 docs pictures demo bench audit sbom clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(installed) ## Install the dependencies, when the lock file is newer than they are

$(installed): package-lock.json
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); if (a < 20 || (a === 20 && b < 19)) { console.error("ledgerlake needs Node 20.19 or newer, this is " + process.version); process.exit(1); }'
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

build: install ## Bundle src/ into dist/
	npm run --silent build

check: install ## Types (tsc) and style (biome)
	npm run --silent check

# Random tests do a tenth of what they do in `make test`.
quick: check ## Types, style and test/unit, which starts no process: under a minute on two cores
	LEDGERLAKE_BARS=documents=500 npx vitest run test/unit

# TEST_REPORT=<file>: vitest's JSON report too, for .ci/run.
# What the tests with bars showed is printed even when one failed; the file's times say how long all of it took.
define run-tests
@rm -f figures-$(1).ndjson && touch figures-$(1).ndjson
@status=0; LEDGERLAKE_BARS=$(1),$$LEDGERLAKE_BARS LEDGERLAKE_FIGURES=$(CURDIR)/figures-$(1).ndjson npm run --silent test -- \
  $(if $(TEST_REPORT),--reporter=default --reporter=json --outputFile.json=$(TEST_REPORT)) || status=$$?; \
touch figures-$(1).ndjson; npx tsx scripts/write-guarantees.ts; exit $$status
endef

test: build check ## Types, style and one real check of every promise: about ten minutes on two cores
	$(call run-tests,test)

test-daily: build check ## Every test, with random tests of the day's: about half an hour on two cores
	$(call run-tests,daily)

test-release: build check ## Every test with its largest bar: hours on two cores (docs/guarantees.md)
	$(call run-tests,release)

test-nightly: test-release ## The same

# In an environment of its own: downloads from PyPI and Maven Central, and skips, loudly, where it cannot.
test-lake: build check ## What pandas, Polars, PyIceberg and DuckDB find in the lake: needs Python 3 and Java 17 (minutes)
	@test/lake/install.sh; status=$$?; \
	if [ $$status -eq 3 ]; then exit 0; elif [ $$status -ne 0 ]; then exit $$status; fi; \
	npx vitest run --config test/lake/vitest.config.ts $(ARGS)

test-controls: install ## Plant every bug of test/chaos/negative-controls and see that a test catches it (minutes)
	npx tsx test/chaos/negative-controls/run.ts $(ARGS)

# npm has the builds of Node as packages; the present one stays as it is.
test-node24: install ## Run the quick tests and the demo on Node 22 and 24 (Linux)
	@for version in 22 24; do \
	  dir=node-versions/$$version; \
	  npm install --prefix $$dir --no-save --ignore-scripts --no-audit --no-fund --silent node-linux-$$(node -p process.arch)@$$version || exit 1; \
	  PATH="$$(echo $(CURDIR)/$$dir/node_modules/node-linux-*/bin):$$PATH" bash -c 'node --version && $(MAKE) --no-print-directory quick demo' || exit 1; \
	done

docs: install ## Write the generated parts of docs/reference/ again
	npm run --silent docs

# Real runs on real terminals, and Chromium for the reports.
pictures: build ## Draw docs/pictures/ again: pipeline, terminals and reports (minutes; needs Chromium)
	npx tsx scripts/terminal-pictures.ts
	npx tsx scripts/report-pictures.ts

demo: build ## Two nights against the sample API, from nothing to SQL and Parquet (about a minute)
	@scripts/demo.sh

# What users would write instead is compared with, and installed for nothing else.
peers := bench/peers/node_modules/.package-lock.json

$(peers): bench/peers/package-lock.json
	npm ci --prefix bench/peers --ignore-scripts --no-audit --no-fund
	@touch $@

bench: build $(peers) ## Speed against HTTP alone and a naive client, about ten minutes (ARGS=--quick: one)
	npx tsx bench/run.ts $(ARGS)

audit: install ## Known vulnerabilities and the registry's signatures of the dependencies (passes without a network)
	npx tsx scripts/audit.ts

sbom: install ## Write sbom.json: what is in the program and what builds it, in CycloneDX
	npm sbom --silent --sbom-format cyclonedx > sbom.json

clean: ## Remove what build and demo made; data/ and node_modules/ stay
	rm -rf dist demo-data node-versions coverage sbom.json figures-*.ndjson
