// Injection attempts in refs, paths and query parameters: options, shell syntax, HTML, headers, at every page that
// takes one. A wrapper of git records the arguments of each git process. HEARTH_INJECTION_EVERY=1 sends every value to
// every page; without it, each value goes to an eighth of the pages, and each page gets an eighth of the values.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Parser } from 'htmlparser2';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { PageResponse } from '../fixtures/web-fixture.ts';

t.setTimeout(120_000);

/** Refs that git keeps, seeded past the rules for pushes; each would leave a file called pwned if it were obeyed. */
const keptByGit = [
  '-pwned',
  '--output=pwned',
  '--upload-pack=touch${IFS}pwned',
  '--exec=touch-pwned',
  '--no-index',
  '--all',
  '--',
  '$(touch${IFS}pwned)',
  '`touch${IFS}pwned`',
  'a;touch${IFS}pwned',
  'a|touch${IFS}pwned&',
  "'pwned'",
  '"pwned"',
  '<script>pwned</script>',
  '%2e%2e%2fpwned',
  'refs/heads/main',
  '0'.repeat(40),
  '#pwned',
  'HEAD',
  'pwned=1,b',
  '\u202epwned',
  '\ufeffpwned',
  'x'.repeat(200),
  '日本',
  'blob',
  'feed.atom',
];
/** Names that git refuses as refs, and that a URL may contain all the same. */
const refusedByGit = [
  'main..pwned',
  'main@{1}',
  'main^{/pwned}',
  ':/pwned',
  ':(top)pwned',
  'main:a.txt',
  '../../pwned',
  '/etc/passwd',
  'a\nHEAD',
  'a\r\nX-Pwned: 1',
  'a\0pwned',
  '\x1b]0;pwned\x07',
  'main~999999999',
  '*',
  '',
  '.',
  '.git/config',
  '@',
  '-',
  '--output',
  '\\pwned',
];
const injected = [...keptByGit, ...refusedByGit];
const every = Number(process.env['HEARTH_INJECTION_EVERY'] ?? 8);

function* some<Request>(requests: (word: string, index: number) => Request[]): Generator<Request> {
  for (const [index, word] of injected.entries())
    yield* requests(word, index).filter((_, page) => (index + page) % every === 0);
}

const folder = temporaryFolder(t);
const recorded = path.join(folder, 'recorded');
const program = path.join(folder, 'git');
writeFileSync(program, `#!/bin/sh\nprintf '%s\\0' "$@" '<end>' >> '${recorded}'\nexec git "$@"\n`);
chmodSync(program, 0o755);

const web = await startWeb(t, { env: { SERVICE_GIT_PROGRAM: program } });
const alice = await signedIn(web, 'alice');
await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
const B = '/repos/alice/kiln';
const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
await fillRepository(t, bare, {
  'a.txt': 'one\n',
  '.gitattributes': '* diff=evil filter=evil export-subst\n',
  'docs/--output=pwned': 'two\n',
});
const tip = (await web.modules.git.refs.head(bare)).oid!;
await runGit(['update-ref', '--stdin', '-z'], {
  cwd: bare,
  input: Buffer.concat(
    [...keptByGit.map((name) => Buffer.from(name)), Buffer.from([0x61, 0xff, 0xfe])].map((name) =>
      Buffer.concat([Buffer.from('create refs/heads/'), name, Buffer.from(`\0${tip}\0`)]),
    ),
  ),
});

/** The arguments of each git process since the last call. */
let read = 0;
function newArguments(): string[][] {
  const text = readFileSync(recorded, 'utf8');
  const all = text
    .split('<end>\0')
    .slice(read, -1)
    .map((line) => line.split('\0').slice(0, -1));
  read += all.length;
  return all;
}

/** Arguments that git may take for options though a visitor wrote them. */
const taken = (argv: readonly string[]): string[] =>
  argv.filter((word, index) => {
    const before = argv.slice(0, index);
    const isOnlyAWord = before.includes('--') || before.includes('--end-of-options') || before.at(-1) === '-e';
    return (
      !isOnlyAWord &&
      injected.some((value) => value.startsWith('-') && value.length > 2 && value !== '--all' && word.startsWith(value))
    );
  });

