import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { clientEnvironment, gitSync, openGit } from './git-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const contents: Readonly<Record<string, string>> = {
  '.gitattributes': '*.txt export-subst\n[[]odd export-subst\n"two words" export-subst\n',
  'one.txt': '$Format:%H %h %T %t%n%P|%p|%an|%ae|%ad|%aI|%cn|%ce|%cd|%cI|%ct|%at|%s|%%$\n',
  'twice.txt': 'a $Format:%H$ b $Format:%s$ c\n',
  'plain.txt': '$Format:no placeholder$ and $Format$\n',
  'refs.txt': '$Format:%D|%d$\n',
  'describe.txt': '$Format:%(describe:tags=true,match=v*)$\n',
  'folder/.gitattributes': '*.md export-subst\n',
  'folder/deep.md': '$Format:%H$\n',
  'binary.txt': '\0$Format:%h$\0',
  'unmarked.md': '$Format:%H$\n',
};

/** Strings that git would expand and that stay as they are, each in a file of its own. */
const kept: Readonly<Record<string, string>> = {
  'notes.txt': '$Format:%N$\n',
  'verifies.txt': '$Format:%G?$\n',
  'pads.txt': '$Format:%<(9)%h$\n',
  'body.txt': '$Format:%B$\n',
  'relative.txt': '$Format:%ar$\n',
  'wide.txt': '$Format:%w(99)%h$\n',
  'mixed.txt': '$Format:%H$ $Format:%N$\n',
  'lines.txt': '$Format:%H\n%N$\n',
  'inside.txt': '$Format:$Format:%N$\n',
  'options.txt': '$Format:%(describe:match=*a*b*)$\n',
  'trailers.txt': '$Format:%(trailers)$\n',
  '[odd': '$Format:%N$\n',
  'two words': '$Format:%N$\n',
};

t.test('archives expand export-subst in files whose placeholders are facts of the commit', async (t) => {
  const { git, folder, newRepository } = await openGit(t);
  const repository = await newRepository();
  const work = path.join(folder, 'work');
  gitSync(['init', '--quiet', '--initial-branch=main', work]);
  const commit = (files: Readonly<Record<string, string>>): string => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
      writeFileSync(path.join(work, name), text);
    }
    gitSync(['add', '.'], { cwd: work });
    gitSync(['commit', '--quiet', '--message=Add files\n\nA body.'], { cwd: work });
    return gitSync(['rev-parse', 'HEAD'], { cwd: work });
  };
  commit({ first: 'one\n' });
  gitSync(['tag', 'v1'], { cwd: work });
  const oid = commit({ ...contents, ...kept });
  const push = (...refs: string[]) => gitSync(['push', '--quiet', repository, ...refs], { cwd: work });
  push('HEAD:refs/heads/main', 'v1', 'HEAD:refs/pull/1/head');

  const unpack = async (format: 'tar.gz' | 'zip' | 'tar', of = oid): Promise<Record<string, string>> => {
    const request = { oid: of, prefix: 'x' };
    const stream =
      format === 'tar'
        ? await git.queries.archiveAsTar(repository, request)
        : await git.queries.archive(repository, { ...request, format });
    const bytes = Buffer.concat(await stream.toArray());
    const archive = path.join(folder, `a.${format}`);
    writeFileSync(archive, bytes);
    const read = (name: string) =>
      (format === 'zip'
        ? execFileSync('unzip', ['-p', archive, `x/${name.replaceAll('[', '\\[')}`])
        : execFileSync('tar', ['-xOf', archive, '--no-wildcards', `x/${name}`])
      ).toString('latin1');
    return Object.fromEntries(Object.keys({ ...contents, ...kept }).map((name) => [name, read(name)]));
  };
  const plain = (name: string): string =>
    execFileSync('sh', ['-c', `git archive HEAD "$1" | tar -xOf - "$1"`, 'sh', name], {
      cwd: work,
      env: clientEnvironment,
    }).toString('latin1');
  const expected = Object.fromEntries(Object.keys(contents).map((name) => [name, plain(name)]));
  t.match(expected['describe.txt'], /^v1-1-g[0-9a-f]{7}\n$/, 'the client expands');
  t.match(expected['one.txt'], oid);
  t.equal(expected['unmarked.md'], contents['unmarked.md']);

  for (const format of ['tar', 'tar.gz', 'zip'] as const)
    t.same(await unpack(format), { ...expected, ...kept }, format);

  gitSync(['tag', 'v2'], { cwd: work });
  push('v2');
  await waitUntil(async () => (await unpack('zip'))['describe.txt'] === 'v2\n', 'a new tag in the next archive');
  t.equal((await unpack('tar.gz'))['refs.txt'], plain('refs.txt'), 'refs of pull requests are not named');
  await waitUntil(() => readdirSync(path.join(repository, 'objects')).every((name) => !name.startsWith('tmp_')));

  const bare = commit({ '.gitattributes': '* -diff\n' });
  push('HEAD:refs/heads/main');
  t.same((await unpack('tar', bare))['one.txt'], contents['one.txt'], 'files that do not ask stay');
  const many = commit({ '.gitattributes': contents['.gitattributes']!, 'one.txt': '$Format:%h$\n'.repeat(300) });
  push('HEAD:refs/heads/main');
  t.equal((await unpack('tar', many))['one.txt'], '$Format:%h$\n'.repeat(300), 'above the limit of placeholders');
});
