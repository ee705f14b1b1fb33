// Go modules from the tags of repositories: the sums are those that go 1.26.8 has with GOPROXY=direct for the same
// commits, whose ids are the same at every run; the answers are those that it finds in a clone.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { openZipEntry, readZipDirectory } from '../../src/files/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { host, module, pushModules } from './go-repositories.ts';
import { basic, startPackageServer } from './package-server.ts';
import type { Answer } from './package-server.ts';

const server = await startPackageServer(t, { SERVICE_BASE_URL: `http://${host}` });
const { tokens, send } = server;
await pushModules(server);

/** As the go command writes upper case. */
const escaped = (text: string): string => text.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);
const at = (path: string, rest: string): string => `/packages/alice/go/${escaped(`${module}/${path}/${rest}`)}`;
const ask = (path: string, rest: string, auth?: string): Promise<Answer> => send('GET', at(path, rest), { auth });

const sumOf = (files: ReadonlyMap<string, Buffer>): string => {
  const lines = [...files.keys()]
    .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map((name) => `${createHash('sha256').update(files.get(name)!).digest('hex')}  ${name}\n`);
  return createHash('sha256').update(lines.join('')).digest('base64');
};

async function unzip(zip: Buffer): Promise<Map<string, Buffer>> {
  const read = async (from: number, bytes: number) => Readable.from([zip.subarray(from, from + bytes)]);
  const limits = { maxDirectoryBytes: 1_000_000, maxEntries: 1000 };
  const { entries } = await readZipDirectory(zip.length, read, limits);
  const files = new Map<string, Buffer>();
  for (const entry of entries) files.set(entry.path, await buffer(await openZipEntry(entry, read)));
  return files;
}

