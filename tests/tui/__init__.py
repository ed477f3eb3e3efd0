"""Tests of the dashboard. Textual reads these variables on import, so this package sets them first."""

import os

os.environ.update(TEXTUAL_ANIMATIONS="none", TEXTUAL_SMOOTH_SCROLL="0", TEXTUAL_THEME="ansi-dark")
os.environ["COLORTERM"] = "truecolor"
for _name in ("NO_COLOR", "SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"):
    os.environ.pop(_name, None)
