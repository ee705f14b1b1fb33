#!/usr/bin/env bash
# Guess: rss-parser gives the alternate link of an Atom entry, and its XHTML content in order.
# Seen: rss-parser 3.13.0 finds an alternate link only when rel="alternate" is written. A link without rel, which RFC
#   4287 defines as alternate, loses against the first link of any kind, here a file to download. In XHTML content it
#   puts all text before all elements, and a title of type xhtml becomes an object.
# For a forge: write rel="alternate" out and put it first, and serve content and titles as type="html".
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts rss-parser@3.13.0
cat >probe.mjs <<'EOF'
import Parser from 'rss-parser';
const { items } = await new Parser().parseString(`<feed xmlns="http://www.w3.org/2005/Atom">
<id>tag:forge.example.org,2026:app</id><title>Releases</title><updated>2026-01-02T03:04:05Z</updated>
<entry><id>tag:forge.example.org,2026:1</id><updated>2026-01-02T03:04:05Z</updated>
<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">one <em>two</em></div></title>
<link rel="enclosure" href="https://forge.example.org/app-1.0.tar.gz"/><link href="https://forge.example.org/releases/1.0"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>one <b>two</b> three</p></div></content></entry>
</feed>`);
console.log(items[0].link);
console.log(typeof items[0].title);
console.log(items[0].contentSnippet);
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
https://forge.example.org/app-1.0.tar.gz
object
one  threetwo
EOF