/** Path below `git.example.org/alice/`, version, sum of the archive, sum of `go.mod`. */
const sums: readonly (readonly [path: string, version: string, zip: string, goMod: string])[] = [
  ['lib', 'v0.1.0', 'X9eBfn11utyWuOtXBjctwIMXKVZakKaP6ufaU+7L8eI=', 'pfBasx1GiO9cSLDAwA4W8+YFF9gHwbIjvy50uIsLOpE='],
  ['lib', 'v1.0.0', 'nJbPBMuEQUByMthSwjeMGyyF+OGnUyanAFqQlkbytJg=', 'DfFcMKtzyl1git3Tel/qKS1odfal88XQh93k9zDkCMY='],
  ['lib', 'v1.2.0', 'MVQzGxJhhDeLG/qUgh4rFRQEAT7q933J5KquE4dZu2Y=', 'riLVb9mkVMy2xOOZhrbKC1C45qg7Z/CRzEfz8izkxxw='],
  [
    'lib',
    'v1.2.0-rc.1',
    'HOR4W6Ljswius5JdQr/vaeKbAtt/86dH1CiAw9bNZH8=',
    'riLVb9mkVMy2xOOZhrbKC1C45qg7Z/CRzEfz8izkxxw=',
  ],
  ['lib', 'v1.9.0', '303SPeSyfX66oLpCq+IU7hQz8ZAin9ACPvWJvocykgY=', 'uT5Quo625S7BEMOWjofYqQEgNZXulPoIFn6bZmbQAWY='],
  [
    'lib',
    'v1.2.1-0.20200919122640-c04ba99b9b74',
    '9MWhvQ0Jx2Or3R+MNQ62S3t+D9cMYCv+qaW+g29FoWQ=',
    'DfFcMKtzyl1git3Tel/qKS1odfal88XQh93k9zDkCMY=',
  ],
  [
    'lib',
    'v1.2.1-0.20200918122640-18b18988e60b',
    'JPwLAVqexO5xT33S7CsUXzJIvGmHpGylEQGGJTtsWo8=',
    'DfFcMKtzyl1git3Tel/qKS1odfal88XQh93k9zDkCMY=',
  ],
  ['old', 'v1.0.0', 'RvIlZWEHyMs+PLsFjjH4Xtst5CMRnomlDN16gWA27/8=', 'PTygv3rMKtCuin4rImdrS6fc7Me+Kvn1MKT4nO89lQ4='],
  [
    'old',
    'v2.0.0+incompatible',
    '0qT9e7T9UCabDxL3jQqXFhYJBrRfqXuWjsW6wOE9JP0=',
    'PTygv3rMKtCuin4rImdrS6fc7Me+Kvn1MKT4nO89lQ4=',
  ],
  [
    'old',
    'v2.1.0+incompatible',
    'C8qEUXvWEbpBxhvmu4Jgj/XR3XlOtPsu9WWJgGjqGVs=',
    'PTygv3rMKtCuin4rImdrS6fc7Me+Kvn1MKT4nO89lQ4=',
  ],
  [
    'old',
    'v3.0.1-0.20200916122640-8e2944a59e7a+incompatible',
    'z9dEsQMYKYagmnQeyo1F/myv8YcV7I4vke7ZuGH5MjM=',
    'PTygv3rMKtCuin4rImdrS6fc7Me+Kvn1MKT4nO89lQ4=',
  ],
  [
    'lib/sub/v2',
    'v2.0.0',
    'lFmIq79N2Qq5+X9DfsYjQooWpjzUwRC2M5AUyLxsf1U=',
    'rB9bjLTsbcZ2AKDVvpU6/QZ61uJfmyVTVh6edEsn5j8=',
  ],
  ['lib/v2', 'v2.0.0', 'm0H6KFiyefo+5yfCbGep9JYku5d/s27Z4yqZ9kKG4xU=', 'EDeHIw/bEcKKv1T+na86t32/+C2ggHs/xONraI8MnBI='],
  [
    'lib/v2',
    'v2.1.0-beta',
    'AfzOuTaDW8PwE0zKEBXODWnU+x1yJ96lZYUQZiIvvBE=',
    'EDeHIw/bEcKKv1T+na86t32/+C2ggHs/xONraI8MnBI=',
  ],
  ['lib/v3', 'v3.0.0', 'oXH8AxTYfPo+hTSlY6NVYs0Wgrby2axQ/9EHletHiTs=', 'dNLnqQlIyEVojyX1lSPw8Acq1VVuv+3f3srYYFFilds='],
  ['lib/sub', 'v0.1.0', 'yqNVJJ1oxLMRvXMivSI7xSTl0aoc3AUJY0GEJk76EwA=', 'TjG1cHx4/XfMx7D/b60TZiBx+FKyerPacFKTCkAl1uY='],
  ['lib/sub', 'v1.0.0', 'anZlEblTW+55fTyjKKFl5xFQ9OFAfYdkFejpFHWVIUw=', 'TjG1cHx4/XfMx7D/b60TZiBx+FKyerPacFKTCkAl1uY='],
  [
    'lib/sub',
    'v1.0.1-0.20200919122640-c04ba99b9b74',
    'wfaJTs7JiiPHQMajf8MfsrclOm2EHC/wM0oMdN1nZYI=',
    'TjG1cHx4/XfMx7D/b60TZiBx+FKyerPacFKTCkAl1uY=',
  ],
  [
    'lib/sub',
    'v1.0.1-0.20200917122640-10f928bb8400',
    'Ra60BrdTcVTIfpy/qF/AFgmE4D9T+nxDk++EcpoNQC8=',
    'TjG1cHx4/XfMx7D/b60TZiBx+FKyerPacFKTCkAl1uY=',
  ],
  [
    'lib/sub',
    'v1.0.1-0.20200918122640-18b18988e60b',
    'dGozW+zj5BhhsrfEsb88L9G3fiH2NIvWGr5++iyTJfY=',
    'TjG1cHx4/XfMx7D/b60TZiBx+FKyerPacFKTCkAl1uY=',
  ],
  ['lib/own', 'v1.0.0', 'RbPRlcYagsi0s2S13Z2oVwTxUHTg2VK67SNHVyxELTY=', '2y5VH6+rx7F/SxPStYvyr0mglAHL7OxnCbBpttYLYP4='],
  [
    'lib/own',
    'v1.0.1-0.20200919122640-c04ba99b9b74',
    '9ehRe09T9B7xm8tk/QLvknDmR+lZaTaXO7yEbt/4zsE=',
    '2y5VH6+rx7F/SxPStYvyr0mglAHL7OxnCbBpttYLYP4=',
  ],
  [
    'lib/own',
    'v1.0.1-0.20200917122640-10f928bb8400',
    'Vir3AFgaZGIy4VpyRQeg3Mwm2y62lI+Y4yXOr6ITg1o=',
    '2y5VH6+rx7F/SxPStYvyr0mglAHL7OxnCbBpttYLYP4=',
  ],
  [
    'lib/own',
    'v1.0.1-0.20200918122640-18b18988e60b',
    'NFkGCDZF3DVvoYyPqU+kD6TqtofvTDUvzXBNuU8xDqk=',
    '2y5VH6+rx7F/SxPStYvyr0mglAHL7OxnCbBpttYLYP4=',
  ],
  ['old/v3', 'v3.0.0', 'cDkXYkKwNewc1DYRrklK450+wAnxjs/Ob5cP5K0IIlg=', 'Ru3OWcpYq/iZqhPmB4z6b0Z6tcCmmig7rH9SATmbaWE='],
  ['Upper', 'v1.0.0', 'Vu41JC4Op57UO8QWHEUv/ygK4zPNxQRP9YE1LROlbfA=', 'IsyPXUXIiE6aCOQMB+aoMNUCZynVVnwPBVBbY21qD30='],
  [
    'Upper',
    'v1.1.0-RC1',
    'dhyBFRQt2gS3ImD5OM+avjVLsHul89NsGI/EVev8EeQ=',
    'IsyPXUXIiE6aCOQMB+aoMNUCZynVVnwPBVBbY21qD30=',
  ],
  ['v2', 'v2.0.0', '67TRxXSpbb4EMZopAXVdq+i982vUCFiaav+XIo/tMzw=', 'Q3+Avvxriq1bkGGquwXXRNwrCITrYwmTF2M+4r9dsnE='],
];