/** Elements and attributes of a page that no template wrote. */
function injectedMarkup({ body, headers }: PageResponse): string[] {
  if (!headers['content-type']?.startsWith('text/html')) return [];
  const found: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'script' && !attributes['src']?.startsWith('/assets/')) found.push(name);
      for (const [key, value] of Object.entries(attributes))
        if (/^on|pwned/.test(key) || /^\s*javascript:/i.test(value)) found.push(`${name} ${key}`);
    },
  });
  parser.end(body);
  return found;
}

/** Everything below the folders of the server that is not git's own business. */
const everything = (): string[] =>
  [
    ...readdirSync(path.dirname(web.modules.config.dataDir), { recursive: true }).map(String),
    ...readdirSync(process.cwd()),
  ].filter((name) => name.includes('pwned') && !name.includes('refs/heads'));

/** Sends a few requests at a time, and reports what was wrong with which response. */
async function requestAll(
  requests: Iterable<[target: string, form?: Record<string, string>]>,
): Promise<{ requestCount: number; wrong: string[] }> {
  const wrong: string[] = [];
  let requestCount = 0;
  const queue = requests[Symbol.iterator]();
  const work = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const [target, form] = next.value;
      requestCount += 1;
      const response = form === undefined ? await alice.get(target) : await alice.post(target, form);
      const markup = injectedMarkup(response);
      if (response.status >= 500 || markup.length > 0 || response.headers['x-pwned'] !== undefined)
        wrong.push(`${response.status} ${target} ${JSON.stringify(form ?? '')} ${markup}`);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return { requestCount, wrong };
}

/** As part of a path: slashes stay what they are, as in the addresses of our pages. */
const inPath = (value: string): string => encodeURIComponent(value).replaceAll('%2F', '/');

