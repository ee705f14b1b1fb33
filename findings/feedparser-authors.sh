#!/usr/bin/env bash
# Guess: feedparser gives each author of an entry the address that stands with the name.
# Seen: feedparser 6.0.14 gives the second author, who has no address, the address of the first one, and entry.author
#   is the last author with that address.
# For a forge: an entry with several authors puts words into somebody else's mouth in readers built on it. Write one
#   author, or none with an address.
# Needs: Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check feedparser==6.0.14
cat >probe.py <<'EOF'
import feedparser

feed = feedparser.parse("""<feed xmlns="http://www.w3.org/2005/Atom">
<id>tag:forge.example.org,2026:app</id><title>Commits</title><updated>2026-01-02T03:04:05Z</updated>
<entry><id>tag:forge.example.org,2026:1</id><title>One</title><updated>2026-01-02T03:04:05Z</updated>
<author><name>alice</name><email>alice@example.org</email></author><author><name>bob</name></author></entry></feed>""")
for author in feed.entries[0].authors:
    print(dict(author))
print(feed.entries[0].author)
EOF
{
  venv/bin/python probe.py
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
{'name': 'alice', 'email': 'alice@example.org'}
{'name': 'bob', 'email': 'alice@example.org'}
bob (alice@example.org)
EOF