t.test('archives and go.mod have the sums that a clone has', async (t) => {
  for (const [path, version, zipSum, goModSum] of sums) {
    const info = await ask(path, `@v/${version}.info`);
    t.match([info.status, info.json?.Version], [200, version], `${path}@${version}`);
    const zip = await ask(path, `@v/${version}.zip`);
    t.equal(sumOf(await unzip(zip.bytes)), zipSum, `${path}@${version}: archive`);
    const goMod = await ask(path, `@v/${version}.mod`);
    t.equal(sumOf(new Map([['go.mod', goMod.bytes]])), goModSum, `${path}@${version}: go.mod`);
  }
  const [path, version, zipSum] = sums[0]!;
  const again = await ask(path, `@v/${version}.zip`);
  t.equal(sumOf(await unzip(again.bytes)), zipSum, 'kept and sent again');
  t.match(
    [again.headers.get('content-type'), (await ask(path, `@v/${version}.info`)).headers.get('content-type')],
    ['application/zip', /^application\/json/],
  );
});

t.test('lists have the versions of tags, lowest first', async (t) => {
  const lists: Readonly<Record<string, string>> = {
    lib: 'v0.1.0 v1.0.0 v1.2.0-rc.1 v1.2.0-rc.2 v1.2.0-rc.10 v1.2.0 v1.3.0 v1.9.0',
    'lib/v2': 'v2.0.0 v2.1.0-beta',
    'lib/v3': 'v3.0.0',
    'lib/v4': '',
    'lib/sub': 'v0.1.0 v1.0.0',
    'lib/sub/v2': 'v2.0.0',
    'lib/nothing': '',
    old: 'v1.0.0 v2.0.0+incompatible v2.1.0+incompatible',
    v2: 'v2.0.0',
    Upper: 'v1.0.0 v1.1.0-RC1',
  };
  for (const [path, versions] of Object.entries(lists)) {
    const answer = await ask(path, '@v/list');
    t.strictSame([answer.status, answer.text.trim().replaceAll('\n', ' ')], [200, versions], path);
  }
});

