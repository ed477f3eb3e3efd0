# Everything runs in .venv-test, which README's test command makes; `make PYTHON=…` takes another interpreter.

VENV ?= .venv-test
PYTHON ?= $(VENV)/bin/python

.PHONY: setup check test test-slow test-all test-lowest test-engines test-torch test-zoo bench samples docs screenshots

setup:
	"$$(.ci/find-python)" -m venv $(VENV)
	$(VENV)/bin/pip install -q -e '.[test]'

check:
	.ci/check $(VENV)

test:
	$(PYTHON) -m pytest -n 2 --dist loadfile

test-slow:
	$(PYTHON) -m pytest -m slow -n 2 --dist worksteal

# The tests of installed engines; the first time, they are installed into .venv-engines.
test-engines:
	engines="$$(.ci/test-engines $(VENV))" && TUIBENCH_TEST_ENGINES="$$engines" $(PYTHON) -m pytest -m installed -n 2 --dist worksteal

# PyTorch's tests, which .ci/run leaves out: the download has 250 MB.
test-torch:
	TUIBENCH_HOME="$$(realpath -m .venv-engines)" $(VENV)/bin/tuibench engines install torch -q
	TUIBENCH_TEST_ENGINES="$$(realpath -m .venv-engines)/data/engines" $(PYTHON) -m pytest -m installed tests/engines/test_torch.py

# Real models in every engine: ZOO is the directory into which ../shared/models/fetch_models.sh fetched them, which is done
# first if there is none. Takes a quarter of an hour.
ZOO ?= .zoo
test-zoo:
	[ -d "$(ZOO)" ] || bash ../shared/models/fetch_models.sh "$(ZOO)" --no-generate
	engines="$$(.ci/test-engines $(VENV))" && TUIBENCH_TEST_ENGINES="$$engines" $(PYTHON) -m tests.engines.zoo "$(ZOO)"

# The oldest Python that is supported and the newest at hand, each with today's newest packages.
test-all:
	.ci/test-on 3.11
	.ci/test-on newest

# The oldest Python with the oldest packages that pyproject.toml admits.
test-lowest:
	.ci/test-on 3.11 lowest

# Every script, each in a process of its own; the calibration comes first, so that figures of two machines can be held together.
bench:
	@$(PYTHON) -m tests.benchmarks.calibration
	@failed=0; for script in tests/benchmarks/*.py; do \
	    name=$$(basename "$$script" .py); \
	    case "$$name" in __init__|calibration|drive) continue;; esac; \
	    echo "== $$name"; $(PYTHON) -m "tests.benchmarks.$$name" || { echo "$$name: exit $$?"; failed=1; }; \
	done; exit $$failed

samples:
	$(PYTHON) tools/make_samples.py

# The pages that are made from the source; a test says when they lag behind.
docs:
	$(PYTHON) tools/make_keys.py
	$(PYTHON) tools/make_flags.py
	$(PYTHON) tools/make_schema.py

# Real runs on this machine, so let nothing else run meanwhile.
screenshots:
	$(PYTHON) tools/shoot.py
	$(PYTHON) tools/shoot_dashboard.py
