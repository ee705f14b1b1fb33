import t from 'tap';
import { measureCpuTime } from '../fixtures/thread-cpu.ts';
import { parseCommand } from '../../src/ssh/commands/parse-command.ts';

const site = (service: string) => ({ kind: 'git', service, owner: 'alice', name: 'site' });

t.test('the three services of git are parsed in every form that clients write', async (t) => {
  const lines: [string, unknown][] = [
    ["git-upload-pack '/alice/site.git'", site('upload-pack')],
    ["git-upload-pack 'alice/site.git'", site('upload-pack')],
    ["git-upload-pack '/alice/site'", site('upload-pack')],
    ["git-upload-pack 'alice/site/'", site('upload-pack')],
    ['git-upload-pack "/alice/site.git"', site('upload-pack')],
    ['git-upload-pack alice/site.git', site('upload-pack')],
    ['git-upload-pack ///alice/site.git', site('upload-pack')],
    ["git upload-pack '/alice/site.git'", site('upload-pack')],
    ["git-receive-pack '/alice/site.git'", site('receive-pack')],
    ["git receive-pack 'alice/site'", site('receive-pack')],
    ["git-upload-archive '/alice/site.git'", site('upload-archive')],
    ["git-upload-pack '/Alice/Site.GIT'", { ...site('upload-pack'), owner: 'Alice', name: 'Site' }],
    ["git-upload-pack '/a-b_c.d/x.y-z_0.git'", { ...site('upload-pack'), owner: 'a-b_c.d', name: 'x.y-z_0' }],
    ["git-upload-pack 'alice/site.git.git'", { ...site('upload-pack'), name: 'site.git' }],
  ];
  for (const [line, command] of lines) t.same(parseCommand(line), command, line);
});

t.test('a path that cannot name a repository is recognised, if it is no more than a path', async (t) => {
  const lines = [
    "git-upload-pack '/'",
    "git-upload-pack '/alice'",
    "git-upload-pack '/alice/'",
    "git-upload-pack '//site.git'",
    "git-upload-pack '/git/alice/site.git'",
    "git-upload-pack '/~alice/site.git'",
    "git-upload-pack '~/site.git'",
    "git-upload-pack '/alice/../site.git'",
    "git-upload-pack '../../etc/passwd'",
    "git-upload-pack '/alice//site.git'",
    "git-upload-pack '/alice/-site.git'",
    "git-upload-pack '/-alice/site.git'",
    "git-upload-pack '~/alice/site'",
    "git-receive-pack 'alice//site'",
    'git-upload-archive site',
    `git-upload-pack '/alice/${'x'.repeat(101)}'`,
  ];
  for (const line of lines) t.match(parseCommand(line), { kind: 'wrong path' }, line);
});

t.test('requests of git-lfs are parsed, by name and path as its versions write them', async (t) => {
  const lfsCommand = (operation: string, program = 'authenticate') => ({
    kind: 'lfs',
    program,
    operation,
    owner: 'alice',
    name: 'site',
  });
  const lines: [string, unknown][] = [
    ['git-lfs-authenticate alice/site.git download', lfsCommand('download')],
    ['git-lfs-authenticate /alice/site.git upload', lfsCommand('upload')],
    ["git-lfs-authenticate '/alice/site' upload", lfsCommand('upload')],
    [`git-lfs-authenticate alice/site download ${'a'.repeat(64)}`, lfsCommand('download')],
    ["git-lfs-transfer '/alice/site.git' upload", lfsCommand('upload', 'transfer')],
  ];
  for (const [line, command] of lines) t.strictSame(parseCommand(line), command, line);
});

t.test('security F04: anything else is no command', async (t) => {
  const lines = [
    '',
    ' ',
    'git',
    'git-upload-pack',
    "git-upload-pack ''",
    "git-upload-pack '--upload-pack=x/y'",
    "git-upload-pack --strict '/alice/site.git'",
    "git-upload-pack '/alice/site.git' extra",
    "git-upload-pack '/alice/site.git'; id",
    "git-upload-pack '/alice/site.git' && id",
    "git-upload-pack '/alice/site.git'\nid",
    "git-upload-pack '/alice/site.git\n'",
    "git-upload-pack '/alice/site.git'\n",
    "git-upload-pack '/alice/site\0.git'",
    "git-upload-pack '/alice/si te.git'",
    "git-upload-pack '/alice/$(id).git'",
    'git-upload-pack `id`/site',
    "git-upload-pack '/alice/s'\\''ite.git'",
    "git-upload-pack '/alice/site.git",
    'git-upload-pack "/alice/site.git\'',
    "git-upload-pack '/alicé/site.git'",
    `git-upload-pack '/alice/${'x'.repeat(5_000)}'`,
    "Git-Upload-Pack '/alice/site.git'",
    "git-upload-pack\t'/alice/site.git'",
    " git-upload-pack '/alice/site.git'",
    'git-shell -c id',
    "git-http-backend '/alice/site.git'",
    "git-upload-pack2 '/alice/site.git'",
    'sh',
    'id',
    '/bin/sh -i',
    'scp -t /tmp',
    'rsync --server . /',
    'git-lfs-authenticate alice/site',
    'git-lfs-authenticate alice/site delete',
    'git-lfs-authenticate alice/site upload x',
    "git-lfs-authenticate '$(id)/site' upload",
    'git-lfs-authenticate ../site upload',
    'git-lfs-transfer --help upload',
    'internal-sftp',
    'constructor',
    '__proto__ x',
    'hearth',
    'hearth serve',
    'help me',
    'whoami root',
    'repo',
    'repo delete alice/site',
    'repo list --owner bob',
    'repo info',
    'repo info site',
    'repo info alice/site extra',
    'repo info ../site',
    'repo create',
    'repo create --public',
    'repo create --template x site',
    'repo create one two',
    'repo create a/b/c',
  ];
  for (const line of lines) t.equal(parseCommand(line), null, JSON.stringify(line));
});

t.test('the commands besides git are parsed, with or without the name of the program', async (t) => {
  const lines: [string, unknown][] = [
    ['help', { kind: 'help' }],
    ['hearth help', { kind: 'help' }],
    ['whoami', { kind: 'whoami' }],
    ['hearth   whoami ', { kind: 'whoami' }],
    ['repo list', { kind: 'repo list', all: false }],
    ['repo list --all', { kind: 'repo list', all: true }],
    ['repo info alice/site', { kind: 'repo info', owner: 'alice', name: 'site' }],
    ['hearth repo info /alice/site.git', { kind: 'repo info', owner: 'alice', name: 'site' }],
    ['repo create site', { kind: 'repo create', name: 'site', visibility: 'PRIVATE', description: '' }],
    ['repo create --public site', { kind: 'repo create', name: 'site', visibility: 'PUBLIC', description: '' }],
    [
      'repo create workshop/site --public --description The site of --all of us',
      {
        kind: 'repo create',
        owner: 'workshop',
        name: 'site',
        visibility: 'PUBLIC',
        description: 'The site of --all of us',
      },
    ],
  ];
  for (const [line, command] of lines) t.same(parseCommand(line), command, line);
});

t.test('security I08: no line keeps the parser busy', async (t) => {
  const { cpuMs } = await measureCpuTime(() => {
    for (const chunk of ['/', "'", 'a.', '.git', ' ', 'a/', "git-upload-pack '"]) {
      parseCommand(`git-upload-pack '${chunk.repeat(100_000)}`);
      parseCommand(`git-upload-pack '${chunk.repeat(1_000 / chunk.length)}'`);
    }
  });
  t.ok(cpuMs < 1_000, `${cpuMs} ms`);
});