t.test('branches, commits and other tags lead to the version that go makes of them', async (t) => {
  const queries: readonly (readonly [path: string, query: string, version: string])[] = [
    ['lib', '@latest', 'v1.2.0'],
    ['lib/sub', '@latest', 'v1.0.0'],
    ['lib/v2', '@latest', 'v2.0.0'],
    ['Upper', '@latest', 'v1.0.0'],
    ['old', '@latest', 'v2.1.0+incompatible'],
    ['lib', '@v/main.info', 'v1.2.1-0.20200919122640-c04ba99b9b74'],
    ['lib', '@v/c04ba99b9b74.info', 'v1.2.1-0.20200919122640-c04ba99b9b74'],
    ['lib', '@v/c04ba99.info', 'v1.2.1-0.20200919122640-c04ba99b9b74'],
    ['lib', '@v/HEAD.info', 'v1.2.1-0.20200919122640-c04ba99b9b74'],
    ['lib', '@v/nightly.info', 'v1.0.0'],
    ['lib', '@v/v1.info', 'v1.0.0'],
    ['lib', '@v/v1.0.1+meta.info', 'v1.0.0'],
    ['lib/sub', '@v/nightly.info', 'v0.1.0'],
    ['lib/v2', '@v/two.info', 'v2.1.0-beta'],
    ['old', '@v/v2.0.0.info', 'v2.0.0+incompatible'],
    ['old', '@v/late.info', 'v3.0.1-0.20200916122640-8e2944a59e7a+incompatible'],
    ['old/v3', '@v/main.info', 'v3.0.0'],
  ];
  for (const [path, query, version] of queries) {
    const answer = await ask(path, query);
    t.strictSame([answer.status, answer.json?.Version], [200, version], `${path} ${query}`);
  }
  const { json } = await ask('lib/sub', '@v/v0.1.0.info');
  t.match(json, { Time: '2020-09-14T12:26:40Z', Origin: { VCS: 'git', Subdir: 'sub', Hash: /^[0-9a-f]{40}$/ } });
  t.equal(json.Origin.URL, `http://${host}/git/alice/lib.git`);
});

