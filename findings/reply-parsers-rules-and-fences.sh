#!/usr/bin/env bash
# Guess: libraries that take the quoted part off a mail leave the Markdown of the answer alone.
# Seen: email_reply_parser 0.5.12 (Python) and email-reply-parser 2.3.7 (npm) drop all below a line `---`, and a line of
#   a code block that begins with `>`. The first one also drops all below a pasted `--- a/file` of a patch, and from a
#   line `From: …` or `On … wrote:` on; planer 1.2.0 (npm) drops a text that begins with `From:` whole.
#   mail-parser-reply 1.36 (Python) keeps all of it.
# For a forge: answers by mail to an issue lose what people wrote, without an error. Cut at the line that the mail of
#   the forge itself has.
# Needs: npm, Node.js and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check email_reply_parser==0.5.12 mail-parser-reply==1.36
npm install --silent --no-audit --no-fund --ignore-scripts email-reply-parser@2.3.7 planer@1.2.0
cat >texts.json <<'JSON'
{
  "rule": "Before\n\n---\n\nAfter\n",
  "code block": "Try:\n\n```\n> git status\n```\n\nDone?\n",
  "patch": "See:\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\nThanks\n",
  "From": "From: the start\n\nthe rest\n",
  "wrote": "On Monday I wrote:\nthis line\n"
}
JSON
cat >probe.py <<'PY'
import json

from email_reply_parser import EmailReplyParser
from mailparser_reply import EmailReplyParser as OtherParser

for name, text in json.load(open('texts.json')).items():
    print(name, json.dumps(EmailReplyParser.parse_reply(text)), sep=': ')
    print(name, 'kept' if OtherParser(languages=['en']).parse_reply(text=text) == text.strip() else 'cut', sep=': ')
PY
cat >probe.mjs <<'JS'
import { readFileSync } from 'node:fs';
import EmailReplyParser from 'email-reply-parser';
import planer from 'planer';
for (const [name, text] of Object.entries(JSON.parse(readFileSync('texts.json', 'utf8')))) {
  console.log(`${name}: ${JSON.stringify(new EmailReplyParser().read(text).getVisibleText())}`);
  console.log(`${name}: ${JSON.stringify(planer.extractFrom(text, 'text/plain'))}`);
}
JS
{
  echo 'email_reply_parser and mail-parser-reply'
  venv/bin/python probe.py
  echo 'email-reply-parser and planer'
  node probe.mjs
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
email_reply_parser and mail-parser-reply
rule: "Before"
rule: kept
code block: "Try:\n\n```\n```\n\nDone?"
code block: kept
patch: "See:"
patch: kept
From: ""
From: kept
wrote: ""
wrote: kept
email-reply-parser and planer
rule: "Before\n"
rule: "Before\n\n---\n\nAfter"
code block: "Try:\n\n```\n```\n\nDone?\n"
code block: "Try:\n\n```\n> git status\n```\n\nDone?"
patch: "See:\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\nThanks\n"
patch: "See:\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\nThanks"
From: "From: the start\n\nthe rest\n"
From: ""
wrote: "On Monday I wrote:\nthis line\n"
wrote: "On Monday I wrote:\nthis line"
SEEN
