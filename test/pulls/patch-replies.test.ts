// Reviews from answered patches: what is written below a quoted line becomes a comment on it.
import t from 'tap';
import { measureCpuTime } from '../fixtures/thread-cpu.ts';
import { parsePatch } from '../../src/pulls/patch-replies/parse-patch.ts';
import { isPatchReply, parsePatchReply } from '../../src/pulls/patch-replies/parse-reply.ts';

const [first, head] = ['a'.repeat(40), 'b'.repeat(40)];
const mails = `From ${first} Mon Sep 17 00:00:00 2001
From: Bob <bob@example.org>
Date: Mon, 23 Nov 2026 12:00:00 +0000
Subject: [PATCH 1/2] Oil the gate

It squeaks.
---
 gate.txt | 3 ++-

diff --git a/gate.txt b/gate.txt
index 1111111..2222222 100644
--- a/gate.txt
+++ b/gate.txt
@@ -1,4 +1,5 @@
 one
-two
+two, oiled
+and more
 three
 four
@@ -20,2 +21,3 @@ far below
 twenty
+new
 last

From ${head} Mon Sep 17 00:00:00 2001
From: Bob <bob@example.org>
Subject: [PATCH 2/2] Paint it

---
diff --git "a/\\303\\244 b.txt" "b/\\303\\244 b.txt"
index 3333333..4444444 100644
--- "a/\\303\\244 b.txt"
+++ "b/\\303\\244 b.txt"
@@ -1,2 +1 @@
-old
 kept
\\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 5555555..0000000
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/pic.png b/pic.png
index 6666666..7777777 100644
Binary files a/pic.png and b/pic.png differ
`;
const quoted = mails.split('\n').map((line) => `> ${line}`.trimEnd());
const round = { headOid: head, isSingle: false };
/** The quoted mails with words below some lines. */
const answered = (answers: Record<string, string>, from = quoted): string =>
  from.flatMap((line) => (line in answers ? [line, '', answers[line]!, ''] : [line])).join('\n');
const read = (text: string, facts = round) => parsePatchReply(text, parsePatch(mails), facts);

t.test('answers become comments on lines, files and the review', async (t) => {
  const text = answered({
    '> It squeaks.': 'Since when?',
    '> diff --git a/gate.txt b/gate.txt': 'This file again.',
    '> -two': 'Why not keep it?',
    '> +and more': 'More of\nwhat?',
    '>  last': 'Fine.',
    '> -old': 'Was it?',
    '>  kept': 'Good.',
    '> -gone': 'At last.',
    '> Binary files a/pic.png and b/pic.png differ': 'A picture.',
  });
  t.ok(isPatchReply(text));
  t.notOk(isPatchReply('> a quote\n\nand words\n'));
  const { body, comments } = read(`On Monday, Bob wrote:\n${text}\nThanks!\n-- \nalice\n`);
  t.equal(body, '> It squeaks.\n\nSince when?\n\nThanks!');
  t.match(comments, [
    { commitOid: first, path: 'gate.txt', side: 'NEW', firstLine: null, body: 'This file again.' },
    { commitOid: first, path: 'gate.txt', side: 'OLD', firstLine: 2, body: 'Why not keep it?' },
    { commitOid: first, path: 'gate.txt', side: 'NEW', firstLine: 3, body: 'More of\nwhat?' },
    { commitOid: first, path: 'gate.txt', side: 'NEW', firstLine: 23, body: 'Fine.' },
    { commitOid: head, path: 'ä b.txt', side: 'NEW', firstLine: null, body: '> `-old`\n\nWas it?' },
    { commitOid: head, path: 'ä b.txt', side: 'NEW', firstLine: 1, body: 'Good.' },
    { commitOid: head, path: 'gone.txt', side: 'NEW', firstLine: null, body: '> `-gone`\n\nAt last.' },
    { commitOid: head, path: 'pic.png', side: 'NEW', firstLine: null, body: 'A picture.' },
  ]);
  const alone = read(answered({ '> -old': 'Was it?' }), { ...round, isSingle: true });
  t.match(alone.comments, [{ commitOid: head, path: 'ä b.txt', side: 'OLD', firstLine: 1, body: 'Was it?' }]);
});

t.test('quoted lines may be left out; changed ones and another order are refused', async (t) => {
  const short = [
    '> diff --git a/gate.txt b/gate.txt',
    '[...]',
    '>  twenty',
    '> +new',
    '',
    'Here.',
    '',
    '>  kept',
    'There.',
  ];
  t.match(read(short.join('\r\n')).comments, [
    { path: 'gate.txt', firstLine: 22, body: 'Here.' },
    { path: 'ä b.txt', firstLine: 1, body: 'There.' },
  ]);
  for (const lines of [
    ['> diff --git a/gate.txt b/gate.txt', '> +two, painted', 'No.'],
    ['>  kept', '> +new', 'Before.'],
  ])
    t.throws(() => read(lines.join('\n')), { reason: 'quote_unknown', message: /^Line 2 / });
  t.same(read(quoted.join('\n')), { body: '', comments: [] });
  t.same(read('Only words.\n'), { body: 'Only words.', comments: [] });
});

t.test('a line that occurs often is found by those that follow it; much of it costs little', async (t) => {
  const patch = parsePatch(
    ['diff --git a/x b/x', '--- a/x', '+++ b/x', '@@ -0,0 +1,6 @@', '+}', '+a', '+}', '+b', '+}', '+c', ''].join('\n'),
  );
  const text = ['> diff --git a/x b/x', '> +}', '> +b', 'This.'].join('\n');
  t.match(parsePatchReply(text, patch, round).comments, [{ path: 'x', firstLine: 4 }]);
  const many = 100_000;
  const long = ['diff --git a/x b/x', '--- a/x', '+++ b/x', `@@ -0,0 +1,${many} @@`, ...Array(many).fill('+}')];
  const parsed = parsePatch(long.join('\n'));
  const hostile = ['> diff --git a/x b/x', ...Array.from({ length: 5_000 }, () => '> +}\n> +z\n')].join('\n');
  const { cpuMs } = await measureCpuTime(() =>
    t.throws(() => parsePatchReply(hostile, parsed, round), /quotes text that is not/),
  );
  t.ok(cpuMs < 2_000, `${cpuMs} ms`);
});
