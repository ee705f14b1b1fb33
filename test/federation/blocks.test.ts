// Lists of blocked servers and actors: what a line means, import and export, and the commands.
import path from 'node:path';
import t from 'tap';
import { namesOf } from '../../src/federation/block-list.ts';
import { formatBlocks, parseBlock, parseBlocks } from '../../src/federation/blocks/parse-block.ts';
import { runCli } from '../cli/run-cli.ts';
import { openFederation } from './federation-fixture.ts';

t.test('what is blocked: a server, whatever stands around its name, or an actor', (t) => {
  const cases: [text: string, kind: string | null, value?: string][] = [
    ['spam.example.org', 'host', 'spam.example.org'],
    [' Spam.Example.ORG ', 'host', 'spam.example.org'],
    ['*.example.org', 'host', 'example.org'],
    ['.example.org', 'host', 'example.org'],
    ['https://spam.example.org/', 'host', 'spam.example.org'],
    ['bücher.example', 'host', 'xn--bcher-kva.example'],
    ['spam.example.org.', 'host', 'spam.example.org'],
    ['192.0.2.7', 'host', '192.0.2.7'],
    ['https://spam.example.org/users/mallory', 'actor', 'https://spam.example.org/users/mallory'],
    ['http://spam.example.org/?u=1', 'actor', 'http://spam.example.org/?u=1'],
    ['', null],
    ['a b', null],
    ['spam.example.org:8443', null],
    ['mallory@spam.example.org', null],
    ['spam.example.org/users', null],
    ['%', null],
    ['a'.repeat(300), null],
    ['ftp://spam.example.org/x', null],
  ];
  for (const [text, kind, value] of cases) {
    if (kind === null) t.throws(() => parseBlock(text, ''), /Enter the name of a server/, text);
    else t.match(parseBlock(text, 'why\nnot'), { kind, value, reason: 'why not' }, text);
  }
  t.strictSame(namesOf('a.b.example.org'), ['a.b.example.org', 'b.example.org', 'example.org', 'org']);
  t.equal(namesOf('x.'.repeat(200)).length, 20);
  t.end();
});

t.test('lists of other servers and plain ones are read, and what is left out is named', (t) => {
  const mastodon = [
    '#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate',
    'spam.example.org,suspend,true,true,"bulk, and ""more""",false',
    'mild.example.org,silence,false,false,,false',
    'noop.example.org,noop,false,false,,false',
    'not a host,suspend,true,true,,false',
    '',
  ].join('\r\n');
  t.strictSame(parseBlocks(`\ufeff${mastodon}`), {
    blocks: [{ kind: 'host', value: 'spam.example.org', reason: 'bulk, and "more"' }],
    skipped: [
      { line: 3, text: 'mild.example.org', why: 'severity' },
      { line: 4, text: 'noop.example.org', why: 'severity' },
      { line: 5, text: 'not a host', why: 'unreadable' },
    ],
  });
  t.match(parseBlocks('# ours\nspam.example.org, floods, every day\nhttps://x.example/users/m\n"unclosed'), {
    blocks: [
      { value: 'spam.example.org', reason: 'floods, every day' },
      { kind: 'actor', value: 'https://x.example/users/m', reason: '' },
    ],
    skipped: [{ line: 4, why: 'unreadable' }],
  });
  t.throws(() => parseBlocks('a.example\n'.repeat(50_001)), /at most 50000 lines/);
  const started = process.cpuUsage().user;
  parseBlocks(`${'"'.repeat(200_000)}\n${','.repeat(200_000)}\n${' '.repeat(200_000)}`);
  t.match((process.cpuUsage().user - started) / 1000 < 2_000, true, 'in linear time');
  const kept = [
    { kind: 'host' as const, value: 'a.example', reason: 'one, "two"' },
    { kind: 'host' as const, value: 'b.example', reason: '' },
  ];
  t.strictSame(parseBlocks(formatBlocks(kept)).blocks, kept, 'an export is an import');
  t.end();
});

t.test('the commands add, list, export, import and remove', async (t) => {
  const { modules, federation, folder } = await openFederation(t);
  const run = (words: string[], stdin = '') =>
    runCli(['federation', 'block', ...words], {
      cwd: folder,
      input: stdin,
      openModules: async (config) => ({ ...modules, federation, config, close: async () => {} }),
      env: { SERVICE_DATA_DIR: path.join(folder, 'data') },
    });
  t.match(await run(['add', 'Spam.example.org', '--reason', 'floods']), { code: 0, stdout: /is blocked/ });
  t.match(await run(['add', 'a b']), { code: 2, stderr: /enter the name of a server/ });
  const list = 'b.example.org,why\nspam.example.org,again\nhttps://x.example/users/m\n?';
  t.match(await run(['import'], list), {
    code: 0,
    stdout: /Blocks added: 2, already present: 1\. Invalid lines skipped: 1/,
  });
  const listed = await federation.listBlocks({ limit: 10 });
  t.strictSame(
    listed.map(({ kind, value, reason }) => [kind, value, reason]),
    [
      ['host', 'b.example.org', 'why'],
      ['host', 'spam.example.org', 'again'],
      ['actor', 'https://x.example/users/m', ''],
    ],
  );
  for (const limit of [1, 2]) {
    const values: string[] = [];
    for (let after: string | null = null; ; ) {
      const some = await federation.listBlocks({ limit, after });
      values.push(...some.map(({ value }) => value));
      if (some.length < limit) break;
      after = `${some.at(-1)!.kind} ${some.at(-1)!.value}`;
    }
    t.strictSame(
      values,
      listed.map(({ value }) => value),
      `pages of ${limit}`,
    );
  }
  t.strictSame((await federation.listBlocks({ limit: 10, search: 'SPAM' })).length, 1);
  t.match(
    (await run(['export'])).stdout,
    '#domain,#severity,#public_comment\nb.example.org,suspend,why\nspam.example.org,suspend,again',
  );
  t.match((await run(['export', '--actors'])).stdout, 'https://x.example/users/m,suspend,');
  t.match(await run(['remove', 'spam.example.org']), { code: 0 });
  t.match(await run(['remove', 'spam.example.org']), { code: 3, stderr: /is not blocked/ });
  t.match((await run(['list'])).stdout, /b\.example\.org[\s\S]*https:\/\/x\.example\/users\/m/);
});
