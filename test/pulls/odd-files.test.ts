// Files of every odd kind in a pull request (collaboration §13): another mode, a symbolic link, a submodule, a path
// that is no UTF-8, NUL, CRLF, a line without its end. Each has its pages, takes a comment, and keeps it through a
// round.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { startRaceFixture } from './races-fixture.ts';

t.setTimeout(120_000);
const races = await startRaceFixture(t);
const { modules, alice, bob } = races;
const { pulls } = modules;
const who = 'committer Alice <alice@example.org> 1700000000 +0000';
const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

t.test('odd files have pages, comments and later rounds', async (t) => {
  const clone = await races.repository('odd');
  const fastImport = (stream: string): void => {
    execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: clone.folder, input: stream });
  };
  const content = (mode: string, path: string, text: string): string => `M ${mode} inline ${path}\n${data(text)}`;
  await clone.git('fetch', '--quiet', 'origin');
  const start = await clone.git('rev-parse', 'origin/main');
  const paths = ['run.sh', 'link', 'module', '"ill-\\377.txt"', 'nul.bin', 'crlf.txt', 'tail.txt'];
  fastImport(
    `commit refs/heads/main\n${who}\n${data('Begin')}from ${start}\n` +
      content('100644', 'run.sh', 'run\n') +
      content('100644', 'link', 'target\n') +
      content('100644', 'module', 'module\n') +
      content('100644', '"ill-\\377.txt"', 'one\ntwo\n') +
      content('100644', 'nul.bin', 'one\ntwo\n') +
      content('100644', 'crlf.txt', 'one\ntwo\n') +
      content('100644', 'tail.txt', 'one\ntwo'),
  );
  fastImport(
    `commit refs/heads/topic\n${who}\n${data('Make them odd')}from refs/heads/main^0\n` +
      content('100755', 'run.sh', 'run\n') +
      content('120000', 'link', 'run.sh') +
      `M 160000 ${start} module\n` +
      content('100644', '"ill-\\377.txt"', 'one\nTWO\n') +
      content('100644', 'nul.bin', 'one\0\ntwo\n') +
      content('100644', 'crlf.txt', 'one\r\ntwo\r\n') +
      content('100644', 'tail.txt', 'one\ntwo\n'),
  );
  t.equal((await clone.push('--quiet', '--force', 'origin', 'main', 'topic')).code, 0);
  await races.announced();
  const { issue } = await pulls.open(alice, { owner: 'alice', name: 'odd' }, { title: 'Odd', head: 'topic' });
  const at = { owner: 'alice', name: 'odd', number: issue.number };
  const origin = new URL(races.url('odd', undefined)).origin;
  const answers = async (): Promise<string[]> => {
    const wrong: string[] = [];
    const files = paths.map((path) => `/changes?file=${encodeURIComponent(path)}`);
    for (const page of ['', '/changes', '/changes?view=split', '/commits', '.diff', '.patch', ...files]) {
      const { status } = await fetch(`${origin}/repos/alice/odd/pulls/${at.number}${page}`);
      if (status >= 500) wrong.push(`${page}: ${status}`);
    }
    for (const call of ['/files', '.diff', '.patch', '/commits', '/reviews']) {
      const { status } = await fetch(`${origin}/api/v1/repos/alice/odd/pulls/${at.number}${call}`);
      if (status >= 500) wrong.push(`API ${call}: ${status}`);
    }
    return wrong;
  };
  t.same(await answers(), []);
  for (const path of paths)
    await t.resolves(pulls.reviews.addComment(bob, at, { round: 1, path, body: 'why?', sendNow: true }), path);
  const place = { round: 1, path: '"ill-\\377.txt"', firstLine: 2 };
  await pulls.reviews.addComment(bob, at, { ...place, side: 'NEW', body: 'here', sendNow: true });

  fastImport(
    `commit refs/heads/topic\n${who}\n${data('And back')}from refs/heads/topic^0\n` +
      content('100644', 'run.sh', 'run\n') +
      content('100644', 'link', 'a file again\n') +
      'D module\n' +
      content('100644', '"ill-\\377.txt"', 'zero\none\nTWO\n') +
      content('100644', 'nul.bin', 'one\ntwo\n') +
      content('100644', 'crlf.txt', 'one\ntwo\n') +
      'D tail.txt\n',
  );
  t.equal((await clone.push('--quiet', 'origin', 'topic')).code, 0);
  await races.announced();
  t.equal((await races.stateOf(at)).rounds, 2);
  const threads = await pulls.threads.list(bob, at);
  t.equal(threads.length, paths.length + 1, 'every thread is there');
  const stateOf = (path: string) => threads.filter((thread) => thread.path === path).map(({ place }) => place?.state);
  t.same(stateOf('module'), ['gone']);
  t.same(stateOf('tail.txt'), ['gone']);
  t.same(stateOf('"ill-\\377.txt"').sort(), ['moved', 'same']);
  t.same(await answers(), []);
});