t.test('security A01, A02, A05 no URL makes git do anything but read', async (t) => {
  const config = readFileSync(path.join(bare, 'config'), 'utf8');
  const pages = some((value): [string][] => {
    const [word, text] = [inPath(value), encodeURIComponent(value)];
    return [
      ...['tree', 'blob', 'raw', 'blame', 'commits', 'find'].flatMap((page) => [
        `${page}/${word}`,
        `${page}/${word}/a.txt`,
        `${page}/main/${word}`,
      ]),
      ...['.zip', '.tar.gz'].map((ending) => `archive/${word}${ending}`),
      ...['', '.patch', '.diff'].map((ending) => `commit/${text}${ending}`),
      ...[word, `${word}...main`, `main..${word}`].map((range) => `compare/${range}`),
      `runs/badge/${word}`,
      `compare?base=${text}&head=${text}`,
      `commits/main?author=${text}&after=${text}`,
      `go?ref=${text}&path=${text}&page=${text}`,
      `search?q=${text}`,
      `search?q=${text}&pattern=1&case=1`,
      `find/main?q=${text}`,
      `branches?after=${text}`,
      `tags?after=${text}`,
      `activity?after=${text}`,
      `branches/delete?name=${text}`,
      `commit/${tip}?file=${text}&view=${text}&w=${text}`,
      `blob/main/a.txt?lines=${text}&plain=${text}`,
      `runs?branch=${text}&workflow=${text}&event=${text}&actor=${text}&status=${text}&before=${text}`,
      `runs/new?workflow=${text}`,
    ].map((page) => [`${B}/${page}`]);
  });
  const { requestCount, wrong } = await requestAll(pages);
  t.same(wrong, []);
  await alice.get(`${B}/search?q=--output%3Dpwned`);
  const argvs = newArguments();
  t.ok(
    argvs.some((argv) => argv.includes('--output=pwned')),
    `values reach git at all; ${requestCount} requests started it ${argvs.length} times`,
  );
  t.same(
    argvs.filter((argv) => taken(argv).length > 0),
    [],
    'no value became an option',
  );
  t.same(everything(), [], 'nothing was made anywhere');
  t.equal(readFileSync(path.join(bare, 'config'), 'utf8'), config);
  t.equal((await alice.get(`${B}/raw/main/a.txt`)).body, 'one\n', 'object readers still return the right object');
  t.equal((await alice.get(`${B}/blob/main/docs/--output=pwned`)).status, 200);
  for (const name of keptByGit.filter((name) => name !== 'HEAD')) {
    // A whole object id names its object alone, so such a branch is named in full.
    const address = /^[0-9a-f]{40}$/.test(name) ? `refs/heads/${name}` : name;
    t.equal((await alice.get(`${B}/tree/${inPath(address)}`)).status, 200, `${name} has a page`);
  }
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('security A01, A02 no form makes git do anything but what it says', async (t) => {
  const forms = some((value, index): [string, Record<string, string>][] => [
    [`${B}/branches`, { name: value, from: 'main' }],
    [`${B}/branches`, { name: `made-${index}`, from: value }],
    [`${B}/branches/delete`, { name: value, expected: value }],
    [`${B}/settings`, { description: value, default_branch: value }],
    [`${B}/activity/restore`, { id: value, expected: value, as: value }],
    [`${B}/runs`, { workflow: value, ref: value }],
  ]);
  const { wrong } = await requestAll(forms);
  t.same(wrong, []);
  t.same(
    newArguments().filter((argv) => taken(argv).length > 0),
    [],
    'no value became an option',
  );
  t.same(everything(), [], 'nothing was made anywhere');
});

t.test('security A03, A04 neither files nor leftovers in a repository start a program', async (t) => {
  const flag = path.join(folder, 'ran');
  mkdirSync(path.join(bare, 'hooks'), { recursive: true });
  for (const hook of [
    'pre-receive',
    'update',
    'post-receive',
    'post-update',
    'reference-transaction',
    'proc-receive',
    'push-to-checkout',
  ]) {
    writeFileSync(path.join(bare, 'hooks', hook), `#!/bin/sh\ntouch '${flag}'\n`);
    chmodSync(path.join(bare, 'hooks', hook), 0o755);
  }
  const config = path.join(bare, 'config');
  const before = readFileSync(config, 'utf8');
  writeFileSync(
    config,
    `${before}[diff]\n\texternal = touch ${flag}\n[diff "evil"]\n\ttextconv = touch ${flag}\n\tcommand = touch ${flag}\n[core]\n\tpager = touch ${flag}\n\tfsmonitor = touch ${flag}\n\tsshCommand = touch ${flag}\n[uploadpack]\n\tpackObjectsHook = touch ${flag}\n`,
  );
  await alice.post(`${B}/branches`, { name: 'made-last', from: 'main' });
  t.ok((await web.modules.git.refs.list(bare)).has('refs/heads/made-last'), 'a ref was moved');
  await runGit(['clone', '--quiet', `${web.origin}/git/alice/kiln.git`, 'clone'], { cwd: folder });
  for (const page of [
    `commit/${tip}`,
    `commit/${tip}.patch`,
    `commit/${tip}.diff`,
    'commits/main/a.txt',
    'blame/main/a.txt',
    'compare/main...made-last',
    'search?q=one',
  ])
    t.equal((await alice.get(`${B}/${page}`)).status, 200, page);
  t.notOk(existsSync(flag), 'no program ran');
});

t.test('security J02, I07 parameters of lists are never part of an SQL statement', async (t) => {
  const bob = await signedIn(web, 'bob');
  await bob.post('/repos', { name: 'hidden-canary', visibility: 'PRIVATE' });
  const values = [
    "' OR 1=1 --",
    "a'); DROP TABLE users; --",
    '" OR ""="',
    '%',
    'updated_at DESC, 1',
    '__proto__',
    '99999999999999999999',
    '-1',
    '\0',
    'x'.repeat(300),
  ];
  const queries = [
    '/explore?sort=',
    '/explore?page=',
    '/explore/people?page=',
    '/explore/organisations?sort=',
    '/search?q=',
    '/search?q=a&page=',
    '/search/code?q=',
    '/?q=',
    '/?page=',
    '/users/alice?page=',
    '/settings/repositories?page=',
    '/api/v1/search?q=',
    '/api/v1/repos?page=',
    '/api/v1/repos?sort=',
  ];
  for (const query of queries) {
    const targets = values.map((value) => query + encodeURIComponent(value));
    for (const target of [...targets, `${query}a&${query.split(/[?&]/).at(-1)}b`]) {
      const { status, body } = await alice.get(target);
      if (status >= 500) t.fail(`${status} ${target}`);
      if (body.includes('hidden-canary')) t.fail(`${target} shows what is hidden`);
    }
  }
  t.equal((await bob.get('/repos/bob/hidden-canary')).status, 200, 'all rows are there');
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});
