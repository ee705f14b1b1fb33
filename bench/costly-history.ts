// What costs most to answer: a history with long, wide and many things, and the addresses of the API, the pages and git
// that show them. `bench/costly-answers.ts` and `test/http/costly-answers.test.ts` ask for them.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

interface CostlyHistory {
  /** Commit ids: the last one changes three thousand files. */
  old: string;
  now: string;
  /** Id of a file of 8 MB. */
  blob: string;
}

const api = '/api/v1/repos/alice/bench';
const pages = '/repos/alice/bench';

/** `N` becomes a number of its own at each request: no cache has the answer. */
export const costlyAddresses = ({ old, now, blob }: CostlyHistory): [what: string, address: string][] => [
  ['API: blame of 200,000 lines', `${api}/blame?path=long.txt&limit=50&x=N`],
  ['API: tree of 60,000 files', `${api}/git/trees/main?recursive=true&per_page=10000&x=N`],
  ['API: folder of 20,000 files', `${api}/contents/wide?x=N`],
  ['API: compare, 3,000 files', `${api}/compare/${old}...${now}?x=N`],
  ['API: commit of 3,000 files', `${api}/git/commits/${now}?x=N`],
  ['API: 50 commits with files', `${api}/commits?limit=50&files=true&stat=true&x=N`],
  ['API: history of one file', `${api}/commits?limit=50&path=long.txt&x=N`],
  ['API: 10,000 branches', `${api}/branches?limit=50&page=100&x=N`],
  ['API: 10,000 tags', `${api}/tags?limit=50&page=100&x=N`],
  ['API: 20,000 refs', `${api}/git/refs?x=N`],
  ['API: blob of 8 MB', `${api}/git/blobs/${blob}?x=N`],
  ['API: file of 8 MB', `${api}/contents/large.js?x=N`],
  ['API: raw file of 8 MB', `${api}/raw/large.js?x=N`],
  ['API: archive', `${api}/archive/main.tar.gz?x=N`],
  ['API: languages', `${api}/languages?x=N`],
  ['API: search for repositories', '/api/v1/repos/search?q=e&limit=50&x=N'],
  ['API: search in everything', '/api/v1/search?q=eN'],
  ['API: its document', '/api/v1/openapi.json?x=N'],
  ['page: the document of the API', '/api/v1?x=N'],
  ['page: blame of 200,000 lines', `${pages}/blame/main/long.txt?x=N`],
  ['page: blame of 20,000 lines', `${pages}/blame/main/middle.txt?x=N`],
  ['page: folder of 20,000 files', `${pages}/tree/main/wide?x=N`],
  ['page: find among 60,000 files', `${pages}/find/main?q=fileN`],
  ['page: commit of 3,000 files', `${pages}/commit/${now}?x=N`],
  ['page: compare, 3,000 files', `${pages}/compare/${old}...${now}?x=N`],
  ['page: history of a folder', `${pages}/commits/main/wide?x=N`],
  ['page: source of 8 MB', `${pages}/blob/main/large.js?x=N`],
  ['page: source of 1 MB', `${pages}/blob/main/medium.js?x=N`],
  ['page: notebook', `${pages}/blob/main/tasks.ipynb?x=N`],
  ['page: table of 2 MB', `${pages}/blob/main/table.csv?x=N`],
  ['page: Markdown of 500 kB', `${pages}/blob/main/long.md?x=N`],
  ['page: 10,000 branches', `${pages}/branches?x=N`],
  ['page: 10,000 tags', `${pages}/tags?x=N`],
  ['feed: tags', `${pages}/tags.atom?x=N`],
  ['page: search in code', `${pages}/search?q=valueN`],
  ['page: search in all code', '/search/code?q=valueN'],
  ['page: search', '/search?q=eN'],
  ['page: raw file of 8 MB', `${pages}/raw/main/large.js?x=N`],
  ['page: archive', `${pages}/archive/main.zip?x=N`],
  ['git: 20,000 refs', '/git/alice/bench.git/info/refs?service=git-upload-pack&x=N'],
];

/** Fills an empty repository. @param scale of all lengths; 1 as the titles of the addresses say */
export async function fillCostly(repository: string, scale = 1): Promise<CostlyHistory> {
  const many = (count: number): number => Math.ceil(count * scale);
  const importer = spawn('git', ['-C', repository, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const write = async (text: string): Promise<void> => {
    if (!importer.stdin.write(text)) await once(importer.stdin, 'drain');
  };
  const file = (name: string, text: string): string =>
    `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  let clock = 1_700_000_000;
  const begin = (message: string): string =>
    `commit refs/heads/main\ncommitter Alice <alice@example.org> ${(clock += 60)} +0000\ndata ${message.length}\n${message}\n`;
  const code = (lines: number): string =>
    Array.from(
      { length: lines },
      (_, line) => `const value${line} = compute(${line}, 'text ${line * 7}'); // note\n`,
    ).join('');

  await write(begin('Begin'));
  await write(file('large.js', code(many(140_000))));
  await write(file('medium.js', code(many(18_000))));
  await write(
    file(
      'tasks.ipynb',
      JSON.stringify({
        nbformat: 4,
        nbformat_minor: 5,
        metadata: {},
        cells: Array.from({ length: many(2_000) }, () => ({ cell_type: 'markdown', source: '- [ ] a\n'.repeat(100) })),
      }),
    ),
  );
  await write(file('table.csv', 'name,count,note\n'.concat('a name,17,"a note, quoted"\n'.repeat(many(70_000)))));
  await write(file('long.md', '# Part\n\n- a [link](https://example.org) and *words* #1\n\n'.repeat(many(8_000))));
  for (let at = 0; at < many(60_000); at += 1) {
    const name = at < many(20_000) ? `wide/file${at}.txt` : `deep/part${at % 200}/file${at}.txt`;
    await write(file(name, `file ${at % 500}\n`));
  }
  for (let round = 0; round < 7; round += 1) {
    await write(begin(`Change every seventh line, ${round}`));
    for (const [name, lines] of [
      ['long.txt', many(200_000)],
      ['middle.txt', many(20_000)],
    ] as const) {
      const changed = (line: number): number => (line % 7 <= round ? line % 7 : -1);
      await write(file(name, Array.from({ length: lines }, (_, line) => `line ${line} ${changed(line)}\n`).join('')));
    }
  }
  for (let round = 0; round < many(60); round += 1) {
    await write(begin(`Change fifty files, ${round}`));
    for (let at = 0; at < 50; at += 1) await write(file(`wide/file${round * 50 + at}.txt`, `changed ${round}\n`));
  }
  await write(begin('Change three thousand files'));
  for (let at = 0; at < many(3_000); at += 1) await write(file(`wide/file${at * 6}.txt`, `changed ${at}\nonce more\n`));
  importer.stdin.end();
  await once(importer, 'close');
  const git = (words: string[], input = ''): string =>
    execFileSync('git', ['-C', repository, ...words], { input, maxBuffer: 1e9 })
      .toString()
      .trim();
  const [now, old, blob] = ['main', 'main~1', 'main:large.js'].map((name) => git(['rev-parse', name])) as [
    string,
    string,
    string,
  ];
  const refs = Array.from({ length: many(10_000) }, (_, at) =>
    ['heads/topic-', 'tags/v0.'].map((kind) => `create refs/${kind}${at} ${at % 2 === 0 ? now : old}\n`).join(''),
  );
  git(['update-ref', '--stdin'], refs.join(''));
  git(['pack-refs', '--all']);
  git(['repack', '-adbq']);
  return { old, now, blob };
}
