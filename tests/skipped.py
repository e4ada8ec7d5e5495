"""Where ISOTHERM_ALL_PACKAGES is set, no test is skipped for want of a package but CuPy."""

import os

import pytest

# How the reasons begin that are good ones even then.
MAY_BE_MISSING = (
    "no GPU: ",
    "the shared data set ",
    "golden/ ",  # which an installed package does not have
    "SIG",  # a signal is ignored, as under nohup
    "SCIPY_ARRAY_API is not set",  # these two are scikit-learn's own
    "MultiLabelDirichletClassifier does not have a decision_function",
)


def pytest_sessionfinish(session):
    """Fail if a test was skipped for another reason: a package is missing after all."""
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or not os.environ.get("ISOTHERM_ALL_PACKAGES"):
        return
    skipped = {report.longrepr for report in reporter.stats.get("skipped", ())}
    wrong = {
        f"{path}:{line}: {reason}"
        for path, line, reason in skipped
        if not reason.removeprefix("Skipped: ").startswith(MAY_BE_MISSING)
    }
    reporter.ensure_newline()
    for line in sorted(wrong):
        reporter.write_line(f"skipped although ISOTHERM_ALL_PACKAGES is set: {line}", red=True)
    if wrong:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
