#!/usr/bin/env bash
# Guess: libraries that take the quoted part off a mail also take off what is below `-- `, the mark of RFC 3676 for a
#   signature.
# Seen: email_reply_parser 0.5.12 and mail-parser-reply 1.36 (Python) and planer 1.2.0 (npm) keep it where it stands
#   directly below the text, the last two behind a blank line as well. email-reply-parser 2.3.7 (npm) takes it off in both.
# For a forge: answers by mail carry telephone numbers and addresses onto public pages. Cut at `-- ` first.
# Needs: npm, Node.js and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check email_reply_parser==0.5.12 mail-parser-reply==1.36
npm install --silent --no-audit --no-fund --ignore-scripts email-reply-parser@2.3.7 planer@1.2.0
cat >texts.json <<'JSON'
["Looks good.\n-- \nAlice Example\n", "Looks good.\n\n-- \nAlice Example\n"]
JSON
cat >probe.py <<'PY'
import json

from email_reply_parser import EmailReplyParser
from mailparser_reply import EmailReplyParser as OtherParser

for text in json.load(open('texts.json')):
    print(json.dumps(EmailReplyParser.parse_reply(text)), json.dumps(OtherParser(languages=['en']).parse_reply(text=text)))
PY
cat >probe.mjs <<'JS'
import { readFileSync } from 'node:fs';
import EmailReplyParser from 'email-reply-parser';
import planer from 'planer';
for (const text of JSON.parse(readFileSync('texts.json', 'utf8'))) {
  const one = new EmailReplyParser().read(text).getVisibleText();
  console.log(JSON.stringify(one), JSON.stringify(planer.extractFrom(text, 'text/plain')));
}
JS
{
  echo 'email_reply_parser, mail-parser-reply'
  venv/bin/python probe.py
  echo 'email-reply-parser, planer'
  node probe.mjs
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
email_reply_parser, mail-parser-reply
"Looks good.\n-- \nAlice Example" "Looks good.\n--\nAlice Example"
"Looks good." "Looks good.\n\n--\nAlice Example"
email-reply-parser, planer
"Looks good." "Looks good.\n-- \nAlice Example"
"Looks good.\n" "Looks good.\n\n-- \nAlice Example"
SEEN
