# Every target has one line on what it is for; `make help` prints them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PORT ?= 3000

.PHONY: help env demo ui prefect worker test lint types ci bench wheel clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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

demo: $(READY)  ## run a history through everything and print what came of it (DATA=file for your own)
	@$(BIN)/python examples/demo.py $(if $(DATA),--data $(DATA))

ui: $(READY)  ## open the orchestrator on http://127.0.0.1:$(PORT)
	@PORT=$(PORT) $(BIN)/python deployments/ui.py

prefect: $(READY)  ## start the server of the flows on http://127.0.0.1:4200
	@$(BIN)/python -m deployments.prefect_server

worker: $(READY)  ## serve the flows and drain the queue every minute
	@$(BIN)/python -m deployments.worker

test: $(READY)  ## run the whole suite
	$(BIN)/python -m pytest -n 2 -q

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
	rm -rf .venv dist