t.test('what is no version of a module is absent, and says why', async (t) => {
  const refused: readonly (readonly [path: string, query: string, words: RegExp])[] = [
    ['lib', '@v/v9.9.9.info', /no version, branch, tag or commit v9\.9\.9/],
    ['lib', '@v/v2.0.0.info', /go\.mod/],
    ['lib', '@v/v3.0.0.info', /has to end in \/v3/],
    ['lib', '@v/v3.0.0+incompatible.info', /has to end in \/v3/],
    ['lib', '@v/v1.0.0+incompatible.info', /takes no \+incompatible/],
    ['lib/v2', '@v/v1.0.0.info', /go\.mod/],
    ['lib/linked', '@v/main.info', /go\.mod/],
    ['lib/nothing', '@latest', /no file nothing\/go\.mod/],
    ['old', '@v/v3.0.0.info', /go\.mod/],
    ['bad', '@v/v1.0.2.info', /declares the path/],
    ['bad', '@v/v1.0.4.mod', /declares the path ""/],
    ['bad', '@v/v1.0.0.zip', /differ by case/],
    ['bad', '@v/v1.0.1.zip', /name of the file "a:b\.go"/],
    ['bad', '@v/v1.0.3.zip', /lower case/],
    ['lib', '@v/v1.2.1-0.20200919122640-c04ba99b9b75.info', /no version/],
    ['lib', '@v/v1.2.1-0.20200919122641-c04ba99b9b74.info', /was made at 20200919122640/],
    ['lib', '@v/v1.2.1-0.20200919122640-c04ba99.info', /is written c04ba99b9b74/],
    ['lib', '@v/v7.2.1-0.20200919122640-c04ba99b9b74.info', /no tag of v7\.2\.0/],
    ['lib', '@v/v1.0.0-20200919122640-c04ba99b9b74.info', /begins with v0/],
    ['lib', '@v/main.mod', /no such package/],
    ['lib', '@v/v1.zip', /no such package/],
    ['lib', '@v/v1.0.0.exe', /no such package/],
    ['lib', '@v/v1.0.0', /no such package/],
    ['lib', '@v/a/b.info', /no such package/],
    ['lib', '@latest/x', /no such package/],
    ['lib/../lib', '@v/list', /no such package/],
    ['lib/v1', '@v/list', /no such package/],
    ['lib//sub', '@v/list', /no such package/],
    [`lib/${'x'.repeat(2000)}`, '@v/list', /no such package/],
  ];
  for (const [path, query, words] of refused) {
    const answer = await ask(path, query);
    t.match([answer.status, answer.text], [404, words], `${path} ${query}`);
  }
  const elsewhere = [
    `/packages/alice/go/${module}/Lib/@v/list`,
    `/packages/alice/go/${module}/!Lib/@v/list`,
    '/packages/alice/go/example.org/alice/lib/@v/list',
    `/packages/alice/go/${host}/bob/lib/@v/list`,
    `/packages/bob/go/${module}/lib/@v/list`,
    `/packages/nobody/go/${module}/lib/@v/list`,
    `/packages/alice/go/${host}/alice/@v/list`,
    `/packages/alice/go/${host}/@v/list`,
    '/packages/alice/go/@v/list',
    `/packages/alice/go/${module}/lib`,
    '/packages/alice/go/sumdb/sum.golang.org/supported',
  ];
  for (const path of elsewhere) t.equal((await send('GET', path)).status, 404, path);
  t.equal((await send('PUT', '/packages/alice/go/upload', { auth: basic(tokens.alice), body: 'x' })).status, 405);
});

t.test('who may read the code reads the modules; a private one is as an absent one', async (t) => {
  const readers: readonly (readonly [name: string, secret: string | undefined, status: number])[] = [
    ['anonymous', undefined, 404],
    ['a foreign person', tokens.bob, 404],
    ['the owner', tokens.alice, 200],
    ['the owner, reading only', tokens.aliceReads, 200],
    ['a token limited to the repository', tokens.limitedIn, 200],
    ['a token limited to another one', tokens.limitedOut, 404],
    // What is read is code, which these open nowhere.
    ['a token for packages', tokens.packagesWrite, 401],
    ['a token for reading packages', tokens.packagesRead, 401],
    ['no token', 'hth_wrong', 401],
  ];
  for (const [name, secret, status] of readers) {
    const auth = secret === undefined ? undefined : basic(secret);
    for (const rest of ['@v/list', '@latest', '@v/v1.0.0.info', '@v/v1.0.0.mod', '@v/v1.0.0.zip']) {
      const [closed, absent] = [await ask('closed', rest, auth), await ask('absent', rest, auth)];
      t.equal(closed.status, status, `${name}: ${rest}`);
      if (status !== 200)
        t.strictSame(
          [closed.text, closed.headers.get('content-type')],
          [absent.text, absent.headers.get('content-type')],
        );
    }
    if (status !== 401) t.equal((await ask('lib', '@v/list', auth)).status, 200, `${name}: a public one`);
  }
});

t.test('a tag that is pushed is a version at once, and one that is deleted is none', async (t) => {
  const push = (what: string) =>
    runGit(['push', '-q', server.url('lib', tokens.alice), what], { cwd: `${server.folder}/lib` });
  await push('refs/heads/main:refs/tags/v1.5.0');
  t.match((await ask('lib', '@v/list')).text, /^v1\.5\.0$/m);
  t.equal((await ask('lib', '@v/main.info')).json.Version, 'v1.5.0');
  await push(':refs/tags/v1.5.0');
  t.notMatch((await ask('lib', '@v/list')).text, /^v1\.5\.0$/m);
  t.equal((await ask('lib', '@v/v1.5.0.zip')).status, 404);
});
